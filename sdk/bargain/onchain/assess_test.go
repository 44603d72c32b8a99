package onchain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// TestAssessmentMatchesTheStrategysMove assesses every turn of all strategies against each other. The target
// is the strategy's offer or, where the strategy accepts, the move it would make if the offer could not be
// accepted.
func TestAssessmentMatchesTheStrategysMove(t *testing.T) {
	offers, accepts := 0, 0
	for bought, buyer := range strategy.Named() {
		for sold, seller := range strategy.Named() {
			players := opponents(t, tenRounds, buyer, seller)
			n, made := tenRounds.Negotiation(), []onchain.Offer(nil)
			for ended := false; !ended; {
				side := n.Turn()
				player := players[side]
				want := player.Respond(n, side, made, 7)
				outcomes, standing := player.Outcomes(n, side, made)
				assessed := player.Assess(n, side, outcomes, standing, 7)
				require.Equal(t, want, assessed.Move, "%s, %s: round %d", bought, sold, n.CurrentRound)
				require.Equal(t, [3]int{int(side), int(n.MaxRounds), len(made)},
					[3]int{assessed.Self, assessed.Rounds, assessed.Round})
				require.Equal(t, standing, assessed.State.Offer)
				require.Len(t, assessed.State.History, len(made))
				player.Refuse = true
				refusing := player.Respond(n, side, made, 7)
				switch {
				case refusing.Move == bargain.MoveOffer:
					require.Equal(t, refusing.Outcome, assessed.Target)
				case assessed.CanOffer():
					require.Equal(t, bargain.NoOutcome, assessed.Target)
				}
				switch want.Move {
				case bargain.MoveOffer:
					offers++
					require.Equal(t, want.Outcome, assessed.Target)
					onchain.Apply(n, side, uint64(want.Outcome), 0)
					made = append(made, onchain.Offer{Side: side, Amount: uint64(want.Outcome)})
				default:
					ended = true
					if want.Move == bargain.MoveAccept {
						accepts++
					}
				}
			}
		}
	}
	require.Greater(t, offers, 1_000)
	require.Greater(t, accepts, 100)
}

// TestTargetIsKnownWhenNoRoundsAreLeft checks a linear buyer after the last offer: the target is the buyer's
// reservation price, although the buyer can only accept or end.
func TestTargetIsKnownWhenNoRoundsAreLeft(t *testing.T) {
	rules := tenRounds
	rules.MaxRounds = 2
	buyer, err := rules.Player(strategy.Linear(), protocol.OfferSideBuyer, 1_000_000, 3_500_000)
	require.NoError(t, err)
	n := rules.Negotiation()
	made := []onchain.Offer{{Side: onchain.Buyer, Amount: 1_000_000}, {Side: onchain.Seller, Amount: 3_600_000}}
	for _, offer := range made {
		onchain.Apply(n, offer.Side, offer.Amount, 0)
	}
	outcomes, standing := buyer.Outcomes(n, onchain.Buyer, made)
	assessed := buyer.Assess(n, onchain.Buyer, outcomes, standing, 1)
	require.Equal(t, bargain.MoveEnd, assessed.Move.Move)
	require.False(t, assessed.CanOffer())
	require.EqualValues(t, 3_500_000, assessed.Target)
}
