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

// drawNumber returns a number from least to most: any number, mostly near 0, or a number from 21 that divide
// the range.
func drawNumber(t *rapid.T, name string, least, most fixed.Number) fixed.Number {
	if rapid.Bool().Draw(t, "any") {
		return fixed.Number(rapid.Int64Range(int64(least), int64(most)).Draw(t, name))
	}
	return least + (most-least).Scale(rapid.Int64Range(0, 20).Draw(t, name), 20)
}

// drawCurve returns a random curve.
func drawCurve(t *rapid.T) curve.Curve {
	start := drawNumber(t, "start", 0, fixed.One)
	middle := drawNumber(t, "middle", 0, start)
	exponent := drawNumber(t, "exponent", 1, 10*fixed.One)
	return rapid.SampledFrom([]curve.Curve{
		curve.Polynomial{K: start, E: exponent}, curve.Polynomial{K: start},
		curve.Exponential{K: max(start, 1), E: exponent}, curve.Aspiration{Max: start, Exponent: exponent},
		curve.ExpAspiration{Max: start, Exponent: exponent}, curve.Constant(start),
		curve.Bezier{Start: start, Middle: middle, End: drawNumber(t, "end", 0, middle)},
	}).Draw(t, "curve")
}

// drawDomain returns a domain with 1 to 3 issues, of any kind.
func drawDomain(t *rapid.T) *bargain.Domain {
	most := rapid.Int64Range(0, 30).Draw(t, "most")
	names := []string{"a", "b", "c", "d", "e"}[:rapid.IntRange(1, 5).Draw(t, "names")]
	kinds := []bargain.Issue{
		bargain.Price("price", 10, 10+uint64(most), 1), bargain.Integer("integer", -2, most),
		bargain.Real("real", 0, fixed.Number(most), 2), bargain.Categorical("categorical", names...),
		bargain.Ordered("ordered", names...),
	}
	issues := rapid.Permutation(kinds).Draw(t, "issues")[:rapid.IntRange(1, 3).Draw(t, "count")]
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	return domain
}

// drawPreferences returns preferences with a table or a line per issue, a reservation value that can be below
// or above all utilities, and a discount.
func drawPreferences(t *rapid.T, domain *bargain.Domain) *bargain.Preferences {
	value := func(name string) fixed.Number { return drawNumber(t, name, -fixed.One, fixed.One) }
	var values []utility.Values
	for at := range domain.Len() {
		count := domain.Issue(at).Count
		if rapid.Bool().Draw(t, "line") {
			values = append(values, utility.Line{First: value("first"), Last: value("last"), Count: count})
			continue
		}
		table := make(utility.Table, count)
		for i := range table {
			table[i] = value("value")
		}
		values = append(values, table)
	}
	u, err := utility.NewAdditive(domain, 0, nil, values...)
	require.NoError(t, err)
	discount := bargain.Discount{
		Factor: drawNumber(t, "factor", 0, fixed.One), Cost: drawNumber(t, "cost", 0, fixed.One/10),
		PerStep: rapid.Bool().Draw(t, "per step"), KeepReservation: rapid.Bool().Draw(t, "keep"),
	}
	p, err := bargain.NewDiscounted(domain, u, 2*value("reservation"), discount)
	require.NoError(t, err)
	return p
}

// drawBidding returns any bidding except Wasting, and draws the parameters.
func drawBidding(t *rapid.T, depth int) bargain.Bidding {
	pick := rapid.SampledFrom([]bidding.Pick{
		bidding.PickLowest, bidding.PickNearest, bidding.PickRandom, bidding.PickModel,
	}).Draw(t, "pick")
	number := func(name string) fixed.Number { return drawNumber(t, name, 0, fixed.One) }
	few := rapid.IntRange(0, 3).Draw(t, "few")
	biddings := []bargain.Bidding{
		bidding.TimeDependent{Curve: drawCurve(t), Pick: pick, Tolerance: number("tolerance") / 10},
		bidding.Hardliner{}, bidding.Random{Level: number("level")}, bidding.MiCRO{}, bidding.Conceding{},
		bidding.Relative{Delay: few}, bidding.RandomAbsolute{Delay: few, Most: uint64(few)},
		bidding.Averaged{Window: few}, bidding.NaiveTitForTat{Kindness: number("kindness")},
		bidding.NiceTitForTat{},
		bidding.ResourceDependent{K: number("k"), Unit: number("unit"), Pick: pick},
		bidding.ResourceDependent{K: number("k"), Resource: bidding.ResourcePatience, Pick: pick},
		bidding.Hybrid{}, bidding.Hybrid{Empathy: 5 * number("empathy")},
	}
	if depth > 0 {
		biddings = append(biddings,
			bidding.Mixture{
				{Bidding: drawBidding(t, depth-1), Weight: 1},
				{Bidding: drawBidding(t, depth-1), Weight: uint32(few)},
			},
			bidding.Switch{Before: drawBidding(t, depth-1), After: drawBidding(t, depth-1), At: number("at")})
	}
	return rapid.SampledFrom(biddings).Draw(t, "bidding")
}

