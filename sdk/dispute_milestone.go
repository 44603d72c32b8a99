package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// DisputeMilestone hands a claimed milestone over to the arbiter, as the buyer, who signs, within its review
// window. The seller can claim the next one meanwhile. If the arbiter does not decide, the milestone is split
// in half at the end: see [Negotiation.SettleDeadline]. index is the milestone, from 0. evidence is a hash of
// the complaint, which only the event contains: see [protocol.EvidenceHash]; zero states none.
//
// The program answers [protocol.ErrInvalidParams] for a milestone that does not exist,
// [protocol.ErrInvalidState] for one that is not under review, [protocol.ErrResponseWindowExpired] after its
// review window, [protocol.ErrUnauthorized], or [protocol.ErrStaleState] on another deal.
func (n *Negotiation) DisputeMilestone(buyer solana.PublicKey, index uint8, evidence [32]byte) *Action {
	return n.actionBy(buyer,
		&disputeMilestone{protocol.DisputeMilestone{Buyer: buyer, Index: index, Evidence: evidence}})
}

type disputeMilestone struct{ protocol.DisputeMilestone }

func (m disputeMilestone) build(_ context.Context, a *Action) (*builtInstruction, error) {
	m.On(a.Negotiation, &a.snapshot.Negotiation)
	return &builtInstruction{payer: m.Buyer, instruction: &m.DisputeMilestone}, nil
}

func (m disputeMilestone) postcondition(_, now *Snapshot) bool {
	return now.MilestonesDisputed&(1<<m.Index) != 0
}
