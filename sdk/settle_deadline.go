package haggle

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"
)

// SettleDeadlineRequest says which negotiation is to be settled because the time for its milestones is over.
type SettleDeadlineRequest struct {
	// Payer pays the transaction's fee, and signs. Anyone may.
	Payer solana.PublicKey
	// Seen is the negotiation, if it has been read already. Nothing of it but what never changes is used.
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// BuyerTokenAccount and SellerTokenAccount are where the two parties are paid. Zero is their associated token account, of which
	// the payer's own is created if it is missing; what cannot be paid is kept for its party.
	BuyerTokenAccount, SellerTokenAccount solana.PublicKey
}

// SettleDeadline decides all milestones that are undecided: one under review is paid, disputed ones are split in half, unclaimed
// ones go back to the buyer. The negotiation is settled then, and the bond goes back to the seller.
//
// The program answers [ErrInvalidState] before [Negotiation.SettleDueAt] and without milestones under way.
func (c *Client) SettleDeadline(ctx context.Context, request SettleDeadlineRequest) (*Action, error) {
	if request.Payer.IsZero() {
		return nil, errors.New("haggle: settle_deadline: Payer is not given")
	}
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	to, err := c.payouts(ctx, negotiation, request.Payer, request.BuyerTokenAccount, request.SellerTokenAccount)
	if err != nil {
		return nil, err
	}
	return c.actionOn(negotiation, request.Payer, &SettleDeadline{
		Negotiation:        negotiation.Address,
		BuyerTokenAccount:  to.buyer,
		SellerTokenAccount: to.seller,
		TokenMint:          negotiation.TokenMint,
		TokenProgram:       to.mint.TokenProgram,
	}, to.before...)
}
