package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// DisputeMilestone hands a claimed milestone over to the arbiter, as the buyer, who signs, within the review
// window. The seller can claim the next milestone meanwhile. If the arbiter does not decide, the milestone is
// split in half at the end: see [Negotiation.SettleDeadline]. index is the milestone, from 0. evidence is the
// complaint's hash, recorded in the event alone: see [protocol.EvidenceHash]; zero states none.
//
// The program returns [protocol.ErrInvalidParams] for an unknown milestone, [protocol.ErrInvalidState] if the
// milestone is not under review, [protocol.ErrResponseWindowExpired] once the review window is over,
// [protocol.ErrUnauthorized], or [protocol.ErrStaleState] for a different deal.
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
