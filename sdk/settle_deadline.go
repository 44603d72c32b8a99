package haggle

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// SettleDeadlineRequest says which negotiation is to be settled because the time for its milestones is over.
type SettleDeadlineRequest struct {
	// Payer pays the transaction's fee, and signs. Anyone may.
	Payer solana.PublicKey
	// Seen is the negotiation, if it has been read already. Nothing of it but what never changes is used.
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// BuyerTokenAccount and SellerTokenAccount are where the two parties are paid. Zero is their
	// associated token account. The payer's own is created if it is missing. An amount that cannot be paid
	// is recorded for its party.
	BuyerTokenAccount, SellerTokenAccount solana.PublicKey
}

// SettleDeadline decides all milestones that are undecided: one under review is paid, disputed ones are split
// in half, unclaimed ones go back to the buyer. It settles the negotiation: the seller gets its bond back,
// except the share of the price that goes back to the buyer for unclaimed milestones or that the arbiter gave
// to the buyer.
//
// The program answers [protocol.ErrInvalidState] before [protocol.Negotiation.SettleDueAt] and without milestones under way.
func (c *Client) SettleDeadline(ctx context.Context, request SettleDeadlineRequest) (*Action, error) {
	if request.Payer.IsZero() {
		return nil, errors.New("haggle: settle_deadline: Payer is not given")
	}
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	to, err := c.payouts(ctx, negotiation, payoutRequest{
		payer: request.Payer, buyer: request.BuyerTokenAccount, seller: request.SellerTokenAccount,
	})
	if err != nil {
		return nil, err
	}
	return c.actionOn(negotiation, request.Payer, &protocol.SettleDeadline{
		Negotiation:        negotiation.Address,
		BuyerTokenAccount:  to.buyer,
		SellerTokenAccount: to.seller,
		TokenMint:          negotiation.TokenMint,
		TokenProgram:       to.mint.TokenProgram,
	}, to.before...)
}
