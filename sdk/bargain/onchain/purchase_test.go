package onchain_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// sellersOf returns sellers with reservation prices, who open at 4,500,000.
func sellersOf(t require.TestingT, sold bargain.Strategy, reservations ...uint64) []onchain.Player {
	var sellers []onchain.Player
	for _, reservation := range reservations {
		seller, err := tenRounds.Player(sold, onchain.Seller, max(4_500_000, reservation), reservation)
		require.NoError(t, err)
		sellers = append(sellers, seller)
	}
	return sellers
}

func purchaseBy(s bargain.Strategy) onchain.Purchase {
	return onchain.Purchase{Rules: tenRounds, Strategy: s, Opening: 1_000_000, Reservation: 3_500_000}
}

// A purchase from a single seller acts like a plain negotiation.
func TestPurchaseFromOneSellerIsOneNegotiation(t *testing.T) {
	for bought, buys := range strategy.Named() {
		for sold, sells := range strategy.Named() {
			players := opponents(t, tenRounds, buys, sells)
			want, err := tenRounds.Run(7, players[0], players[1])
			require.NoError(t, err)
			got, err := purchaseBy(buys).Run(7, players[1:])
			require.NoError(t, err)
			require.Equal(t, want.Settlement.Price, got.Price, "%s, %s", bought, sold)
			require.Equal(t, want.Settlement.Decay, got.Decay, "%s, %s", bought, sold)
			require.Equal(t, int(want.Rounds), got.Rounds, "%s, %s", bought, sold)
		}
	}
}

// Every seller demands a fixed price. The buyer would accept the first price, but a lower offer stands.
func TestPurchaseIsFromTheCheapestSeller(t *testing.T) {
	var sellers []onchain.Player
	for _, price := range []uint64{2_200_000, 2_000_000, 2_300_000} {
		seller, err := tenRounds.Player(strategy.Linear(), onchain.Seller, price, price)
		require.NoError(t, err)
		sellers = append(sellers, seller)
	}
	p := purchaseBy(strategy.Linear())
	p.Opening = 1_900_000
	alone, err := p.Run(1, sellers[:1])
	require.NoError(t, err)
	require.GreaterOrEqual(t, alone.Price, uint64(2_200_000))
	result, err := p.Run(1, sellers)
	require.NoError(t, err)
	require.Equal(t, 1, result.Seller)
	require.LessOrEqual(t, result.Price, uint64(2_100_000))
}

// The property holds for every strategy and any sellers.
func TestPurchaseStaysWithinItsLimits(t *testing.T) {
	named := strategy.Named()
	names := slices.Sorted(maps.Keys(named))
	deals := 0
	rapid.Check(t, func(t *rapid.T) {
		reservations := rapid.SliceOfN(rapid.Uint64Range(500_000, 4_000_000), 1, onchain.MaxSellers).Draw(t, "reservations")
		p := purchaseBy(named[rapid.SampledFrom(names).Draw(t, "buyer")])
		p.MaxTotal = rapid.Uint64Range(1_000_000, 4_000_000).Draw(t, "max total")
		sellers := sellersOf(t, named[rapid.SampledFrom(names).Draw(t, "sellers")], reservations...)
		result, err := p.Run(rapid.Uint64().Draw(t, "seed"), sellers)
		require.NoError(t, err)
		if result.Seller < 0 {
			require.Zero(t, result.Price)
			return
		}
		deals++
		require.LessOrEqual(t, result.Price, p.Reservation)
		require.LessOrEqual(t, result.Price+result.Decay, p.MaxTotal)
		require.GreaterOrEqual(t, result.Price, reservations[result.Seller])
	})
	require.Positive(t, deals)
}

func TestOutsideOptionIsTheBestStandingOffer(t *testing.T) {
	at := func(offers ...uint64) *protocol.Negotiation {
		n := tenRounds.Negotiation()
		for _, amount := range offers {
			onchain.Apply(n, n.Turn(), amount, 0)
		}
		return n
	}
	others := []*protocol.Negotiation{
		at(1_000_000, 2_900_000), at(1_000_000, 2_700_000),
		at(1_000_000, 2_600_000, 1_500_000), // the buyer has answered the offer of 2.6
		at(),
	}
	require.EqualValues(t, 2_700_000, onchain.OutsideOption(3_500_000, others))
	require.EqualValues(t, 2_500_000, onchain.OutsideOption(2_500_000, others))
	require.EqualValues(t, 3_500_000, onchain.OutsideOption(3_500_000, nil))
	lost := others[0].Decay() + others[1].Decay() + others[2].Decay()
	require.Equal(t, 3_500_000-lost, onchain.LeftOfTotal(3_500_000, others))
	require.Zero(t, onchain.LeftOfTotal(lost-1, others))
}

func TestPurchaseHasOneToEightSellers(t *testing.T) {
	for _, count := range []int{0, 9} {
		_, err := purchaseBy(strategy.Linear()).Run(1, sellersOf(t, strategy.Linear(), make([]uint64, count)...))
		require.ErrorIs(t, err, onchain.ErrRules)
	}
}
