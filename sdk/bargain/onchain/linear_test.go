package onchain_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// TestLinearConcedesInEqualStepsToTheReservation plays a buyer against a seller that refuses everything: the
// prices rise in equal steps, within a base unit, from the opening to the reservation.
func TestLinearConcedesInEqualStepsToTheReservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := onchain.Rules{
			Escrow:    rapid.Uint64Range(100_000, 100_000_000_000).Draw(t, "escrow"),
			MaxRounds: uint8(rapid.IntRange(1, 20).Draw(t, "rounds")), ResponseWindow: 300, Deadline: 3_600,
		}
		opening := rapid.Uint64Max(rules.Escrow).Draw(t, "opening")
		reservation := rapid.Uint64Range(opening, rules.Escrow).Draw(t, "reservation")
		domain, err := onchain.Domain(rules.Escrow)
		require.NoError(t, err)
		buyer, at, err := onchain.Preferences(domain, protocol.OfferSideBuyer, opening, reservation)
		require.NoError(t, err)
		seller, _, err := onchain.Preferences(domain, protocol.OfferSideSeller, rules.Escrow, rules.Escrow)
		require.NoError(t, err)
		result, err := rules.Run(1,
			onchain.Player{Strategy: strategy.Linear(), Preferences: buyer, Opening: at},
			onchain.Player{Strategy: strategy.Hardliner(), Preferences: seller})
		require.NoError(t, err)
		var prices []uint64
		for _, offer := range result.History {
			if offer.By == 0 {
				prices = append(prices, uint64(offer.Outcome))
			}
		}
		if result.Ending == bargain.EndingAgreement {
			return // the buyer reaches the whole escrow
		}
		steps := uint64(rules.MaxRounds+1)/2 - 1
		require.Len(t, prices, int(steps)+1)
		require.Equal(t, reservation, prices[steps])
		for i, price := range prices[:steps] {
			exact := opening + (reservation-opening)*uint64(i)/steps
			require.InDelta(t, exact, price, 1)
			require.LessOrEqual(t, price, reservation)
		}
	})
}
