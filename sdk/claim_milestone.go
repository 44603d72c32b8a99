package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ClaimMilestone states as the seller, who signs, that a milestone has been reached: the buyer has a review
// window to dispute it, after which anyone can release it. Only one milestone can be under review at a time.
// index is the milestone, from 0. evidence is a hash of the delivery, which only the event contains: see
// [protocol.EvidenceHash]; zero states none.
//
// The program answers [protocol.ErrInvalidParams] for a milestone that does not exist,
// [protocol.ErrInvalidState] while another one is under review and for one that has been claimed before,
// [protocol.ErrExpired] from the milestones' deadline on, [protocol.ErrResponseWindowExpired] when less than
// a review window is left until then, [protocol.ErrUnauthorized], or [protocol.ErrStaleState] on another
// deal.
func (n *Negotiation) ClaimMilestone(seller solana.PublicKey, index uint8, evidence [32]byte) *Action {
	return n.actionBy(seller,
		&claimMilestone{protocol.ClaimMilestone{Seller: seller, Index: index, Evidence: evidence}})
}

type claimMilestone struct{ protocol.ClaimMilestone }

func (m claimMilestone) build(_ context.Context, a *Action) (*builtInstruction, error) {
	m.On(a.Negotiation, &a.snapshot.Negotiation)
	return &builtInstruction{payer: m.Seller, instruction: &m.ClaimMilestone}, nil
}

func (m claimMilestone) postcondition(_, now *Snapshot) bool {
	return now.MilestonesClaimed&(1<<m.Index) != 0
}
