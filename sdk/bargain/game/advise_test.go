package game_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain/game"
)

// TestFairTermsDivideTheSurplus uses the value 4 and the cost 2.5. With no decay and no fee both sides gain
// half of the 1.5 surplus, because the deposit limits the seller's last offer to 3.25. The buyer's best terms
// are an ultimatum.
func TestFairTermsDivideTheSurplus(t *testing.T) {
	h := game.Haggle{Rules: terms(0, 0, 0, 1_000, 0), Value: 4_000_000, Cost: 2_500_000}
	choice := game.Choice{Rounds: []uint8{1, 2, 3}, Decays: []uint16{0, 200}, Least: 2_500_000, Most: 4_000_000}
	fair, best, err := h.Propose(choice)
	require.NoError(t, err)
	require.Equal(t, [2]uint64{750_000, 750_000}, fair.Gains)
	require.EqualValues(t, 3_250_000, fair.Rules.Escrow)
	require.EqualValues(t, 2, fair.Rules.MaxRounds)
	require.Zero(t, fair.Rules.Bond)
	require.Equal(t, [2]uint64{1_500_000, 0}, best.Gains)
	require.EqualValues(t, 1, best.Rules.MaxRounds)

	// With 2 % decay the first offer costs a share of the deposit, and a bond pays the seller's delay.
	choice.Decays = []uint16{200}
	fair, _, err = h.Propose(choice)
	require.NoError(t, err)
	require.Equal(t, fair.Rules.Escrow/50, fair.Result.Decay)
	require.InDelta(t, fair.Gains[game.Seller], fair.Gains[game.Buyer], 100_000)
	require.Equal(t, fair.Rules.ProposedBond(), fair.Rules.Bond)
	require.Positive(t, fair.Rules.Bond)
}

func TestNoTermsSuitWithoutASurplus(t *testing.T) {
	h := game.Haggle{Rules: terms(0, 0, 0, 1_000, 50), Value: 2_500_000, Cost: 2_500_000}
	_, _, err := h.Propose(game.Choice{Rounds: []uint8{1, 2}, Decays: []uint16{0}, Least: 2_500_000, Most: 2_500_000})
	require.ErrorIs(t, err, game.ErrNoSurplus)
	_, _, err = h.Propose(game.Choice{Rounds: []uint8{1}, Decays: []uint16{0}, Least: 3, Most: 2})
	require.ErrorContains(t, err, "the highest deposit, 2, is below the lowest, 3")
}

// TestAdviceIsTheEquilibriumOfItsTerms uses random values. The parties' gains, the fee and the decay sum to
// the surplus.
func TestAdviceIsTheEquilibriumOfItsTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := game.Haggle{Rules: terms(0, 0, 0, 1_000, rapid.Uint16Max(500).Draw(t, "fee"))}
		h.Cost = rapid.Uint64Range(1, math.MaxUint64/4).Draw(t, "cost")
		h.Value = h.Cost + rapid.Uint64Range(1, math.MaxUint64/4).Draw(t, "surplus")
		choice := game.Choice{
			Rounds: []uint8{1, 2, 3, 8}, Decays: []uint16{0, rapid.Uint16Max(1_000).Draw(t, "decay")},
			Least: h.Cost, Most: h.Value,
		}
		fair, best, err := h.Propose(choice)
		if err != nil {
			require.ErrorIs(t, err, game.ErrNoSurplus)
			return
		}
		for _, advice := range []game.Advice{fair, best} {
			h.Rules = advice.Rules
			require.Equal(t, h.Equilibrium(), advice.Result)
			require.GreaterOrEqual(t, advice.Rules.Escrow, choice.Least)
			require.LessOrEqual(t, advice.Rules.Escrow, choice.Most)
			fee := h.Rules.Negotiation().FeeOn(advice.Result.Price)
			require.Equal(t, h.Value-h.Cost,
				advice.Gains[game.Buyer]+advice.Gains[game.Seller]+fee+advice.Result.Decay)
		}
		require.GreaterOrEqual(t, best.Gains[game.Buyer], fair.Gains[game.Buyer])
	})
}
