package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// ErrMetadata: the metadata kind is unknown, or unused bytes are non-zero.
var ErrMetadata = errors.New("haggle: invalid metadata")

// Terms are structured metadata (kind 1) for offers and invitations: the terms besides the price. They
// contain no free text.
type Terms struct {
	// QualityTier is the agents' own scale.
	QualityTier uint8
	// SLAMillis is the time limit of the service in milliseconds.
	SLAMillis uint32
	// Quantity is the number of units that the price is for.
	Quantity uint32
	// StrategyHash commits to a strategy. It is shown in hexadecimal only.
	StrategyHash [32]byte
	// BenchmarkPrice is a comparison price in the mint's base units, from public information only, such as a
	// list price. The Nash price of the true reservation prices reveals them to the counterparty.
	BenchmarkPrice uint64
}

// Kind 1 field offsets.
const (
	termsTier      = 1
	termsSLA       = termsTier + 1
	termsQuantity  = termsSLA + 4
	termsStrategy  = termsQuantity + 4
	termsBenchmark = termsStrategy + 32
	termsEnd       = termsBenchmark + 8
)

// TermsDocument is metadata of kind 2: the SHA-256 over a canonical terms document, for deals about more than
// price. It is shown in hexadecimal only.
type TermsDocument [32]byte

// Metadata returns the 64 bytes on chain.
func (d TermsDocument) Metadata() (metadata [MaxMetadataLen]byte) {
	metadata[0] = MetadataTermsHash
	copy(metadata[1:], d[:])
	return metadata
}

// documentEnd is the first unused byte of kind 2.
const documentEnd = 1 + 32

// Metadata is decoded metadata. Both fields are nil for kind 0.
type Metadata struct {
	// Terms is not nil for kind 1.
	Terms *Terms
	// Document is not nil for kind 2.
	Document *TermsDocument
}

// SLA returns the time limit of the service.
func (t Terms) SLA() time.Duration { return time.Duration(t.SLAMillis) * time.Millisecond }

// Metadata returns the 64 bytes on chain.
func (t Terms) Metadata() (metadata [MaxMetadataLen]byte) {
	metadata[0] = MetadataTerms
	metadata[termsTier] = t.QualityTier
	binary.LittleEndian.PutUint32(metadata[termsSLA:], t.SLAMillis)
	binary.LittleEndian.PutUint32(metadata[termsQuantity:], t.Quantity)
	copy(metadata[termsStrategy:], t.StrategyHash[:])
	binary.LittleEndian.PutUint64(metadata[termsBenchmark:], t.BenchmarkPrice)
	return metadata
}

// IsPriceOnly reports whether metadata contains no terms beside the price. A strategy hash is none: it binds
// only the party that makes the offer.
func IsPriceOnly(metadata [MaxMetadataLen]byte) bool {
	if metadata[0] == MetadataTerms {
		clear(metadata[termsStrategy:termsBenchmark])
		metadata[0] = MetadataNone
	}
	return metadata == [MaxMetadataLen]byte{}
}

// DecodeMetadata decodes the 64 bytes on chain. It returns [ErrMetadata] whenever the program returns
// [ErrInvalidParams].
func DecodeMetadata(metadata [MaxMetadataLen]byte) (Metadata, error) {
	used := 1
	switch metadata[0] {
	case MetadataNone:
	case MetadataTerms:
		used = termsEnd
	case MetadataTermsHash:
		used = documentEnd
	default:
		return Metadata{}, fmt.Errorf("%w: kind %d", ErrMetadata, metadata[0])
	}
	for at, value := range metadata[used:] {
		if value != 0 {
			return Metadata{}, fmt.Errorf("%w: byte %d is %d, not zero", ErrMetadata, used+at, value)
		}
	}
	switch metadata[0] {
	case MetadataNone:
		return Metadata{}, nil
	case MetadataTermsHash:
		return Metadata{Document: new(TermsDocument(metadata[1:documentEnd]))}, nil
	}
	return Metadata{Terms: &Terms{
		QualityTier:    metadata[termsTier],
		SLAMillis:      binary.LittleEndian.Uint32(metadata[termsSLA:]),
		Quantity:       binary.LittleEndian.Uint32(metadata[termsQuantity:]),
		StrategyHash:   [32]byte(metadata[termsStrategy:termsBenchmark]),
		BenchmarkPrice: binary.LittleEndian.Uint64(metadata[termsBenchmark:]),
	}}, nil
}

// NashBenchmark returns the Nash bargaining solution's price, in the mint's base units, for two known
// reservation prices: the buyer's highest and the seller's lowest price. Of all prices p it maximizes the
// product of the parties' gains over having no deal (Nash 1950),
//
//	(most - p) * (p - least)
//
// for utilities that are linear in the price, and disagreement points of 0 on both sides. That is the middle,
// floor((most + least) / 2), which is also the midpoint of the program's sealed comparison. If there is no
// zone, because the buyer's highest price is less than the seller's lowest, there is no such price, and ok is
// false. Publish it once both parties have revealed their prices: a party that knows the own price and the
// middle also knows the counterparty's price.
func NashBenchmark(most, least uint64) (price uint64, ok bool) {
	if most < least {
		return 0, false
	}
	return least + (most-least)/2, true
}
