package protocol

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
)

func TestDescribe(t *testing.T) {
	offered := func(round uint8, side OfferSide) func(*Negotiation) {
		return func(n *Negotiation) {
			n.Status, n.CurrentRound, n.OfferSide = NegotiationStatusCountered, round, side
			n.CurrentOfferBy = n.Party(side)
		}
	}
	phase := func(phase ZopaPhase, buyers uint64) func(*Negotiation) {
		return func(n *Negotiation) { n.ZopaPhase, n.BuyerPrice = phase, buyers }
	}
	milestones := func(claimed, disputed, decided uint8) func(*Negotiation) {
		return func(n *Negotiation) {
			n.Status, n.MilestoneBps = NegotiationStatusAccepted, [8]uint16{3_000, 3_000, 4_000}
			n.MilestonesClaimed, n.MilestonesDisputed, n.MilestonesDecided = claimed, disputed, decided
		}
	}
	over := func(status NegotiationStatus, buyer, seller uint64) func(*Negotiation) {
		return func(n *Negotiation) {
			n.Status, n.ClaimableBuyer, n.ClaimableSeller = status, buyer, seller
			n.ZopaPhase, n.BuyerPrice, n.SellerPrice = ZopaPhaseRevealed, 1, 1
		}
	}
	for _, c := range []struct {
		change func(*Negotiation)
		want   string
	}{
		{func(n *Negotiation) { n.Status = NegotiationStatusCreated }, "waiting for the seller to accept the invitation"},
		{phase(ZopaPhaseNotStarted, 0), "waiting for the buyer to commit to its reservation price"},
		{phase(ZopaPhaseBuyerCommitted, 0), "waiting for the seller to commit to its reservation price"},
		{phase(ZopaPhaseBothCommitted, 0), "waiting for the buyer to reveal its reservation price"},
		{phase(ZopaPhaseBothCommitted, 5), "waiting for the seller to reveal its reservation price"},
		{func(n *Negotiation) { n.ZopaPhase, n.CurrentOfferBy = ZopaPhaseRevealed, ProgramID }, "the midpoint of the reservation prices stands: either side may accept it, and the buyer may offer another price"},
		{phase(ZopaPhaseSkipped, 0), "waiting for the buyer's opening offer"},
		{offered(1, OfferSideBuyer), "waiting for the seller to answer the buyer's offer"},
		{offered(2, OfferSideSeller), "waiting for the buyer to answer the seller's offer"},
		{offered(10, OfferSideSeller), "waiting for the buyer to accept or reject the last offer"},
		{milestones(0, 0, 0), "agreed; waiting for the seller to claim a milestone"},
		{milestones(0b010, 0, 0), "agreed; milestone 1 is under the buyer's review"},
		{milestones(0b011, 0b001, 0), "agreed; milestone 1 is under the buyer's review, and 1 for the arbiter to decide"},
		{milestones(0b001, 0b001, 0), "agreed; waiting for the seller to claim a milestone, and 1 for the arbiter to decide"},
		{milestones(0b111, 0b110, 0b001), "agreed; waiting for the arbiter to decide"},
		{over(NegotiationStatusSettled, 0, 0), "settled"},
		{over(NegotiationStatusSettled, 0, 1), "settled; the seller has a payout to claim"},
		{over(NegotiationStatusExpired, 1, 0), "expired; the buyer has a payout to claim"},
		{over(NegotiationStatusRejected, 1, 1), "rejected; both sides have a payout to claim"},
		{func(n *Negotiation) { over(NegotiationStatusRejected, 0, 0)(n); n.SellerPrice = 2 }, "ended: the reservation prices left no room for a deal"},
		{func(n *Negotiation) { n.Status = 9 }, "NegotiationStatus(9)"},
	} {
		n := &Negotiation{
			Buyer: solana.PublicKey{1}, Seller: solana.PublicKey{2}, MaxRounds: 10,
			Status: NegotiationStatusProposed, ZopaEnabled: true,
		}
		c.change(n)
		assert.Equal(t, c.want, n.Describe())
	}
}
