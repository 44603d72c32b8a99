package strategy

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/opponent"
)

// percent returns a decimal number.
func percent(n int64) fixed.Number { return fixed.Ratio(n, 100) }

// Parameters that several strategies share. A range ends where the strategy's name would be wrong: with e > 1
// GENIUS' Boulware would concede early.
var (
	geniusLate = Parameter{
		Name: "e", Summary: "exponent of t^(1/e): the smaller, the later", Default: curve.GeniusBoulware.E,
		Min: percent(1), Max: fixed.One,
	}
	geniusEarly = Parameter{
		Name: "e", Summary: "exponent of t^(1/e): the larger, the earlier", Default: curve.GeniusConceder.E,
		Min: fixed.One, Max: 100 * fixed.One,
	}
	geniusStart = Parameter{Name: "k", Summary: "part of the range conceded at the start", Max: fixed.One}
	resourceK   = Parameter{
		Name: "k", Summary: "part of the range conceded with all of the resource left", Default: percent(10),
		Max: fixed.One,
	}
	combiFrom = Parameter{
		Name: "from", Summary: "part of the time after which the last offers count", Default: percent(98),
		Min: percent(1), Max: fixed.One,
	}
)

// genius returns GENIUS' time dependent agent with the parameters for [curve.Polynomial].
func genius(v []fixed.Number) bargain.Strategy {
	return TimeDependent(curve.Polynomial{E: v[0], K: v[1]})
}

// negmas returns a time-based negotiator of NegMAS.
func negmas(v []fixed.Number) bargain.Strategy { return Aspiration(v[0]) }

// combi returns a constructor for an ACcombi strategy.
func combi(expectation acceptance.Expectation) func([]fixed.Number) bargain.Strategy {
	return func(v []fixed.Number) bargain.Strategy {
		return accepting(acceptance.Combi{Expectation: expectation, From: v[1]}, v[0])
	}
}

// modeled returns a constructor for a strategy with an opponent model.
func modeled(m bargain.Modeling) func([]fixed.Number) bargain.Strategy {
	return func(v []fixed.Number) bargain.Strategy { return modelling(m, v[0]) }
}

