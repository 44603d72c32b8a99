package haggle

import (
	"context"
	"math"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// OfferRequest is a price that a party offers.
type OfferRequest struct {
	// Offerer is the party whose turn it is. It signs.
	Offerer solana.PublicKey
	// Seen is the negotiation as the offerer has seen it. The program answers [protocol.ErrStaleState] if the deal is
	// another one, or at another round by then.
	Seen *NegotiationAccount
	// Negotiation is its address, to offer on whatever the chain has now. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// Amount is the price in base units of the mint: see [protocol.Negotiation.OfferRange].
	Amount uint64
	// DeadlineExtension proposes to move the global deadline, rounded up to seconds; zero proposes nothing. If the other side's
	// offer before has proposed to as well, the deadline moves by the smaller of the two: up to 24 hours from creation, and so
	// that the milestones keep their time. Otherwise the proposal is pending until the other side's next offer.
	DeadlineExtension time.Duration
	// Metadata is structured: all zeros, or Terms.Metadata. Whoever accepts the offer accepts it, too.
	Metadata [64]byte
}

// Offer makes an offer or a counter-offer, which opens the next round and takes its decay from the escrow. (The documents call it
// submitOffer, and submitCounterOffer where the seller makes it.)
//
// The program answers [protocol.ErrInvalidState] before the invitation has been accepted and after the end, [protocol.ErrExpired],
// [protocol.ErrResponseWindowExpired], [protocol.ErrUnauthorized], [protocol.ErrStaleState], [protocol.ErrNotYourTurn], [protocol.ErrMaxRoundsReached], [protocol.ErrOfferTooLow],
// [protocol.ErrOfferExceedsEscrow], [protocol.ErrNoZopa] after prices without a zone, or [protocol.ErrInvalidParams] for metadata that is not structured and for
// an extension that goes too far.
func (c *Client) Offer(ctx context.Context, request OfferRequest) (*Action, error) {
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	extension := secondsOr(request.DeadlineExtension, 0)
	if extension < 0 || extension > math.MaxUint32 {
		return nil, protocol.Refuse("submit_offer", protocol.ErrInvalidParams, "the deadline cannot be extended by %s", request.DeadlineExtension)
	}
	return c.actionOn(negotiation, request.Offerer, &protocol.SubmitOffer{
		Offerer:           request.Offerer,
		Negotiation:       negotiation.Address,
		CreatedAt:         negotiation.CreatedAt,
		ExpectedRound:     negotiation.CurrentRound,
		Amount:            request.Amount,
		DeadlineExtension: uint32(extension),
		Metadata:          request.Metadata,
	})
}
