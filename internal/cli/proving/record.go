package proving

import (
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/indexer"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Publication describes the content of a side's first offer on chain, the only place for the commitment.
type Publication int

const (
	// Unknown: the index lacks the first offer or the offer metadata.
	Unknown Publication = iota
	// NoOffer: the side made no offer.
	NoOffer
	// NoCommitment: the first offer carries neither a commitment nor a document.
	NoCommitment
	// Commitment: the first offer carries a commitment.
	Commitment
	// Document: the first offer carries a document hash. The document text may contain a commitment.
	Document
)

// Record is an agent's negotiation in an index.
type Record struct {
	// Side is the agent's side.
	Side proof.Side
	// Published describes the agent's first offer. Hash is the commitment in it; zero if none.
	Published Publication
	Hash      proof.Hash

	// course is nil if the creation is unknown.
	course *course
	// gap is the reason why some moves are unknown; "" if all are known.
	gap string
}

// NewRecord returns a negotiation's record.
func NewRecord(n *indexer.AgentNegotiation) *Record {
	r := &Record{Side: proof.Seller}
	if n.IsBuyer {
		r.Side = proof.Buyer
	}
	if !n.Complete {
		r.gap = "events are missing"
	}
	hasOffer := false
	for _, item := range n.Events {
		if created, is := item.Event.(*protocol.NegotiationCreated); is {
			r.course = newCourse(created, solana.Signature{})
			continue
		}
		offer, is := item.Event.(*protocol.OfferSubmitted)
		if is && int(offer.Round) == firstOf(r.Side)+1 {
			hasOffer = true
			r.Published, r.Hash = publicationIn(item.Metadata)
		}
		if r.course != nil {
			r.add(item)
		}
	}
	if !hasOffer && n.Complete {
		r.Published = NoOffer
	}
	return r
}

// add adds a move to the course.
func (r *Record) add(item indexer.EventWithMetadata) {
	if !r.course.add(item.Event, solana.Signature{}) {
		r.gap = "an offer is missing"
	}
	offer, is := item.Event.(*protocol.OfferSubmitted)
	switch at := len(r.course.offers); {
	case !is || int(offer.Round) != at:
	case item.Metadata == nil:
		r.gap = fmt.Sprintf("the metadata of offer %d is missing", at)
	default:
		r.course.offers[at-1].Metadata = *item.Metadata
	}
}

// publicationIn interprets an offer's metadata; nil means unknown.
func publicationIn(metadata *[64]byte) (Publication, proof.Hash) {
	if metadata == nil {
		return Unknown, proof.Hash{}
	}
	carried := onchain.Metadata(*metadata)
	if commitment, is := carried.Commitment(); is {
		return Commitment, commitment
	}
	if _, is := carried.Document(); is {
		return Document, proof.Hash{}
	}
	return NoCommitment, proof.Hash{}
}

// CreatedAt returns the creation time in Unix seconds; false if unknown.
func (r *Record) CreatedAt() (int64, bool) {
	if r.course == nil {
		return 0, false
	}
	return r.course.terms.CreatedAt, true
}

// Compare compares a valid proof with the record, as [Compare] does with the chain. It returns ErrNoRecord if
// moves are unknown.
func (r *Record) Compare(p *proof.Proof) error {
	switch {
	case r.course == nil:
		return fmt.Errorf("%w: the creation is missing", ErrNoRecord)
	case r.gap != "":
		return fmt.Errorf("%w: %s", ErrNoRecord, r.gap)
	}
	return r.course.compare(p)
}
