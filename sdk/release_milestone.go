package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"
)

// ReleaseMilestoneRequest says which claimed milestone is to be paid.
type ReleaseMilestoneRequest struct {
	// Releaser is the buyer; from the end of the review window on, anyone. It signs.
	Releaser solana.PublicKey
	// Seen is the negotiation, if it has been read already.
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// Index is the milestone, from 0.
	Index uint8
	// SellerTokenAccount is where the seller is paid. Zero is its associated token account, which is created if it is missing and
	// the seller releases; what cannot be paid is kept for the seller.
	SellerTokenAccount solana.PublicKey
}

// ReleaseMilestone pays the tranche of a milestone that is under review to the seller, less the fee. With the last one that is
// undecided the negotiation is settled, and the bond goes back to the seller.
//
// The program answers [ErrInvalidParams] for a milestone that there is not, [ErrInvalidState] for one that is not under review, or
// [ErrUnauthorized] to anyone but the buyer within the review window.
func (c *Client) ReleaseMilestone(ctx context.Context, request ReleaseMilestoneRequest) (*Action, error) {
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	to, err := c.sellersPayout(ctx, negotiation, request.Releaser, request.SellerTokenAccount)
	if err != nil {
		return nil, err
	}
	return c.actionOn(negotiation, request.Releaser, &ReleaseMilestone{
		Releaser:           request.Releaser,
		Negotiation:        negotiation.Address,
		SellerTokenAccount: to.seller,
		TokenMint:          negotiation.TokenMint,
		TokenProgram:       to.mint.TokenProgram,
		Index:              request.Index,
	}, to.before...)
}
