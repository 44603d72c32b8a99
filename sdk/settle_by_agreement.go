package haggle

import (
	"context"
	"errors"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// SettleByAgreementRequest is a split that both parties agree on.
type SettleByAgreementRequest struct {
	// Payer pays the transaction's fee. Zero is the buyer.
	Payer solana.PublicKey
	// Seen is the negotiation, if it has been read already. The program answers [protocol.ErrStaleState] if the deal
	// is another one, or another milestone is decided by then.
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// SellerBps is the seller's share of the undecided part of the price, 0 to 10,000 basis points, rounded
	// down. The protocol's fee comes out of it. The buyer gets the rest.
	SellerBps uint16
	// BondToBuyerBps is the buyer's share of a held bond, 0 to 10,000 basis points, rounded down. Without a
	// held bond it is 0.
	BondToBuyerBps uint16
	// ValidFor is the time until the agreement is void, from the chain's present, rounded up to seconds. Zero
	// is DefaultAgreementValidity. It also bounds a transaction with a durable nonce, which does not expire
	// by itself.
	ValidFor time.Duration
	// BuyerTokenAccount and SellerTokenAccount are where the two parties are paid. Zero is their
	// associated token account. The payer's own is created if it is missing. An amount that cannot be paid
	// is recorded for its party.
	BuyerTokenAccount, SellerTokenAccount solana.PublicKey
}

// DefaultAgreementValidity is the time after which an agreement is void if its request does not state one.
const DefaultAgreementValidity = time.Hour

// SettleByAgreement divides the undecided part of the price and the bond as both parties agree, and settles
// the negotiation. Both sign: with one process for both keys [Action.Do] takes two signers, otherwise one
// party signs [Action.Transaction] with [SignTransaction] and the other one completes it. A transaction
// without a durable nonce ([WithNonce]) is valid for about a minute.
//
// The program answers [protocol.ErrInvalidParams] for a share above the whole, [protocol.ErrInvalidState] unless a price is
// agreed on and for a share of a bond that is not held, [protocol.ErrExpired] after ValidFor, [protocol.ErrUnauthorized] for
// another pair of signers, or [protocol.ErrStaleState].
func (c *Client) SettleByAgreement(ctx context.Context, request SettleByAgreementRequest) (*Action, error) {
	if request.ValidFor < 0 {
		return nil, errors.New("haggle: settle_by_agreement: ValidFor must not be negative")
	}
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	now, err := c.Now(ctx)
	if err != nil {
		return nil, err
	}
	payer := nonZeroOr(request.Payer, negotiation.Buyer)
	to, err := c.payouts(ctx, negotiation, payoutRequest{
		payer: payer,
		buyer: request.BuyerTokenAccount, seller: request.SellerTokenAccount,
	})
	if err != nil {
		return nil, err
	}
	return c.actionOn(negotiation, payer, &protocol.SettleByAgreement{
		Buyer:              negotiation.Buyer,
		Seller:             negotiation.Seller,
		Negotiation:        negotiation.Address,
		BuyerTokenAccount:  to.buyer,
		SellerTokenAccount: to.seller,
		TokenMint:          negotiation.TokenMint,
		TokenProgram:       to.mint.TokenProgram,
		CreatedAt:          negotiation.CreatedAt,
		ExpectedDecided:    negotiation.MilestonesDecided,
		ValidUntil:         now + secondsOr(request.ValidFor, int64(DefaultAgreementValidity/time.Second)),
		SellerBps:          request.SellerBps,
		BondToBuyerBps:     request.BondToBuyerBps,
	}, to.before...)
}