// drawModel returns any opponent model, or none.
func drawModel(t *rapid.T) bargain.Modeling {
	return rapid.SampledFrom([]bargain.Modeling{
		nil, opponent.HardHeaded{}, opponent.Smith{}, opponent.NashFrequency{}, opponent.Bayesian{},
	}).Draw(t, "model")
}

// drawAcceptance returns any condition, or nil to select the bidding's built-in condition, where available.
func drawAcceptance(t *rapid.T, b bargain.Bidding) bargain.Acceptance {
	number := func(name string) fixed.Number { return drawNumber(t, name, 0, fixed.One) }
	expectation := rapid.SampledFrom([]acceptance.Expectation{
		acceptance.ExpectNothing, acceptance.ExpectMax, acceptance.ExpectAvg, acceptance.ExpectProb,
	}).Draw(t, "expectation")
	conditions := []bargain.Acceptance{
		acceptance.Next{}, acceptance.Next{Alpha: 2 * number("alpha"), Beta: number("beta")},
		acceptance.Const{Utility: -number("utility")}, acceptance.Rational{}, acceptance.Better{},
		acceptance.NotWorse{}, acceptance.Combi{From: number("from"), Expectation: expectation},
		acceptance.Any{First: acceptance.Best{}, Second: acceptance.Time{From: number("time")}},
		acceptance.All{First: acceptance.Rational{}, Second: acceptance.Time{From: number("time")}},
	}
	switch b.(type) {
	case bidding.TimeDependent, bidding.MiCRO, bidding.NaiveTitForTat:
		conditions = append(conditions, nil)
	}
	return rapid.SampledFrom(conditions).Draw(t, "acceptance")
}

// TestNoOfferIsBelowTheReservationValue runs sessions of random strategies on random domains, and each twice.
func TestNoOfferIsBelowTheReservationValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		domain := drawDomain(t)
		var parties []mechanism.Party
		for range rapid.IntRange(2, 3).Draw(t, "parties") {
			b := drawBidding(t, 1)
			parties = append(parties, mechanism.Party{Preferences: drawPreferences(t, domain), Strategy: bargain.BOA{
				Bidding: b, Acceptance: drawAcceptance(t, b), Modeling: drawModel(t),
			}})
		}
		steps := rapid.IntRange(1, 30).Draw(t, "steps")
		run := func() bargain.Result {
			result, err := mechanism.Alternating{Steps: steps}.Run(7, parties...)
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

// TestAspirationsFallToTheReservationValue checks any curve on a random domain, with and without deadline:
// the offers' utility never rises or falls below the reservation value. Rounding can raise a level by 3 *
// 10^-12, and the utilities span up to 6.
func TestAspirationsFallToTheReservationValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPreferences(t, drawDomain(t))
		const steps = 20
		seat := bargain.Seat{Preferences: p, Parties: 2, Steps: rapid.SampledFrom([]int{0, steps}).Draw(t, "steps")}
		seat.Opening = drawNumber(t, "opening", -fixed.One, fixed.One)
		least, _, ok := seat.Range()
		bidder := bidding.TimeDependent{
			Curve:     drawCurve(t),
			Pick:      rapid.SampledFrom([]bidding.Pick{bidding.PickLowest, bidding.PickNearest}).Draw(t, "pick"),
			Tolerance: drawNumber(t, "tolerance", 0, fixed.One/10),
		}.Bidder(seat, nil)
		last := fixed.Max
		for step := range steps {
			o := bidder.Next(&bargain.State{
				Step: step, Steps: seat.Steps, Time: fixed.Ratio(int64(step)+1, steps+1), Offer: bargain.NoOutcome,
			})
			if !ok {
				require.Equal(t, bargain.NoOutcome, o)
				continue
			}
			u := p.Of(o)
			require.True(t, least <= u && u-20 <= last, "step %d: %s after %s", step, u, last)
			last = u
		}
	})
}
