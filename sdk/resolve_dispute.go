package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ResolveDisputeRequest is an arbiter's decision.
type ResolveDisputeRequest struct {
	// Arbiter is the one that the negotiation has been created with. It signs.
	Arbiter solana.PublicKey
	// Seen is the negotiation, if it has been read already.
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// Index is the disputed milestone, from 0.
	Index uint8
	// SellerBps is the seller's part of the tranche, 0 to 10,000 basis points, rounded down; the buyer gets the rest.
	SellerBps uint16
	// ForfeitBond has the seller's bond go to the buyer, at once.
	ForfeitBond bool
	// BuyerTokenAccount and SellerTokenAccount are where the two parties are paid. Zero is their
	// associated token account. An amount that cannot be paid is recorded for its party.
	BuyerTokenAccount, SellerTokenAccount solana.PublicKey
}

// ResolveDispute divides the tranche of a disputed milestone between seller and buyer. The last decided
// milestone settles the negotiation: the seller gets its bond back, except the share that the buyer got back
// of the price, unless it is forfeited.
//
// The program answers [protocol.ErrInvalidParams] for a milestone that there is not or more than 10,000 basis points,
// [protocol.ErrInvalidState] for one that is not disputed and for a bond that is not held, [protocol.ErrExpired] from
// [protocol.Negotiation.ArbitrationDeadline] on, [protocol.ErrUnauthorized], or [protocol.ErrStaleState] on another deal.
func (c *Client) ResolveDispute(ctx context.Context, request ResolveDisputeRequest) (*Action, error) {
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	to, err := c.payouts(ctx, negotiation, payoutRequest{
		payer: request.Arbiter, buyer: request.BuyerTokenAccount, seller: request.SellerTokenAccount,
	})
	if err != nil {
		return nil, err
	}
	return c.actionOn(negotiation, request.Arbiter, &protocol.ResolveDispute{
		Arbiter:            request.Arbiter,
		Negotiation:        negotiation.Address,
		BuyerTokenAccount:  to.buyer,
		SellerTokenAccount: to.seller,
		TokenMint:          negotiation.TokenMint,
		TokenProgram:       to.mint.TokenProgram,
		CreatedAt:          negotiation.CreatedAt,
		Index:              request.Index,
		SellerBps:          request.SellerBps,
		ForfeitBond:        request.ForfeitBond,
	}, to.before...)
}
