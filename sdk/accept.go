package haggle

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// AcceptRequest says which offer a party accepts.
type AcceptRequest struct {
	// Acceptor is the party that did not make the offer; the midpoint of revealed prices, which nobody has made, either may accept:
	// see [protocol.Negotiation.CanAccept]. It signs.
	Acceptor solana.PublicKey
	// Seen is the negotiation as the acceptor has seen it. The program answers [protocol.ErrStaleState] if deal,
	// round, price or metadata are others by then.
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given; without Seen, Price has to be given, because nobody signs
	// blind.
	Negotiation solana.PublicKey
	// Price, if it is not zero, is what the acceptor expects the offer to be, in base units of the mint. Another one is
	// [ErrNotAsExpected].
	Price uint64
	// BuyerTokenAccount and SellerTokenAccount are where the two parties are paid. Zero is their
	// associated token account. The acceptor's own is created if it is missing. An amount that cannot be
	// paid is recorded for its party.
	BuyerTokenAccount, SellerTokenAccount solana.PublicKey
}

// Accept accepts the other side's offer, or the midpoint: the seller gets the price less the fee, the buyer the rest of the
// effective escrow, and a bond goes back to the seller. With milestones only the buyer is paid, and the price stays in escrow for
// them. (The documents call it acceptOffer.)
//
// The program answers [protocol.ErrInvalidState] without an offer, [protocol.ErrNoZopa] after prices without a zone, [protocol.ErrExpired], [protocol.ErrResponseWindowExpired], [protocol.ErrUnauthorized],
// [protocol.ErrStaleState], or [protocol.ErrNotYourTurn] to whoever made the offer.
func (c *Client) Accept(ctx context.Context, request AcceptRequest) (*Action, error) {
	if request.Seen == nil && request.Price == 0 {
		return nil, errors.New("haggle: accept_offer: neither Seen nor Price is given")
	}
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	if request.Price != 0 && request.Price != negotiation.CurrentOfferAmount {
		return nil, fmt.Errorf("%w: the offer is %d base units", ErrNotAsExpected, negotiation.CurrentOfferAmount)
	}
	to, err := c.payouts(ctx, negotiation, payoutRequest{
		payer: request.Acceptor,
		buyer: request.BuyerTokenAccount, seller: request.SellerTokenAccount,
	})
	if err != nil {
		return nil, err
	}
	return c.actionOn(negotiation, request.Acceptor, &protocol.AcceptOffer{
		Acceptor:           request.Acceptor,
		Negotiation:        negotiation.Address,
		BuyerTokenAccount:  to.buyer,
		SellerTokenAccount: to.seller,
		TokenMint:          negotiation.TokenMint,
		TokenProgram:       to.mint.TokenProgram,
		CreatedAt:          negotiation.CreatedAt,
		ExpectedRound:      negotiation.CurrentRound,
		ExpectedAmount:     negotiation.CurrentOfferAmount,
		ExpectedMetadata:   negotiation.Metadata,
	}, to.before...)
}
