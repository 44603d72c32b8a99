package bidding_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/opponent"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// buyer returns the seat of a buyer over the prices 0 to 200.
func buyer(t require.TestingT, reservation fixed.Number) bargain.Seat {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 200, 1))
	require.NoError(t, err)
	u, err := utility.PriceLine(domain, false)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, reservation)
	require.NoError(t, err)
	return bargain.Seat{Preferences: p, Parties: 2, Steps: 10, Random: bargain.NewRandom(1, 0)}
}

// state returns the state after offers in turn, of which the party 0 made the first.
func state(offers ...bargain.Outcome) *bargain.State {
	s := &bargain.State{Step: len(offers) / 2, Steps: 10, Time: fixed.Ratio(int64(len(offers)/2), 10), Most: 200}
	for i, o := range offers {
		s.History = append(s.History, bargain.Offer{By: i % 2, Step: i / 2, Outcome: o})
		s.Offer, s.By = o, i%2
	}
	return s
}

// TestTitForTat has Faratin's formulas, computed by hand. The seller's offers are 100, 90 and 81; the buyer's
// last one is 50.
func TestTitForTat(t *testing.T) {
	s := state(40, 100, 45, 90, 50, 81)
	for _, test := range []struct {
		name    string
		bidding bargain.Bidding
		want    bargain.Outcome
	}{
		{"relative: 50 * 90/81 = 55.6", bidding.Relative{}, 55},
		{"relative, delay 2: 50 * 100/90 = 55.6", bidding.Relative{Delay: 2}, 55},
		{"relative, delay 3: too few offers", bidding.Relative{Delay: 3}, 50},
		{"absolute: 50 + 90 - 81", bidding.RandomAbsolute{}, 59},
		{"absolute, delay 2: 50 + 100 - 90", bidding.RandomAbsolute{Delay: 2}, 60},
		{"averaged over 2: 50 * 100/81 = 61.7", bidding.Averaged{Window: 2}, 61},
		{"averaged over 1 is relative", bidding.Averaged{}, 55},
	} {
		require.Equal(t, test.want, test.bidding.Bidder(buyer(t, 0), nil).Next(s), test.name)
	}
	random := bidding.RandomAbsolute{Most: 3}.Bidder(buyer(t, 0), nil)
	seen := map[bargain.Outcome]bool{}
	for range 100 {
		seen[random.Next(s)] = true
	}
	require.Equal(t, map[bargain.Outcome]bool{59: true, 60: true, 61: true, 62: true}, seen)
	// The reservation value .75 is the price 50.
	require.Equal(t, bargain.Outcome(50), bidding.Relative{}.Bidder(buyer(t, fixed.One/4*3), nil).Next(s))
	require.Equal(t, bargain.Outcome(0), bidding.Relative{}.Bidder(buyer(t, 0), nil).Next(state()))
}

func TestResourcesRunOut(t *testing.T) {
	r := bidding.ResourceDependent{}.Bidder(buyer(t, 0), nil)
	// Of ten steps nine are left: 200 e^-9 = .02; at the last one none is left.
	require.Equal(t, bargain.Outcome(0), r.Next(&bargain.State{Steps: 10}))
	require.Equal(t, bargain.Outcome(73), r.Next(&bargain.State{Step: 8, Steps: 10}), "200/e = 73.6")
	require.Equal(t, bargain.Outcome(200), r.Next(&bargain.State{Step: 9, Steps: 10}))
	p := bidding.ResourceDependent{Resource: bidding.ResourcePatience}.Bidder(buyer(t, 0), nil)
	require.Equal(t, bargain.Outcome(121), p.Next(state(1, 2)), "200 e^-.5 = 121.3")
}

func TestHybridFollowsItsCurveFirst(t *testing.T) {
	h := bidding.Hybrid{}.Bidder(buyer(t, 0), nil)
	// With one offer, at t = .1: .81 + .18*.75 + .01*.8 = .953: the price 9.4.
	s := state(0, 150)
	require.Equal(t, bargain.Outcome(9), h.Next(s))
	// Three offers received that concede .05 twice: u = .25, .3, .35; B = .95 - .5 (1+t) .05 with t = .3.
	s = state(5, 150, 8, 140, 10, 130)
	// T = .49 + .42*.75 + .09*.8 = .877; B = .9175; .09 T + .91 B = .913855: the price 17.2.
	require.Equal(t, bargain.Outcome(17), h.Next(s))
}

func TestMixturesWeighTheirParts(t *testing.T) {
	hard := bidding.Hardliner{}
	soft := bidding.TimeDependent{Curve: curve.Constant(0)}
	mixed := bidding.Mixture{{Bidding: hard, Weight: 3}, {Bidding: soft, Weight: 1}}.Bidder(buyer(t, 0), nil)
	require.Equal(t, bargain.Outcome(50), mixed.Next(state()))
	switched := bidding.Switch{Before: hard, After: soft, At: fixed.One / 2}.Bidder(buyer(t, 0), nil)
	require.Equal(t, bargain.Outcome(0), switched.Next(&bargain.State{Time: fixed.One/2 - 1}))
	require.Equal(t, bargain.Outcome(200), switched.Next(&bargain.State{Time: fixed.One / 2}))
}

