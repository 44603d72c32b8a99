package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Six offers at 1.5 % decay cost 0.433458 of a deposit of 5; seven cost 0.501956. A buyer with a limit of 3.5
// in all accepts up to 3.066542, and offers up to 2.998044.
func TestBuyerPaysItsLimitInAll(t *testing.T) {
	n := bargaining(6)
	n.MaxRounds, n.DecayRateBps, n.EscrowAmount, n.EffectiveEscrow = 8, 150, 5_000_000, 4_566_542
	n.TokenMint = testMint
	turn := Turn{
		Negotiation: &haggle.Snapshot{Negotiation: n}, Side: protocol.OfferSideBuyer, Now: testNow,
		Deadline: n.TurnDeadline, Limits: Limits{MaxTotal: 3_500_000},
	}
	require.EqualError(t, validate(turn, Offer{Amount: 3_500_000}).(*InvalidDecision).Reason,
		"agent: price beyond the agent's limit: price 3500000 base units and decay 501956 base units, "+
			"at most 3500000 base units in all")
	require.ErrorIs(t, validate(turn, Offer{Amount: 2_998_045}), ErrBeyondLimit)
	require.NoError(t, validate(turn, Offer{Amount: 2_998_044}))
	price, err := turn.InRange(3_500_000)
	require.NoError(t, err)
	require.EqualValues(t, 2_998_044, price)

	turn.Negotiation.CurrentOfferAmount = 3_066_543
	require.ErrorIs(t, validate(turn, Accept{}), ErrBeyondLimit)
	turn.Negotiation.CurrentOfferAmount = 3_066_542
	require.NoError(t, validate(turn, Accept{}))

	turn.Limits.MaxTotal = 501_956 // nothing is left for a price
	_, err = turn.InRange(1)
	require.ErrorIs(t, err, ErrBeyondLimit)
}

// A strategy that would offer and accept up to 3.5 stays within the limit in all instead of making invalid
// decisions.
func TestPlayersStayWithinTheirMaxTotal(t *testing.T) {
	n := bargaining(6)
	n.MaxRounds, n.DecayRateBps, n.EscrowAmount, n.EffectiveEscrow = 8, 150, 5_000_000, 4_566_542
	for _, c := range []struct {
		standing uint64
		want     Decision
	}{
		{3_066_543, Offer{Amount: 2_998_044}},
		{3_066_542, Accept{}},
	} {
		n.CurrentOfferAmount = c.standing
		turn := Turn{
			Negotiation: &haggle.Snapshot{Negotiation: n}, Side: protocol.OfferSideBuyer, Now: testNow,
			Deadline: n.TurnDeadline, LastCall: true, Limits: Limits{MaxTotal: 3_500_000},
		}
		decision, err := Player{Strategy: strategy.Linear(), Opening: 2_000_000, Reservation: 3_500_000}.
			Decide(t.Context(), turn)
		require.NoError(t, err)
		require.Equal(t, c.want, decision)
		require.NoError(t, validate(turn, decision))
	}
}
