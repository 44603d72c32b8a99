package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ClaimMilestone states as the seller, who signs, that a milestone is reached: the buyer can dispute it
// within a review window, and then anyone can release it. Two milestones cannot be under review at a time.
// index is the milestone, from 0. evidence is the delivery's hash, recorded in the event alone: see
// [protocol.EvidenceHash]; zero states none.
//
// The program returns [protocol.ErrInvalidParams] for an unknown milestone, [protocol.ErrInvalidState] while
// another milestone is under review or if this milestone was already claimed, [protocol.ErrExpired] from the
// milestones' deadline on, [protocol.ErrResponseWindowExpired] when less than a review window is left until
// then, [protocol.ErrUnauthorized], or [protocol.ErrStaleState] for a different deal.
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
