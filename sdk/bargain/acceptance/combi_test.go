package acceptance_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

const percent = fixed.One / 100

// offer returns a party's offer at a time.
func offer(by int, time fixed.Number, price bargain.Outcome) bargain.Offer {
	return bargain.Offer{By: by, Time: time, Outcome: price}
}

// accepts returns a buyer's decision on a seller's offer; the buyer's next offer is the price 0.
func accepts(
	t *testing.T, c acceptance.Combi, earlier []bargain.Offer, time fixed.Number, price bargain.Outcome,
) bool {
	history := append(slices.Clone(earlier), offer(1, time, price))
	state := &bargain.State{Time: time, Offer: price, By: 1, History: history}
	return c.Acceptor(buyer(t, 0)).Accepts(state, plan(0))
}

// TestCombi checks the rules of GENIUS' conditions at time .98, with the window (.96, .98]. It contains the
// seller's offers 40 and 60, with utilities .6 and .4, and the current offer.
func TestCombi(t *testing.T) {
	earlier := []bargain.Offer{
		offer(1, 95*percent, 10), offer(1, 96*percent, 10), // before the window
		offer(1, 96*percent+1, 40), offer(0, 97*percent, 5), offer(1, 97*percent, 60), offer(0, 975*percent/10, 5),
	}
	for _, test := range []struct {
		name        string
		expectation acceptance.Expectation
		dearest     bargain.Outcome
	}{
		{"ACtime: any offer", acceptance.ExpectNothing, 100},
		{"the maximum of .6, .4 and u is u from .6 on", acceptance.ExpectMax, 40},
		{"the average of .6, .4 and u is at most u from .5 on", acceptance.ExpectAvg, 50},
		{"below .6 there is a better offer, and it comes with the probability 1", acceptance.ExpectProb, 40},
	} {
		c := acceptance.Combi{Expectation: test.expectation}
		for price := range bargain.Outcome(101) {
			require.Equal(t, price <= test.dearest, accepts(t, c, earlier, 98*percent, price),
				"%s: price %d", test.name, price)
			require.Equal(t, price == 0, accepts(t, c, earlier, 98*percent-1, price), "ACnext alone before .98")
		}
	}
	half := acceptance.Combi{From: fixed.One / 2}
	require.True(t, accepts(t, half, nil, fixed.One/2, 99))
	require.False(t, accepts(t, half, nil, fixed.One/2-1, 99))
	require.False(t, half.Acceptor(buyer(t, percent)).Accepts(
		&bargain.State{Time: fixed.One / 2, Offer: 100, By: 1}, plan(0)), "below the reservation value")
}

// TestCombiWaitsForMoreThanTenOffers checks GENIUS' limit in AC_CombiProb.
func TestCombiWaitsForMoreThanTenOffers(t *testing.T) {
	var earlier []bargain.Offer
	for range 9 {
		earlier = append(earlier, offer(1, 97*percent, 50))
	}
	for _, expectation := range []acceptance.Expectation{acceptance.ExpectProb, acceptance.ExpectMax} {
		c := acceptance.Combi{Expectation: expectation}
		require.True(t, accepts(t, c, earlier, 98*percent, 50), "ten offers with the current one")
		require.Equal(t, expectation == acceptance.ExpectMax,
			accepts(t, c, append(earlier, offer(1, 97*percent, 50)), 98*percent, 50), "eleven offers")
	}
}

// TestCombiCountsOffersWithoutUtility uses the prices 100, 40 and 70: the average of 0, .6 and .3 is .3.
// GENIUS omits the 0, giving the average .45.
func TestCombiCountsOffersWithoutUtility(t *testing.T) {
	earlier := []bargain.Offer{offer(1, 97*percent, 100), offer(1, 97*percent, 40)}
	c := acceptance.Combi{Expectation: acceptance.ExpectAvg}
	require.True(t, accepts(t, c, earlier, 98*percent, 70))
	require.False(t, accepts(t, c, earlier, 98*percent, 71))
}

// TestCombiAveragesLargeUtilities uses utilities up to 1,000,000, where the sum of 1,000 exceeds the number
// range, and more offers than the window's 1,000.
func TestCombiAveragesLargeUtilities(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Integer("issue", 0, 1_000_000))
	require.NoError(t, err)
	u, err := utility.NewAdditive(domain, 0, nil, utility.Line{Last: bargain.MaxUtility, Count: 1_000_001})
	require.NoError(t, err)
	preferences, err := bargain.NewPreferences(domain, u, 0)
	require.NoError(t, err)
	acceptor := acceptance.Combi{Expectation: acceptance.ExpectAvg}.Acceptor(
		bargain.Seat{Preferences: preferences, Parties: 2})
	accepts := func(earlier []bargain.Offer, o bargain.Outcome) bool {
		return acceptor.Accepts(&bargain.State{
			Time: 98 * percent, Offer: o, By: 1, History: append(earlier, offer(1, 98*percent, o)),
		}, plan(1_000_000))
	}
	var earlier []bargain.Offer
	for range 999 {
		earlier = append(earlier, offer(1, 97*percent, 999_999))
	}
	require.True(t, accepts(earlier, 999_999))
	require.False(t, accepts(earlier, 999_998))
	// Then 999 offers with the utility 0 follow: with u the average of the last thousand is u/1000.
	for range 999 {
		earlier = append(earlier, offer(1, 97*percent, 0))
	}
	require.True(t, accepts(earlier, 1))
}
