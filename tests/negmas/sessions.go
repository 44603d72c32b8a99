package negmas

import (
	"math"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// Strategy is a strategy available in both libraries. compare.py uses the same name.
type Strategy struct {
	Name     string
	Strategy bargain.BOA
	// Random reports whether it makes random offers.
	Random bool
}

// Strategies returns NegMAS' own strategies.
func Strategies() []Strategy {
	return []Strategy{
		{Name: "TB boulware", Strategy: strategy.NegmasBoulware()},
		{Name: "TB linear", Strategy: strategy.NegmasLinear()},
		{Name: "TB conceder", Strategy: strategy.NegmasConceder()},
		{Name: "aspiration 4", Strategy: strategy.NegmasAspiration(4 * fixed.One)},
		{Name: "aspiration 1", Strategy: strategy.NegmasAspiration(fixed.One)},
		{Name: "aspiration 0.25", Strategy: strategy.NegmasAspiration(fixed.One / 4)},
		{Name: "TFT", Strategy: strategy.NegmasTitForTat()},
		{Name: "MiCRO", Strategy: strategy.MiCRO(), Random: true},
		{Name: "CAB", Strategy: strategy.CAB()},
		{Name: "CAN", Strategy: strategy.CAN()},
		{Name: "CAR", Strategy: strategy.CAR()},
		{Name: "WAB", Strategy: strategy.WAB()},
		{Name: "WAN", Strategy: strategy.WAN()},
		{Name: "WAR", Strategy: strategy.WAR()},
	}
}

// Session is a session between a pair of strategies: the first strategy makes the first offer.
type Session struct {
	Scenario string `json:"scenario"`
	First    string `json:"first"`
	Second   string `json:"second"`
}

// IsRandom reports whether any strategy in the session makes random offers.
func (s Session) IsRandom() bool {
	return slices.ContainsFunc(Strategies(), func(known Strategy) bool {
		return known.Random && (known.Name == s.First || known.Name == s.Second)
	})
}

// Sessions returns every strategy against every other in every scenario of the set.
func (s Set) Sessions() []Session {
	var sessions []Session
	for _, setting := range s.Settings {
		for _, first := range Strategies() {
			for _, second := range Strategies() {
				sessions = append(sessions, Session{setting.Name, first.Name, second.Name})
			}
		}
	}
	return sessions
}

// Answer is a session's result.
type Answer struct {
	// Agreement holds each issue's value. It is nil if there is no agreement.
	Agreement []string `json:"agreement"`
	// Step is the number of steps that began.
	Step int `json:"step"`
	// Utilities lists the first party's utility, then the second's. If there is no agreement, they are the
	// reservation values.
	Utilities [2]float64 `json:"utilities"`
	// Offers lists both parties' prices in [Demo]. It is nil in other sets.
	Offers []uint64 `json:"offers,omitempty"`
	// IsRuled reports whether any of Haggle's rules replaced a move in [Demo].
	IsRuled bool `json:"ruled,omitempty"`
}

// tolerance limits the difference of equal utilities. NegMAS adds up floats, whose error in short sums of
// numbers up to 1 is about 1e-16 each; the engine's numbers have 12 decimals.
const tolerance = 1e-9

// Equals reports whether answers share agreement, step, utilities and offers.
func (a Answer) Equals(b Answer) bool {
	for side := range a.Utilities {
		if math.Abs(a.Utilities[side]-b.Utilities[side]) > tolerance {
			return false
		}
	}
	return a.Step == b.Step && slices.Equal(a.Agreement, b.Agreement) && slices.Equal(a.Offers, b.Offers)
}

// Play runs a session of the engine.
func Play(
	first, second bargain.Strategy, both [2]*bargain.Preferences, steps int, seed uint64,
) (Answer, error) {
	result, err := mechanism.Alternating{Steps: steps}.Run(seed,
		mechanism.Party{Strategy: first, Preferences: both[0]},
		mechanism.Party{Strategy: second, Preferences: both[1]})
	if err != nil {
		return Answer{}, err
	}
	if result.Err != nil {
		return Answer{}, result.Err
	}
	answer := Answer{Step: result.Step}
	if result.Ending != bargain.EndingDeadline {
		answer.Step++ // NegMAS counts the step that ends the session
	}
	for side, p := range both {
		answer.Utilities[side] = p.Of(result.Agreement).Float()
	}
	if result.Agreement != bargain.NoOutcome {
		domain := both[0].Domain()
		for at := range domain.Len() {
			answer.Agreement = append(answer.Agreement, domain.Issue(at).Text(domain.Value(result.Agreement, at)))
		}
	}
	return answer, nil
}

// Find finds a strategy by name.
func Find(name string) bargain.BOA {
	for _, known := range Strategies() {
		if known.Name == name {
			return known.Strategy
		}
	}
	return bargain.BOA{}
}
