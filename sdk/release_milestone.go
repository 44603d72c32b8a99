package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
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
	// BuyerTokenAccount and SellerTokenAccount are where the two parties are paid: the seller its tranche,
	// and both their parts of a bond. Zero is their associated token account. The releaser's own is
	// created if it is missing. An amount that cannot be paid is recorded for its party.
	BuyerTokenAccount, SellerTokenAccount solana.PublicKey
}

// ReleaseMilestone pays the tranche of a milestone that is under review to the seller, less the fee. The last
// decided milestone settles the negotiation: the seller gets its bond back, except the share that the buyer
// got back of the price.
//
// The program answers [protocol.ErrInvalidParams] for a milestone that there is not, [protocol.ErrInvalidState] for one that is
// not under review, [protocol.ErrUnauthorized] to anyone but the buyer within the review window, or [protocol.ErrStaleState] on
// another deal.
func (c *Client) ReleaseMilestone(ctx context.Context, request ReleaseMilestoneRequest) (*Action, error) {
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	to, err := c.payouts(ctx, negotiation, payoutRequest{
		payer: request.Releaser,
		buyer: request.BuyerTokenAccount, seller: request.SellerTokenAccount,
		// The buyer gets a part of the bond if this release settles the negotiation after a refund.
		withoutBuyer: negotiation.HeldBond() == 0,
	})
	if err != nil {
		return nil, err
	}
	return c.actionOn(negotiation, request.Releaser, &protocol.ReleaseMilestone{
		Releaser:           request.Releaser,
		Negotiation:        negotiation.Address,
		BuyerTokenAccount:  to.buyer,
		SellerTokenAccount: to.seller,
		TokenMint:          negotiation.TokenMint,
		TokenProgram:       to.mint.TokenProgram,
		CreatedAt:          negotiation.CreatedAt,
		Index:              request.Index,
	}, to.before...)
}
