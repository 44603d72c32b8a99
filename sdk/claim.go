package haggle

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ClaimRequest says what a party fetches that could not be paid to it.
type ClaimRequest struct {
	// Party is the buyer or the seller. It signs.
	Party solana.PublicKey
	// Seen is the negotiation as the party has seen it. The program answers [protocol.ErrStaleState] if the deal is
	// another one, or another amount is recorded by then.
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// Destination is the token account to be paid to, whoever owns it: the program does not ask. Zero is the party's associated
	// token account, which is created if it is missing. An account that only the node names is never taken.
	Destination solana.PublicKey
}

// ClaimPayout fetches everything that is kept for a party. Without Destination it fails with an [*AccountError] if the party's
// associated token account cannot receive: then one has to be given.
//
// The program answers [protocol.ErrInvalidParams] if that is nothing, [protocol.ErrInvalidState] before a price is agreed on or the negotiation is over,
// [protocol.ErrUnauthorized], [protocol.ErrStaleState], [protocol.ErrConstraintRaw] if the destination cannot receive, or [protocol.ErrPayoutPending] while the vault
// is frozen.
func (c *Client) ClaimPayout(ctx context.Context, request ClaimRequest) (*Action, error) {
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	mint, err := c.GetMint(ctx, negotiation.TokenMint)
	if err != nil {
		return nil, fmt.Errorf("mint: %w", err)
	}
	destination, before, err := c.claimingAccount(ctx, request.Destination, request.Party, mint)
	if err != nil {
		return nil, fmt.Errorf("destination: %w", err)
	}
	return c.actionOn(negotiation, request.Party, &protocol.ClaimPayout{
		Party:                   request.Party,
		Negotiation:             negotiation.Address,
		DestinationTokenAccount: destination,
		TokenMint:               negotiation.TokenMint,
		TokenProgram:            mint.TokenProgram,
		CreatedAt:               negotiation.CreatedAt,
		Amount:                  negotiation.ClaimableOf(request.Party),
	}, before...)
}
