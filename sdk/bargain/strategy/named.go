package strategy

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Entry is a strategy with the name that commands and records use.
type Entry struct {
	Name string
	// Summary describes it in one line, without a full stop.
	Summary string
	// HasOpening reports whether its offers depend on the opening price. Without, it begins at the best one.
	HasOpening bool
	Strategy   bargain.Strategy
}

// HasStep reports whether it concedes rank by rank, so that its offers on chain depend on a price step.
func (e Entry) HasStep() bool {
	b, ok := e.Strategy.(bargain.BOA)
	if !ok {
		return false
	}
	switch b.Bidding.(type) {
	case bidding.MiCRO, bidding.Conceding, bidding.Wasting:
		return true
	}
	return false
}

// List returns the named strategies in the order of their names.
func List() []Entry {
	return []Entry{
		{"ac-combi-avg", "Boulware; near the deadline accepts the average of the last offers", true, ACCombiAvg()},
		{"ac-combi-max", "Boulware; near the deadline accepts the best of the last offers", true, ACCombiMax()},
		{"ac-combi-prob", "Boulware; near the deadline accepts the expected utility of better offers", true,
			ACCombiProb()},
		{"ac-const", "Boulware; accepts four fifths of its range at any time", true, ACConst()},
		{"ac-time", "Boulware; accepts any rational offer in the last tenth of the time", true, ACTime()},
		{"averaged-tit-for-tat", "returns in percent the other side's last two steps together", false,
			AveragedTitForTat()},
		{"bayesian", "Boulware; picks by the scalable Bayesian model of the other side", true, Bayesian()},
		{"cab", "NegMAS: concedes rank by rank, accepts better rational offers", false, CAB()},
		{"can", "NegMAS: concedes rank by rank, accepts rational offers that are not worse", false, CAN()},
		{"car", "NegMAS: concedes rank by rank, accepts any rational offer", false, CAR()},
		{"faratin-exponential", "Faratin's exponential time-dependent tactic, k = 0.1 and e = 1", true,
			FaratinExponential(fixed.One/10, fixed.One)},
		{"genius-boulware", "GENIUS: concedes late, t^(1/e) with e = 0.2", true, GeniusBoulware()},
		{"genius-conceder", "GENIUS: concedes early, e = 2", true, GeniusConceder()},
		{"genius-linear", "GENIUS: concedes evenly, e = 1", true, GeniusLinear()},
		{"hardliner", "offers and accepts only its best outcome", false, Hardliner()},
		{"hybrid", "NegMAS: a Bezier curve over time, mixed with the other side's concessions", false, Hybrid()},
		{"linear", "concedes in equal steps from the opening to the reservation value", true, Linear()},
		{"micro", "concedes one rank for each new offer of the other side", false, MiCRO()},
		{"mixture", "the mean of the linear and the relative tit-for-tat tactic", true, Mixture()},
		{"nash-frequency", "Boulware; picks by the frequency model of the agent Nash", true, NashFrequency()},
		{"negmas-boulware", "NegMAS: aspiration 1 - t^4", true, NegmasBoulware()},
		{"negmas-conceder", "NegMAS: aspiration 1 - t^0.25", true, NegmasConceder()},
		{"negmas-linear", "NegMAS: aspiration 1 - t", true, NegmasLinear()},
		{"negmas-tit-for-tat", "NegMAS: concedes as much of its range as the other side seems to", false,
			NegmasTitForTat()},
		{"nice-tit-for-tat", "goes as far towards the estimated Nash point as the other side", false,
			NiceTitForTat()},
		{"patience", "concedes as offers are made, with or without a deadline", true, Patience()},
		{"random", "random rational offers; accepts any that is as good as its next", false, Random()},
		{"random-absolute", "returns the other side's step, and a random part more or less", false,
			RandomAbsolute()},
		{"resource-dependent", "concedes as its steps run out, mostly in the last three", true,
			ResourceDependent()},
		{"smith", "Boulware; picks by AgentSmith's frequency model", true, Smith()},
		{"switch", "relative tit-for-tat, and Boulware in the last fifth of the time", true, Switch()},
		{"tit-for-tat", "returns the other side's last step in percent (Faratin's relative tactic)", false,
			TitForTat()},
		{"wab", "NegMAS: as cab, but offers irrational outcomes first", false, WAB()},
		{"wan", "NegMAS: as can, but offers irrational outcomes first", false, WAN()},
		{"war", "NegMAS: as car, but offers irrational outcomes first", false, WAR()},
	}
}

// Named returns the strategies by their names.
func Named() map[string]bargain.Strategy {
	named := map[string]bargain.Strategy{}
	for _, entry := range List() {
		named[entry.Name] = entry.Strategy
	}
	return named
}

// Names returns the names in their order.
func Names() (names []string) {
	for _, entry := range List() {
		names = append(names, entry.Name)
	}
	return names
}
