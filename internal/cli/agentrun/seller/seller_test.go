package seller

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/agentrun"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func newSeller() *seller {
	return &seller{
		Party: &agentrun.Party{
			Counterpart: solana.PublicKey{3}, Mint: solana.PublicKey{1}, ServiceHash: [32]byte{2}, Opening: 4_500_000, Reservation: 3_000_000,
		},
	}
}

// invitation returns a suitable invitation.
func (s *seller) invitation() *haggle.Snapshot {
	n := &haggle.Snapshot{}
	n.Buyer, n.TokenMint, n.ServiceHash = s.Counterpart, s.Mint, s.ServiceHash
	n.EscrowAmount, n.EffectiveEscrow, n.ProtocolFeeBps, n.DecayRateBps = 5_000_000, 5_000_000, 50, 150
	n.MaxRounds, n.MinOfferBps, n.GlobalDeadline = 8, 1_000, 1_000
	return n
}

func TestUnsuitableInvitationsAreDeclined(t *testing.T) {
	s := newSeller()
	for why, spoil := range map[string]func(n *haggle.Snapshot){
		"":                func(*haggle.Snapshot) {},
		"another service": func(n *haggle.Snapshot) { n.ServiceHash[0]++ },
		"another mint":    func(n *haggle.Snapshot) { n.TokenMint[0]++ },
		"does not cover":  func(n *haggle.Snapshot) { n.EscrowAmount = 3_000_000 },
		"sealed prices":   func(n *haggle.Snapshot) { n.ZopaEnabled = true },
		"a bond":          func(n *haggle.Snapshot) { n.BondRequired = 1 },
		"an arbiter":      func(n *haggle.Snapshot) { n.Arbiter[0]++ },
		"milestones":      func(n *haggle.Snapshot) { n.MilestoneBps[0] = 10_000 },
		"terms beside":    func(n *haggle.Snapshot) { n.Metadata = protocol.Terms{QualityTier: 1}.Metadata() },
	} {
		n := s.invitation()
		spoil(n)
		require.True(t, s.concerns(n), "an invitation is checked, and reported if it is unsuitable")
		err := s.admit(t.Context(), n)
		n.Status = protocol.NegotiationStatusProposed
		if why == "" {
			require.NoError(t, err)
			require.True(t, s.concerns(n))
			continue
		}
		require.ErrorIs(t, err, agent.ErrRefused)
		require.ErrorContains(t, err, why)
		require.False(t, s.concerns(n), "another process accepted it with the wallet")
	}
	stranger := s.invitation()
	stranger.Buyer[0]++
	require.False(t, s.concerns(stranger))
}

func TestReservationIsAfterTheFee(t *testing.T) {
	n := &haggle.Snapshot{}
	for _, bps := range []uint16{0, 1, 50, 500} {
		n.ProtocolFeeBps = bps
		for _, net := range []uint64{1, 999, 3_000_000, 1 << 60} {
			price := onchain.Gross(&n.Negotiation, net)
			require.Equal(t, net, price-n.FeeOn(price))
			require.Less(t, price-1-n.FeeOn(price-1), net)
		}
	}
}

func TestSellerConcedesToItsReservationAndNoFurther(t *testing.T) {
	s := newSeller()
	decide := func(round uint8, offered uint64, left int64) agent.Decision {
		n := s.invitation()
		n.Status, n.CurrentRound, n.CurrentOfferAmount = protocol.NegotiationStatusProposed, round, offered
		n.OfferSide, n.CurrentOfferBy = protocol.OfferSideBuyer, s.Counterpart
		decision, err := s.Play().Decide(t.Context(), agent.Turn{
			History: history(round, offered), Negotiation: n, Side: protocol.OfferSideSeller, Now: n.GlobalDeadline - left, Limits: agent.Limits{MinPrice: s.Reservation},
		})
		require.NoError(t, err)
		return decision
	}
	least := onchain.Gross(&s.invitation().Negotiation, s.Reservation)
	require.Equal(t, agent.Offer{Amount: 4_500_000}, decide(1, 2_000_000, 600))
	require.Equal(t, agent.Accept{}, decide(1, 4_500_000, 600))
	require.Equal(t, agent.Offer{Amount: least}, decide(7, least-1, 600), "its last offer")
	require.Equal(t, agent.Accept{}, decide(7, least, 600))
	require.Equal(t, agent.Offer{Amount: 4_500_000}, decide(1, least, 1), "the target holds to the end")
}

// history returns both sides' offers up to the given round; the latest offer is the buyer's.
func history(round uint8, offered uint64) (offers []agent.PastOffer) {
	for r := range round {
		offer := agent.PastOffer{Round: r + 1, Side: protocol.OfferSideBuyer, Amount: offered}
		if r%2 == 1 {
			offer.Side, offer.Amount = protocol.OfferSideSeller, 4_500_000
		}
		offers = append(offers, offer)
	}
	return offers
}
