package haggle

import (
	"context"
	"math"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/optional"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Offer is a price offered by a party.
type Offer struct {
	// Amount is the price in the mint's base units: see [protocol.Negotiation.OfferRange].
	Amount uint64
	// DeadlineExtension proposes to move the global deadline, rounded up to seconds; zero proposes nothing.
	// If the counterparty's previous offer proposed an extension as well, the deadline moves by the smaller
	// of the two: up to 24 hours from creation, and so that the milestones keep their time. Otherwise the
	// proposal is pending until the counterparty's next offer.
	DeadlineExtension time.Duration
	// Metadata is structured: all zeros, or Terms.Metadata. Accepting the offer accepts the metadata.
	Metadata [64]byte
}

// SubmitOffer makes an offer or a counter-offer as the party whose turn it is, which signs. It opens the next
// round and takes the round's decay from the escrow.
//
// The program returns [protocol.ErrInvalidState] before the invitation is accepted and after the end,
// [protocol.ErrExpired], [protocol.ErrResponseWindowExpired], [protocol.ErrUnauthorized],
// [protocol.ErrStaleState], [protocol.ErrNotYourTurn], [protocol.ErrMaxRoundsReached],
// [protocol.ErrOfferTooLow], [protocol.ErrOfferExceedsEscrow], [protocol.ErrNoZopa] if the revealed prices do
// not overlap, or [protocol.ErrInvalidParams] for unstructured metadata or an extension beyond the limits.
func (n *Negotiation) SubmitOffer(offerer solana.PublicKey, offer Offer) *Action {
	return n.actionBy(offerer, &submitOffer{protocol.SubmitOffer{
		Offerer: offerer, Amount: offer.Amount, Metadata: offer.Metadata,
	}, offer.DeadlineExtension})
}

type submitOffer struct {
	protocol.SubmitOffer
	extension time.Duration
}

func (s submitOffer) build(_ context.Context, a *Action) (*builtInstruction, error) {
	extension := optional.Seconds(s.extension, 0)
	if extension < 0 || extension > math.MaxUint32 {
		return nil, protocol.Refuse(a.Name, protocol.ErrInvalidParams,
			"the deadline cannot be extended by %s", s.extension)
	}
	s.On(a.Negotiation, &a.snapshot.Negotiation)
	s.DeadlineExtension = uint32(extension)
	return &builtInstruction{payer: s.Offerer, instruction: &s.SubmitOffer}, nil
}

func (s submitOffer) postcondition(before, now *Snapshot) bool {
	return now.CurrentRound == before.CurrentRound+1 && now.CurrentOfferBy == s.Offerer &&
		now.CurrentOfferAmount == s.Amount && now.Metadata == s.Metadata
}