// biddings are all but the wasting one.
var biddings = []bargain.Bidding{
	bidding.TimeDependent{Curve: curve.NegmasBoulware}, bidding.TimeDependent{Curve: curve.GeniusConceder, Pick: bidding.PickNearest},
	bidding.TimeDependent{Curve: curve.NegmasLinear, Pick: bidding.PickRandom, Tolerance: fixed.One / 100},
	bidding.TimeDependent{Curve: curve.NegmasLinear, Pick: bidding.PickModel}, bidding.Hardliner{}, bidding.Random{},
	bidding.MiCRO{}, bidding.Conceding{}, bidding.Relative{Delay: 2}, bidding.RandomAbsolute{Most: 2}, bidding.Averaged{Window: 3},
	bidding.NaiveTitForTat{}, bidding.NiceTitForTat{}, bidding.ResourceDependent{}, bidding.Hybrid{},
	bidding.ResourceDependent{Resource: bidding.ResourcePatience, Pick: bidding.PickRandom},
	bidding.Mixture{{bidding.MiCRO{}, 1}, {bidding.Relative{}, 2}},
	bidding.Switch{Before: bidding.Hardliner{}, After: bidding.TimeDependent{Curve: curve.GeniusBoulware}, At: fixed.One / 3},
}

// TestNoOfferIsBelowTheReservationValue runs sessions of random strategies on random domains, and each twice.
func TestNoOfferIsBelowTheReservationValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 5).Draw(t, "values")
		domain, err := bargain.NewDomain(bargain.Price("price", 0, rapid.Uint64Range(0, 50).Draw(t, "most"), 1),
			bargain.Categorical("c", []string{"a", "b", "c", "d", "e"}[:count]...), bargain.Integer("i", -2, 2))
		require.NoError(t, err)
		value := rapid.Custom(func(t *rapid.T) fixed.Number {
			return fixed.Number(rapid.Int64Range(0, int64(fixed.One)).Draw(t, "value"))
		})
		var parties []mechanism.Party
		for range rapid.IntRange(2, 3).Draw(t, "parties") {
			u, err := utility.NewAdditive(domain, 0, nil,
				utility.Line{First: value.Draw(t, "first"), Last: value.Draw(t, "last"), Count: domain.Issue(0).Count},
				utility.Table(rapid.SliceOfN(value, count, count).Draw(t, "c")),
				utility.Table(rapid.SliceOfN(value, 5, 5).Draw(t, "i")))
			require.NoError(t, err)
			p, err := bargain.NewPreferences(domain, u, 2*value.Draw(t, "reservation"))
			require.NoError(t, err)
			offers := rapid.SampledFrom(biddings).Draw(t, "bidding")
			acceptances := []bargain.Acceptance{
				acceptance.Next{}, acceptance.Rational{}, acceptance.Better{}, acceptance.NotWorse{},
				acceptance.Combi{Expectation: acceptance.ExpectMax}, acceptance.Combi{From: fixed.One / 2, Expectation: acceptance.ExpectAvg},
				acceptance.Combi{From: fixed.One / 3, Expectation: acceptance.ExpectProb},
				acceptance.Any{First: acceptance.Best{}, Second: acceptance.Time{From: fixed.One / 10 * 9}},
			}
			switch offers.(type) {
			case bidding.TimeDependent, bidding.MiCRO, bidding.NaiveTitForTat:
				acceptances = append(acceptances, nil) // their own
			}
			parties = append(parties, mechanism.Party{Preferences: p, Strategy: bargain.BOA{
				Bidding: offers, Acceptance: rapid.SampledFrom(acceptances).Draw(t, "acceptance"),
				Modeling: rapid.SampledFrom([]bargain.Modeling{
					nil, opponent.HardHeaded{}, opponent.Smith{}, opponent.NashFrequency{}, opponent.Bayesian{},
				}).Draw(t, "model"),
			}})
		}
		run := func() bargain.Result {
			result, err := mechanism.Alternating{Steps: 30}.Run(7, parties...)
			require.NoError(t, err)
			return result
		}
		result := run()
		require.NotEqual(t, bargain.EndingInvalid, result.Ending, "%v", result.Err)
		for _, offer := range result.History {
			require.True(t, parties[offer.By].Preferences.IsRational(offer.Outcome))
		}
		if result.Agreement != bargain.NoOutcome {
			for _, party := range parties {
				require.True(t, party.Preferences.IsRational(result.Agreement))
			}
		}
		require.Equal(t, result, run())
	})
}

func TestWastingOffersTheIrrationalOutcomesFirst(t *testing.T) {
	s := buyer(t, fixed.One/200*198) // the prices 0 to 2 are rational
	w := bidding.Wasting{}.Bidder(s, nil)
	for n := range 202 {
		o := w.Next(state())
		w.Sent(o)
		switch {
		case n < 198:
			require.Equal(t, bargain.Outcome(200-n), o)
		default:
			require.Equal(t, bargain.Outcome(min(n-198, 2)), o)
		}
	}
}

// TestWastingFollowsTheNumbersOfOutcomes has a seller: NegMAS' order is not that of utility there.
func TestWastingFollowsTheNumbersOfOutcomes(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 4, 1))
	require.NoError(t, err)
	u, err := utility.PriceLine(domain, true)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, fixed.One/4*3) // the prices 3 and 4 are rational
	require.NoError(t, err)
	w := bidding.Wasting{}.Bidder(bargain.Seat{Preferences: p, Parties: 2, Steps: 10}, nil)
	for _, want := range []bargain.Outcome{2, 1, 0, 4, 3, 3} {
		require.Equal(t, want, w.Next(state()))
		w.Sent(want)
	}
}

// TestWastingBeginsWithTheWorstOfManyOutcomes has more outcomes than a search of them all in one turn allows.
func TestWastingBeginsWithTheWorstOfManyOutcomes(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 1<<63, 1))
	require.NoError(t, err)
	u, err := utility.PriceLine(domain, true)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, fixed.One/2)
	require.NoError(t, err)
	w := bidding.Wasting{}.Bidder(bargain.Seat{Preferences: p, Parties: 2, Steps: 10}, nil)
	for _, want := range []bargain.Outcome{0, 1, 2} {
		require.Equal(t, want, w.Next(state()))
		w.Sent(want)
	}
}
