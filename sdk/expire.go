package haggle

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ExpireRequest says which negotiation is to end because its time is over.
type ExpireRequest struct {
	// Payer pays the transaction's fee, and signs. Anyone may.
	Payer solana.PublicKey
	// Seen is the negotiation, if it has been read already. It may have moved on since.
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// BuyerTokenAccount is where the escrow goes back to, SellerTokenAccount where a bond does. Zero is
	// the party's associated token account. The payer's own is created if it is missing. An amount that
	// cannot be paid is recorded for its party.
	BuyerTokenAccount, SellerTokenAccount solana.PublicKey
}

// Expire ends a negotiation whose deadline or response window has passed: the buyer gets the escrow back, less the decay of the
// rounds so far, and the seller its bond, which it forfeits to the buyer if it has not revealed its price in time. (The documents
// call it expireNegotiation.) The program answers [protocol.ErrInvalidState] once it has ended, and as long as someone may still act: see
// [protocol.Negotiation.IsOverdue].
func (c *Client) Expire(ctx context.Context, request ExpireRequest) (*Action, error) {
	if request.Payer.IsZero() {
		return nil, errors.New("haggle: expire_negotiation: Payer is not given")
	}
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	to, err := c.payouts(ctx, negotiation, payoutRequest{
		payer: request.Payer, buyer: request.BuyerTokenAccount, seller: request.SellerTokenAccount,
		withoutSeller: negotiation.BondRequired == 0, unpaidSeller: negotiation.HeldBond() == 0 || negotiation.SellerOwesReveal(),
	})
	if err != nil {
		return nil, err
	}
	return c.actionOn(negotiation, request.Payer, &protocol.ExpireNegotiation{
		Negotiation:        negotiation.Address,
		BuyerTokenAccount:  to.buyer,
		SellerTokenAccount: to.seller,
		TokenMint:          negotiation.TokenMint,
		TokenProgram:       to.mint.TokenProgram,
	}, to.before...)
}
