package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"
)

// OfferRequest is a price that a party offers.
type OfferRequest struct {
	// Offerer is the party whose turn it is. It signs.
	Offerer solana.PublicKey
	// Seen is the negotiation as the offerer has seen it. The program answers [ErrStaleState] if it is at another round by then.
	Seen *NegotiationAccount
	// Negotiation is its address, to offer on whatever the chain has now. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// Amount is the price in base units of the mint: see [Negotiation.OfferRange].
	Amount uint64
	// Metadata is structured: all zeros, or Terms.Metadata. Whoever accepts the offer accepts it, too.
	Metadata [64]byte
}

// Offer makes an offer or a counter-offer, which opens the next round and takes its decay from the escrow. (The documents call it
// submitOffer, and submitCounterOffer where the seller makes it.)
//
// The program answers [ErrInvalidState] before the invitation has been accepted and after the end, [ErrExpired],
// [ErrResponseWindowExpired], [ErrUnauthorized], [ErrStaleState], [ErrNotYourTurn], [ErrMaxRoundsReached], [ErrOfferTooLow],
// [ErrOfferExceedsEscrow], or [ErrInvalidParams] for metadata that is not structured.
func (c *Client) Offer(ctx context.Context, request OfferRequest) (*Action, error) {
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	return c.newAction(negotiation.Address, request.Offerer, &SubmitOffer{
		Offerer:       request.Offerer,
		Negotiation:   negotiation.Address,
		ExpectedRound: negotiation.CurrentRound,
		Amount:        request.Amount,
		Metadata:      request.Metadata,
	})
}
