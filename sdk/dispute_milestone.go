package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// DisputeMilestoneRequest says which claimed milestone a buyer does not agree with.
type DisputeMilestoneRequest struct {
	// Buyer signs.
	Buyer solana.PublicKey
	// Seen is the negotiation, if it has been read already.
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// Index is the milestone, from 0.
	Index uint8
	// Evidence is a hash of the complaint, which only the event keeps: see [protocol.EvidenceHash]. Zero states none.
	Evidence [32]byte
}

// DisputeMilestone hands a claimed milestone over to the arbiter, within its review window. The seller can claim the next one
// meanwhile. If the arbiter does not decide either, it is split in half at the end: see [Client.SettleDeadline].
//
// The program answers [protocol.ErrInvalidParams] for a milestone that there is not, [protocol.ErrInvalidState] for one that is not under review,
// [protocol.ErrResponseWindowExpired] after its review window, [protocol.ErrUnauthorized], or [protocol.ErrStaleState] on another deal.
func (c *Client) DisputeMilestone(ctx context.Context, request DisputeMilestoneRequest) (*Action, error) {
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	return c.actionOn(negotiation, request.Buyer, &protocol.DisputeMilestone{
		Buyer:       request.Buyer,
		Negotiation: negotiation.Address,
		CreatedAt:   negotiation.CreatedAt,
		Index:       request.Index,
		Evidence:    request.Evidence,
	})
}
