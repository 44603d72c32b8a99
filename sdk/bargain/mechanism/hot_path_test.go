package mechanism_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/opponent"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// opposed returns opposed preferences over price and days, where no outcome suits both parties.
func opposed(t testing.TB) (list [2]*bargain.Preferences) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 100, 1), bargain.Integer("days", 1, 20))
	require.NoError(t, err)
	for self := range list {
		price := utility.Line{Last: fixed.One, Count: domain.Issue(0).Count}
		days := utility.Line{Last: fixed.One, Count: domain.Issue(1).Count}
		if self == 1 {
			price.First, price.Last, days.First, days.Last = price.Last, price.First, days.Last, days.First
		}
		u, err := utility.NewAdditive(domain, 0, []fixed.Number{fixed.One / 2, fixed.One / 2}, price, days)
		require.NoError(t, err)
		list[self], err = bargain.NewPreferences(domain, u, fixed.One/5*3)
		require.NoError(t, err)
	}
	return list
}

// leaving is a strategy that ends the session at a step.
type leaving struct {
	bargain.Strategy
	at int
}

func (l leaving) Start(seat bargain.Seat) bargain.Negotiator {
	return leavingNegotiator{l.Strategy.Start(seat), l.at}
}

type leavingNegotiator struct {
	bargain.Negotiator
	at int
}

func (l leavingNegotiator) Respond(state *bargain.State) bargain.Action {
	if state.Step == l.at {
		return bargain.End("")
	}
	return l.Negotiator.Respond(state)
}

// everyBidding returns the named strategies, and compositions with all other biddings, picks and models.
func everyBidding() map[string]bargain.Strategy {
	all := strategy.Named()
	faratin := curve.Exponential{K: fixed.One / 10, E: fixed.One}
	for name, b := range map[string]bargain.Bidding{
		"(random absolute)": bidding.RandomAbsolute{Delay: 2, Most: 3},
		"(averaged)":        bidding.Averaged{Window: 3},
		"(steps)":           bidding.ResourceDependent{Unit: 10 * fixed.One},
		"(patience)":        bidding.ResourceDependent{Resource: bidding.ResourcePatience},
		"(random pick)":     bidding.TimeDependent{Curve: faratin, Pick: bidding.PickRandom},
		"(mixture)": bidding.Mixture{
			{Bidding: bidding.Averaged{}, Weight: 2}, {Bidding: bidding.TimeDependent{Curve: faratin}, Weight: 1},
			{Bidding: bidding.MiCRO{}, Weight: 1},
		},
		"(switch)": bidding.Switch{
			Before: bidding.Hardliner{}, After: bidding.NiceTitForTat{}, At: fixed.One / 2,
		},
		"(wasting)": bidding.Wasting{}, "(kind)": bidding.NaiveTitForTat{Kindness: fixed.One / 10},
	} {
		all[name] = bargain.BOA{Bidding: b, Acceptance: acceptance.Next{}}
	}
	picks := bidding.TimeDependent{Curve: faratin, Pick: bidding.PickModel}
	for name, m := range map[string]bargain.Modeling{
		"(none)": nil, "(hardheaded)": opponent.HardHeaded{}, "(smith)": opponent.Smith{},
		"(nash frequency)": opponent.NashFrequency{}, "(bayesian)": opponent.Bayesian{},
	} {
		all["(pick)"+name] = bargain.BOA{Bidding: picks, Acceptance: acceptance.Next{}, Modeling: m}
		all["(nice)"+name] = bargain.BOA{
			Bidding: bidding.NiceTitForTat{}, Acceptance: acceptance.Next{}, Modeling: m,
		}
	}
	return all
}

// TestARoundAllocatesNothing plays every strategy against a party that accepts nothing, and leaves in the
// third or last of 100 steps: both sessions allocate the same. The second offer can need a cursor.
func TestARoundAllocatesNothing(t *testing.T) {
	const steps = 100
	sides := opposed(t)
	for _, side := range sides {
		side.Inverse().Ascend() // sorts all outcomes, which otherwise happens once in a round of some session
		side.IsReused()         // the first session makes tables for the later ones, too
	}
	opponent := bargain.BOA{Bidding: bidding.Random{}, Acceptance: acceptance.Const{Utility: fixed.Max}}
	for name, named := range everyBidding() {
		t.Run(name, func(t *testing.T) {
			for self := range 2 {
				allocations := func(leaves int) float64 {
					parties := make([]mechanism.Party, 2)
					parties[self] = mechanism.Party{Strategy: named, Preferences: sides[self]}
					parties[1-self] = mechanism.Party{
						Strategy: leaving{opponent, leaves}, Preferences: sides[1-self],
					}
					session := new(mechanism.Session)
					// The runtime's own goroutines allocate now and then, which only adds: the least number counts.
					least := math.Inf(1)
					for range 3 {
						least = min(least, testing.AllocsPerRun(3, func() {
							result, err := session.Run(mechanism.Alternating{Steps: steps}, 1, parties...)
							if err != nil || result.Ending != bargain.EndingLeft || result.Step != leaves {
								t.Fatalf("%s at step %d, not %d: %v", result.Ending, result.Step, leaves, err)
							}
						}))
					}
					return least
				}
				require.Equal(t, allocations(2), allocations(steps-1))
			}
		})
	}
}

// longSession has two time-dependent strategies that bargain for 100 steps and do not agree.
func longSession(t testing.TB) (mechanism.Alternating, []mechanism.Party) {
	sides := opposed(t)
	return mechanism.Alternating{Steps: 100}, []mechanism.Party{
		{Strategy: strategy.NegmasBoulware(), Preferences: sides[0]},
		{Strategy: strategy.NegmasConceder(), Preferences: sides[1]},
	}
}

func TestTheMeasuredSessionHasAllItsSteps(t *testing.T) {
	protocol, parties := longSession(t)
	result, err := protocol.Run(1, parties...)
	require.NoError(t, err)
	require.Equal(t, bargain.EndingDeadline, result.Ending)
	require.Len(t, result.History, 200)
}

// BenchmarkNegotiation measures 100 steps of time-dependent strategies, 200 offers, using earlier sessions'
// tables: with the history in the previous session's memory, and with the history copied into the result.
func BenchmarkNegotiation(b *testing.B) {
	protocol, parties := longSession(b)
	b.Run("100_steps", func(b *testing.B) {
		session := new(mechanism.Session)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := session.Run(protocol, 1, parties...); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("100_steps,_history_copied", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := protocol.Run(1, parties...); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTables measures computing a curve's levels, shared by all preferences, and the first session with
// new preferences, including their inverses.
func BenchmarkTables(b *testing.B) {
	protocol, parties := longSession(b)
	b.Run("levels_of_a_curve", func(b *testing.B) {
		for exponent := fixed.Number(1); b.Loop(); exponent++ { // another curve each time
			curve.Tabulate(curve.Aspiration{Max: fixed.One, Exponent: 4*fixed.One + exponent}, 100)
		}
	})
	b.Run("first_session_with_its_preferences", func(b *testing.B) {
		session := new(mechanism.Session)
		first := slices.Clone(parties)
		for b.Loop() {
			for self, party := range parties {
				p, err := bargain.NewPreferences(
					party.Preferences.Domain(), party.Preferences.Utility(), party.Preferences.Reservation())
				if err != nil {
					b.Fatal(err)
				}
				first[self].Preferences = p
			}
			if _, err := session.Run(protocol, 1, first...); err != nil {
				b.Fatal(err)
			}
		}
	})
}
