package game_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
)

// TestTrueAssumptionsGiveTheEquilibrium plays two sides that assume each other's reservation price rightly.
func TestTrueAssumptionsGiveTheEquilibrium(t *testing.T) {
	agreed := 0
	rapid.Check(t, func(t *rapid.T) {
		escrow := rapid.Uint64Range(100_000, 1_000_000_000).Draw(t, "escrow")
		h := game.Haggle{
			Rules: terms(escrow, uint8(rapid.IntRange(1, 20).Draw(t, "rounds")),
				uint16(rapid.IntRange(0, 300).Draw(t, "decay")), 1_000, 50),
			Value: rapid.Uint64Range(escrow/2, escrow).Draw(t, "value"),
			Cost:  rapid.Uint64Range(0, escrow/2).Draw(t, "cost"),
		}
		buyer, err := h.Rules.Player(game.Assuming{Other: h.Cost}, onchain.Buyer, 0, h.Value)
		require.NoError(t, err)
		seller, err := h.Rules.Player(game.Assuming{Other: h.Value}, onchain.Seller, escrow, h.Cost)
		require.NoError(t, err)
		result, err := h.Rules.Run(1, buyer, seller)
		require.NoError(t, err)
		want := h.Equilibrium()
		require.Equal(t, want.Agreed, result.Ending == bargain.EndingAgreement)
		require.Equal(t, want.Price, result.Settlement.Price)
		if want.Agreed {
			agreed++
		}
	})
	require.Positive(t, agreed)
}

// TestWrongAssumptionsCrossNoLimit checks sides with any assumptions: no agreement is beyond a reservation
// price.
func TestWrongAssumptionsCrossNoLimit(t *testing.T) {
	agreed := 0
	rapid.Check(t, func(t *rapid.T) {
		const escrow = 1_000_000
		price := rapid.Uint64Range(0, 2*escrow)
		rules := terms(escrow, uint8(rapid.IntRange(1, 20).Draw(t, "rounds")),
			uint16(rapid.IntRange(0, 300).Draw(t, "decay")), 1_000, 50)
		value, cost := rapid.Uint64Range(0, escrow).Draw(t, "value"), rapid.Uint64Range(0, 900_000).Draw(t, "cost")
		buyer, err := rules.Player(game.Assuming{Other: price.Draw(t, "cost'")}, onchain.Buyer, 0, value)
		require.NoError(t, err)
		seller, err := rules.Player(game.Assuming{Other: price.Draw(t, "value'")}, onchain.Seller, escrow, cost)
		require.NoError(t, err)
		result, err := rules.Run(1, buyer, seller)
		require.NoError(t, err)
		if result.Ending == bargain.EndingAgreement {
			agreed++
			require.LessOrEqual(t, result.Settlement.Price, value)
			require.GreaterOrEqual(t, result.Settlement.ToSeller, cost)
		}
	})
	require.Positive(t, agreed)
}

func TestWithoutTheRulesTheOptimalPlayerEndsTheSession(t *testing.T) {
	for _, s := range []bargain.Strategy{game.Assuming{Other: 1}, game.Complete{}} {
		require.Equal(t, bargain.End("the optimal player needs Haggle's rules"),
			s.Start(bargain.Seat{}).Respond(&bargain.State{}))
	}
}
