package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"
)

// RejectRequest says which negotiation a party walks away from.
type RejectRequest struct {
	// Rejector is either party. It signs.
	Rejector solana.PublicKey
	// Seen is the negotiation as the rejector has seen it. The program answers [ErrStaleState] if it is at another round by then.
	Seen *NegotiationAccount
	// Negotiation is its address, to reject whatever the chain has now. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// BuyerTokenAccount is where the escrow goes back to, SellerTokenAccount where a bond does. Zero is the party's associated token
	// account, which is created if it is missing and the party rejects; what cannot be paid back is kept for its party.
	BuyerTokenAccount, SellerTokenAccount solana.PublicKey
}

// Reject walks away: the buyer gets the escrow back, less the decay of the rounds so far, and the seller its bond. A seller that
// rejects instead of revealing its price, having seen that the buyer has revealed its own, forfeits the bond to the buyer; if it has
// not seen that, the program answers [ErrStaleState]. (The documents call it rejectNegotiation.)
//
// The program answers [ErrInvalidState] once the negotiation has ended, [ErrExpired], [ErrResponseWindowExpired],
// [ErrUnauthorized], or [ErrStaleState].
func (c *Client) Reject(ctx context.Context, request RejectRequest) (*Action, error) {
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	to, err := c.refunds(ctx, negotiation, request.Rejector, request.BuyerTokenAccount, request.SellerTokenAccount)
	if err != nil {
		return nil, err
	}
	if negotiation.sellerOwesReveal() && request.Rejector == negotiation.Seller {
		// The seller has seen that this costs its bond. Named, the account would say that it expects the bond back.
		to.seller = solana.PublicKey{}
	}
	return c.actionOn(negotiation, request.Rejector, &RejectNegotiation{
		Rejector:           request.Rejector,
		Negotiation:        negotiation.Address,
		BuyerTokenAccount:  to.buyer,
		SellerTokenAccount: to.seller,
		TokenMint:          negotiation.TokenMint,
		TokenProgram:       to.mint.TokenProgram,
		ExpectedRound:      negotiation.CurrentRound,
	}, to.before...)
}
