package haggle

import (
	"context"
	"fmt"

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
	// BuyerTokenAccount is where the escrow goes back to. Zero is the buyer's associated token account, which is created if it is
	// missing and the buyer rejects; what cannot be paid back is kept for the buyer.
	BuyerTokenAccount solana.PublicKey
}

// Reject walks away: the buyer gets the escrow back, less the decay of the rounds so far. (The documents call it
// rejectNegotiation.)
//
// The program answers [ErrInvalidState] once the negotiation has ended, [ErrExpired], [ErrResponseWindowExpired],
// [ErrUnauthorized], or [ErrStaleState].
func (c *Client) Reject(ctx context.Context, request RejectRequest) (*Action, error) {
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	buyer, before, err := c.refundAccount(ctx, negotiation, request.Rejector, request.BuyerTokenAccount)
	if err != nil {
		return nil, err
	}
	return c.newAction(negotiation.Address, request.Rejector, &RejectNegotiation{
		Rejector:          request.Rejector,
		Negotiation:       negotiation.Address,
		BuyerTokenAccount: buyer,
		TokenMint:         negotiation.TokenMint,
		ExpectedRound:     negotiation.CurrentRound,
	}, before...)
}

// refundAccount is the token account that the escrow goes back to. The buyer creates its own if it is missing.
func (c *Client) refundAccount(ctx context.Context, n *NegotiationAccount, acting, named solana.PublicKey) (account solana.PublicKey, before []solana.Instruction, err error) {
	if acting == n.Buyer {
		account, before, err = c.receivingAccount(ctx, named, acting, n.Buyer, n.TokenMint)
	} else {
		account, err = othersAccount(named, n.Buyer, n.TokenMint)
	}
	if err != nil {
		return solana.PublicKey{}, nil, fmt.Errorf("buyer's token account: %w", err)
	}
	return account, before, nil
}
