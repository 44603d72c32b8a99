package haggle

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"
)

// ExpireRequest says which negotiation is to end because its time is over.
type ExpireRequest struct {
	// Payer pays the transaction's fee, and signs. Anyone may.
	Payer solana.PublicKey
	// Seen is the negotiation, if it has been read already. Nothing of it but what never changes is used.
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// BuyerTokenAccount is where the escrow goes back to. Zero is the buyer's associated token account, which is created if it is
	// missing and the buyer pays; what cannot be paid back is kept for the buyer.
	BuyerTokenAccount solana.PublicKey
}

// Expire ends a negotiation whose deadline or response window has passed: the buyer gets the escrow back, less the decay of the
// rounds so far. (The documents call it expireNegotiation.) The program answers [ErrInvalidState] once it has ended, and as long
// as someone may still act: see [Negotiation.IsOverdue].
func (c *Client) Expire(ctx context.Context, request ExpireRequest) (*Action, error) {
	if request.Payer.IsZero() {
		return nil, errors.New("haggle: expire_negotiation: Payer is not given")
	}
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	buyer, before, err := c.refundAccount(ctx, negotiation, request.Payer, request.BuyerTokenAccount)
	if err != nil {
		return nil, err
	}
	return c.newAction(negotiation.Address, request.Payer, &ExpireNegotiation{
		Negotiation:       negotiation.Address,
		BuyerTokenAccount: buyer,
		TokenMint:         negotiation.TokenMint,
	}, before...)
}
