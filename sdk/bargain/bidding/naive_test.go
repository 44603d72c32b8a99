package bidding_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// TestNaiveTitForTat checks NegMAS' rule: u(100) = .5, so the target is .5.
func TestNaiveTitForTat(t *testing.T) {
	naive := bidding.NaiveTitForTat{}.Bidder(buyer(t, 0), nil)
	require.Equal(t, bargain.Outcome(0), naive.Next(state()))
	require.Equal(t, bargain.Outcome(1), naive.Next(state(0, 150)), "the smallest concession")
	require.Equal(t, bargain.Outcome(100), naive.Next(state(0, 150, 1, 150, 1, 100)))
	kind := bidding.NaiveTitForTat{Kindness: fixed.One / 10}.Bidder(buyer(t, 0), nil)
	require.Equal(t, bargain.Outcome(120), kind.Next(state(0, 150, 1, 150, 1, 100)))
}

// TestNaiveTitForTatMeasuresFromTheReservationValue uses the reservation value .5, the price 100: the price
// 80 is at level .2, the price 50 at .5.
func TestNaiveTitForTatMeasuresFromTheReservationValue(t *testing.T) {
	seat := buyer(t, fixed.One/2)
	naive := bidding.NaiveTitForTat{}.Bidder(seat, nil)
	require.Equal(t, bargain.Outcome(40), naive.Next(state(0, 150, 1, 150, 1, 80)))
	require.Equal(t, bargain.Outcome(0), naive.Next(state(0, 150, 1, 150, 1, 120)), "no concession")
	kind := bidding.NaiveTitForTat{Kindness: fixed.One}.Bidder(seat, nil)
	require.Equal(t, bargain.Outcome(100), kind.Next(state(0, 150, 1, 150, 1, 120)), "not below .5")

	accept := func(offer bargain.Outcome, kindness fixed.Number) bool {
		s := state(0, 150, 1, 150, 1, offer)
		return accepts(t, bidding.NaiveTitForTat{Kindness: kindness}.Bidder(seat, nil), s)
	}
	require.True(t, accept(50, 0))
	require.False(t, accept(51, 0))
	require.True(t, accept(60, fixed.One/5), "2 * .4 + .2 = 1")
	require.False(t, accept(101, fixed.One), "below the reservation value")
}

// accepts returns the bidder's decision under its built-in acceptance condition.
func accepts(t *testing.T, bidder bargain.Bidder, s *bargain.State) bool {
	acceptor, ok := bidder.(bargain.Acceptor)
	require.True(t, ok)
	return acceptor.Accepts(s, nil)
}

// TestNaiveTitForTatConcedesTheNextDifference uses the utilities 1, .9, .7, .4, .35, .2, .15, .05, 0:
// neighbors differ by .1 and .3 for the second step's decisions, by .15 and .1 for the third step's.
func TestNaiveTitForTatConcedesTheNextDifference(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Integer("issue", 0, 8))
	require.NoError(t, err)
	var table utility.Table
	for _, percent := range []int64{100, 90, 70, 40, 35, 20, 15, 5, 0} {
		table = append(table, fixed.Ratio(percent, 100))
	}
	u, err := utility.NewAdditive(domain, 0, nil, table)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, 0)
	require.NoError(t, err)
	seat := bargain.Seat{Preferences: p, Parties: 2, Steps: 10}
	naive := bidding.NaiveTitForTat{}.Bidder(seat, nil)

	first := state(1)
	require.False(t, accepts(t, naive, first), "first step: only the best outcome")
	require.True(t, accepts(t, naive, state(0, 1)), "second step: at least 1 - .1")
	require.False(t, accepts(t, naive, state(0, 2)))
	require.Equal(t, bargain.Outcome(2), naive.Next(state(0, 8)), "second step: at least 1 - .3")
	require.False(t, accepts(t, naive, state(0, 8, 0, 2)), "third step: at least 1 - .15")
	require.Equal(t, bargain.Outcome(1), naive.Next(state(0, 8, 0, 8)), "third step: at least 1 - .1")
}

// TestNaiveTitForTatNeedsNoOrderOfALargeDomain compares the forced concessions with the differences in the
// full outcome order, which takes far more memory. One issue's parts rise, another issue's parts fall.
func TestNaiveTitForTatNeedsNoOrderOfALargeDomain(t *testing.T) {
	random := bargain.NewRandom(3, 3)
	for _, values := range []uint64{4, 100_000} { // with more and less equal utilities
		var issues []bargain.Issue
		var parts []utility.Values
		for at := range 6 {
			table := make(utility.Table, 11)
			for i := range table {
				switch rest := fixed.Number(100 - i*i); at {
				case 1:
					table[10-i] = rest * fixed.One / 1e5
				case 2:
					table[i] = 7 * rest * fixed.One / 1e5
				default:
					table[i] = fixed.Number(random.Below(values)) * fixed.One / 100
				}
			}
			issues = append(issues, bargain.Integer(string(rune('a'+at)), 0, 10))
			parts = append(parts, table)
		}
		domain, err := bargain.NewDomain(issues...)
		require.NoError(t, err)
		u, err := utility.NewAdditive(domain, fixed.One/4, nil, parts...)
		require.NoError(t, err)
		p, err := bargain.NewPreferences(domain, u, 0)
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		naive := bidding.NaiveTitForTat{}.Bidder(bargain.Seat{Preferences: p, Parties: 2, Steps: 10}, nil)
		second, third := naive.Next(state(0, 0)), naive.Next(state(0, 0, 0, 0))
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))

		cursor, best := p.Inverse().Descend(), [8]fixed.Number{}
		for at := range best {
			best[at] = u.Of(cursor.Next())
		}
		require.Equal(t, p.Inverse().AtLeast(best[0]-(best[2]-best[3])), second)
		require.Equal(t, p.Inverse().AtLeast(best[0]-(best[6]-best[7])), third)
	}
}