func init() {
	for _, entry := range []Entry{
		{Name: "ac-combi-avg", Summary: "Boulware; near the deadline accepts the average of the last offers",
			HasOpening: true, Parameters: []Parameter{geniusLate, combiFrom}, New: combi(acceptance.ExpectAvg)},
		{Name: "ac-combi-max", Summary: "Boulware; near the deadline accepts the best of the last offers",
			HasOpening: true, Parameters: []Parameter{geniusLate, combiFrom}, New: combi(acceptance.ExpectMax)},
		{Name: "ac-combi-prob", Summary: "Boulware; near the deadline accepts the expected utility of better offers",
			HasOpening: true, Parameters: []Parameter{geniusLate, combiFrom}, New: combi(acceptance.ExpectProb)},
		{Name: "ac-const", Summary: "Boulware; accepts a constant part of its range at any time",
			HasOpening: true, Parameters: []Parameter{geniusLate, {
				Name: "level", Summary: "least part of the range that it accepts", Default: percent(80),
				Min: percent(1), Max: fixed.One,
			}},
			New: func(v []fixed.Number) bargain.Strategy { return accepting(acceptance.Const{Level: v[1]}, v[0]) }},
		{Name: "ac-time", Summary: "Boulware; accepts any rational offer towards the end of the time",
			HasOpening: true, Parameters: []Parameter{geniusLate, {
				Name: "from", Summary: "part of the time after which it accepts", Default: percent(90), Max: fixed.One,
			}},
			New: func(v []fixed.Number) bargain.Strategy { return accepting(acceptance.Time{From: v[1]}, v[0]) }},
		{Name: "averaged-tit-for-tat", Summary: "returns in percent the other side's last steps together",
			Parameters: []Parameter{{
				Name: "window", Summary: "number of the steps", Default: 2 * fixed.One, Min: fixed.One, Max: 100 * fixed.One,
				IsWhole: true,
			}},
			New: func(v []fixed.Number) bargain.Strategy { return tactic(bidding.Averaged{Window: whole(v[0])}) }},
		{Name: "bayesian", Summary: "Boulware; picks by the scalable Bayesian model of the other side",
			HasOpening: true, Parameters: []Parameter{geniusLate}, New: modeled(opponent.Bayesian{})},
		{Name: "cab", Summary: "NegMAS: concedes rank by rank, accepts better rational offers", Strategy: CAB()},
		{Name: "can", Summary: "NegMAS: concedes rank by rank, accepts rational offers that are not worse", Strategy: CAN()},
		{Name: "car", Summary: "NegMAS: concedes rank by rank, accepts any rational offer", Strategy: CAR()},
		{Name: "faratin-exponential", Summary: "Faratin's exponential time-dependent tactic, k^((1-t)^e)",
			HasOpening: true, Parameters: []Parameter{
				{Name: "k", Summary: "part of the range conceded at the start", Default: percent(10),
					Min: fixed.One / 1_000, Max: fixed.One},
				{Name: "e", Summary: "exponent: the larger, the earlier", Default: fixed.One, Min: percent(1),
					Max: 100 * fixed.One},
			},
			New: func(v []fixed.Number) bargain.Strategy { return FaratinExponential(v[0], v[1]) }},
		{Name: "genius-boulware", Summary: "GENIUS: concedes late, t^(1/e)",
			HasOpening: true, Parameters: []Parameter{geniusLate, geniusStart}, New: genius},
		{Name: "genius-conceder", Summary: "GENIUS: concedes early, t^(1/e)",
			HasOpening: true, Parameters: []Parameter{geniusEarly, geniusStart}, New: genius},
		{Name: "genius-linear", Summary: "GENIUS: concedes evenly, e = 1", HasOpening: true,
			Parameters: []Parameter{geniusStart},
			New:        func(v []fixed.Number) bargain.Strategy { return TimeDependent(curve.Polynomial{E: fixed.One, K: v[0]}) }},
		{Name: "hardliner", Summary: "offers and accepts only its best outcome", Strategy: Hardliner()},
		{Name: "hybrid", Summary: "NegMAS: a Bezier curve over time, mixed with the other side's concessions",
			Parameters: []Parameter{
				{Name: "start", Summary: "utility at which the curve begins", Default: fixed.One, Min: percent(1),
					Max: fixed.One},
				{Name: "middle", Summary: "utility of the curve's control point", Default: percent(75), Min: percent(1),
					Max: fixed.One},
				{Name: "end", Summary: "utility at its end; 0: 0.8, or less in large domains", Max: fixed.One},
				{Name: "empathy", Summary: "weight of the other side's concessions", Default: percent(50),
					Min: percent(1), Max: fixed.Int(10)},
			},
			New: func(v []fixed.Number) bargain.Strategy {
				return tactic(bidding.Hybrid{Curve: curve.Bezier{Start: v[0], Middle: v[1], End: v[2]}, Empathy: v[3]})
			}},
		{Name: "linear", Summary: "concedes in equal steps from the opening to the reservation value",
			HasOpening: true, Strategy: Linear()},
		{Name: "micro", Summary: "concedes one rank for each new offer of the other side", Strategy: MiCRO()},
		{Name: "mixture", Summary: "the weighted mean of the linear and the relative tit-for-tat tactic",
			HasOpening: true, Parameters: []Parameter{
				{Name: "time", Summary: "weight of the linear tactic", Default: fixed.One, Max: 100 * fixed.One,
					Min: fixed.One, IsWhole: true},
				{Name: "behaviour", Summary: "weight of tit-for-tat", Default: fixed.One, Max: 100 * fixed.One,
					Min: fixed.One, IsWhole: true},
			},
			New: func(v []fixed.Number) bargain.Strategy { return mixture(uint32(whole(v[0])), uint32(whole(v[1]))) }},
		{Name: "nash-frequency", Summary: "Boulware; picks by the frequency model of the agent Nash",
			HasOpening: true, Parameters: []Parameter{geniusLate}, New: modeled(opponent.NashFrequency{})},
		{Name: "negmas-boulware", Aliases: []string{"boulware"}, Summary: "NegMAS: concedes late, aspiration 1 - t^e",
			HasOpening: true, Parameters: []Parameter{{
				Name: "e", Summary: "exponent of t^e: the larger, the later", Default: curve.NegmasBoulware.Exponent,
				Min: fixed.One, Max: 100 * fixed.One,
			}},
			New: negmas},
		{Name: "negmas-conceder", Aliases: []string{"conceder"}, Summary: "NegMAS: concedes early, aspiration 1 - t^e",
			HasOpening: true, Parameters: []Parameter{{
				Name: "e", Summary: "exponent of t^e: the smaller, the earlier", Default: curve.NegmasConceder.Exponent,
				Min: percent(1), Max: fixed.One,
			}},
			New: negmas},
		{Name: "negmas-linear", Summary: "NegMAS: aspiration 1 - t", HasOpening: true, Strategy: NegmasLinear()},
		{Name: "negmas-tit-for-tat", Aliases: []string{"tft"},
			Summary: "NegMAS: concedes as much of its range as the other side seems to",
			Parameters: []Parameter{{
				Name: "kindness", Summary: "part of its range conceded beyond that", Min: -fixed.One,
				Max: fixed.One,
			}},
			New: func(v []fixed.Number) bargain.Strategy {
				return bargain.BOA{Bidding: bidding.NaiveTitForTat{Kindness: v[0]}}
			}},
		{Name: "nice-tit-for-tat", Summary: "goes as far towards the estimated Nash point as the other side",
			Strategy: NiceTitForTat()},
		{Name: "patience", Summary: "concedes as offers are made, with or without a deadline",
			HasOpening: true, Parameters: []Parameter{resourceK},
			New: func(v []fixed.Number) bargain.Strategy { return patience(v[0]) }},
		{Name: "random", Summary: "random rational offers; accepts any that is as good as its next", Strategy: Random()},
		{Name: "random-absolute", Summary: "returns the other side's step, and a random part more or less",
			Parameters: []Parameter{{
				Name: "share", Summary: "largest random part, of each issue's range", Default: percent(2), Max: fixed.One,
			}},
			New: func(v []fixed.Number) bargain.Strategy { return tactic(bidding.RandomAbsolute{Share: v[0]}) }},
		{Name: "resource-dependent", Summary: "concedes as its steps run out, mostly in the last three",
			HasOpening: true, Parameters: []Parameter{resourceK},
			New: func(v []fixed.Number) bargain.Strategy { return resourceDependent(v[0]) }},
		{Name: "smith", Summary: "Boulware; picks by AgentSmith's frequency model",
			HasOpening: true, Parameters: []Parameter{geniusLate}, New: modeled(opponent.Smith{})},
		{Name: "switch", Summary: "relative tit-for-tat, and Boulware towards the end of the time",
			HasOpening: true, Parameters: []Parameter{geniusLate, {
				Name: "at", Summary: "part of the time after which it is Boulware", Default: percent(80), Max: fixed.One,
			}},
			New: func(v []fixed.Number) bargain.Strategy { return switching(v[0], v[1]) }},
		{Name: "tit-for-tat", Summary: "returns the other side's last step in percent (Faratin's relative tactic)",
			Parameters: []Parameter{{
				Name: "delay", Summary: "age of the step, in offers of the other side", Default: fixed.One, Min: fixed.One,
				Max: 100 * fixed.One, IsWhole: true,
			}},
			New: func(v []fixed.Number) bargain.Strategy { return tactic(bidding.Relative{Delay: whole(v[0])}) }},
		{Name: "wab", Summary: "NegMAS: as cab, but offers irrational outcomes first", Strategy: WAB()},
		{Name: "wan", Summary: "NegMAS: as can, but offers irrational outcomes first", Strategy: WAN()},
		{Name: "war", Summary: "NegMAS: as car, but offers irrational outcomes first", Strategy: WAR()},
	} {
		Register(entry)
	}
}

// whole returns a whole number.
func whole(n fixed.Number) int { return int(n / fixed.One) }

// Named returns the strategies by their names, with the defaults of their parameters.
func Named() map[string]bargain.Strategy {
	named := map[string]bargain.Strategy{}
	for _, entry := range List() {
		named[entry.Name] = entry.Strategy
	}
	return named
}

// Stepping returns the names of the strategies that depend on a price step on chain: see [Entry.HasStep].
func Stepping() (names []string) {
	for _, entry := range List() {
		if entry.HasStep() {
			names = append(names, entry.Name)
		}
	}
	return names
}

// Names returns the names in their order.
func Names() (names []string) {
	for _, entry := range List() {
		names = append(names, entry.Name)
	}
	return names
}
