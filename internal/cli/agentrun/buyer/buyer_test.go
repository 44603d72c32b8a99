package buyer

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/agentrun"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestBuyerConcedesToItsReservationAndNoFurther(t *testing.T) {
	b := &buyer{Party: &agentrun.Party{Self: solana.PublicKey{1}, Opening: 2_000_000, Reservation: 3_500_000}}
	seller := solana.PublicKey{2}
	decide := func(round uint8, asked uint64, left int64, change ...func(*haggle.Snapshot)) agent.Decision {
		n := &haggle.Snapshot{}
		n.Buyer, n.Seller, n.Status, n.CurrentRound, n.MaxRounds = b.Self, seller, protocol.NegotiationStatusProposed, round, 8
		n.EscrowAmount, n.EffectiveEscrow, n.MinOfferBps, n.GlobalDeadline = 5_000_000, 5_000_000, 1_000, 1_000
		if round > 0 {
			n.CurrentOfferAmount, n.OfferSide, n.CurrentOfferBy = asked, protocol.OfferSideSeller, seller
		}
		for _, alter := range change {
			alter(n)
		}
		decision, err := b.Play().Decide(t.Context(), agent.Turn{
			History: history(round, asked), Negotiation: n, Side: protocol.OfferSideBuyer, Now: n.GlobalDeadline - left, Limits: agent.Limits{MaxTotal: b.Reservation},
		})
		require.NoError(t, err)
		return decision
	}
	other := func(n *haggle.Snapshot) { n.Metadata = protocol.Terms{QualityTier: 1}.Metadata() }
	require.Equal(t, agent.Offer{Amount: 2_000_000}, decide(0, 0, 600))
	require.Equal(t, agent.Offer{Amount: 2_500_000}, decide(2, 4_500_000, 600))
	require.Equal(t, agent.Accept{}, decide(2, 2_500_000, 600))
	require.Equal(t, agent.Offer{Amount: 2_500_000}, decide(2, 1_000_000, 600, other), "it promises something else")
	require.Equal(t, agent.Offer{Amount: 3_500_000}, decide(6, 3_500_001, 600), "its last offer")
	require.Equal(t, agent.Accept{}, decide(8, 3_500_000, 600))
	require.Equal(t, agent.Reject{}, decide(8, 3_500_001, 600), "no offer is left")
	require.Equal(t, agent.Offer{Amount: 2_500_000}, decide(2, 3_500_000, 1), "the target holds to the end")
}

// history returns both sides' offers up to the given round; the latest offer is the seller's.
func history(round uint8, asked uint64) (offers []agent.PastOffer) {
	for r := range round {
		offer := agent.PastOffer{Round: r + 1, Side: protocol.OfferSideBuyer, Amount: 2_000_000}
		if r%2 == 1 {
			offer.Side, offer.Amount = protocol.OfferSideSeller, asked
		}
		offers = append(offers, offer)
	}
	return offers
}
