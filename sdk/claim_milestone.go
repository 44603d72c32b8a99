package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ClaimMilestoneRequest says which milestone a seller has reached.
type ClaimMilestoneRequest struct {
	// Seller signs.
	Seller solana.PublicKey
	// Seen is the negotiation, if it has been read already.
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// Index is the milestone, from 0.
	Index uint8
	// Evidence is a hash of the delivery, which only the event keeps: see [protocol.EvidenceHash]. Zero states none.
	Evidence [32]byte
}

// ClaimMilestone says that a milestone has been reached: the buyer has a review window to dispute it, after which anyone can
// release it. Only one can be under review at a time.
//
// The program answers [protocol.ErrInvalidParams] for a milestone that there is not, [protocol.ErrInvalidState] while another one is under review and
// for one that has been claimed before, [protocol.ErrExpired] from the milestones' deadline on, [protocol.ErrResponseWindowExpired] when less than a
// review window is left until then, [protocol.ErrUnauthorized], or [protocol.ErrStaleState] on another deal.
func (c *Client) ClaimMilestone(ctx context.Context, request ClaimMilestoneRequest) (*Action, error) {
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	return c.actionOn(negotiation, request.Seller, &protocol.ClaimMilestone{
		Seller:      request.Seller,
		Negotiation: negotiation.Address,
		CreatedAt:   negotiation.CreatedAt,
		Index:       request.Index,
		Evidence:    request.Evidence,
	})
}
