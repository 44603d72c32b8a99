package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// ErrMetadata: metadata of a kind that this version does not know, or with bytes that its kind does not use.
var ErrMetadata = errors.New("haggle: invalid metadata")

// Terms are structured metadata of kind 1, which an offer or an invitation can carry: what is offered besides the price. There
// is no free text in it.
type Terms struct {
	// QualityTier is the agents' own scale.
	QualityTier uint8
	// SLAMillis is the time that the service may take, in milliseconds.
	SLAMillis uint32
	// Quantity is the number of units that the price is for.
	Quantity uint32
	// StrategyHash commits to a strategy. It is shown in hexadecimal only.
	StrategyHash [32]byte
	// BenchmarkPrice is a price to compare with, in base units of the mint: for research, that of the Nash bargaining solution, see
	// [NashBenchmark].
	BenchmarkPrice uint64
}

// Where the fields of kind 1 begin, after the kind's byte.
const (
	termsTier      = 1
	termsSLA       = termsTier + 1
	termsQuantity  = termsSLA + 4
	termsStrategy  = termsQuantity + 4
	termsBenchmark = termsStrategy + 32
	termsEnd       = termsBenchmark + 8
)

// TermsDocument is metadata of kind 2: the SHA-256 of a canonical document of the terms, for deals about more
// than a price. It is shown in hexadecimal only.
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

// SLA is the time that the service may take.
func (t Terms) SLA() time.Duration { return time.Duration(t.SLAMillis) * time.Millisecond }

// Metadata are the 64 bytes on chain.
func (t Terms) Metadata() (metadata [MaxMetadataLen]byte) {
	metadata[0] = MetadataTerms
	metadata[termsTier] = t.QualityTier
	binary.LittleEndian.PutUint32(metadata[termsSLA:], t.SLAMillis)
	binary.LittleEndian.PutUint32(metadata[termsQuantity:], t.Quantity)
	copy(metadata[termsStrategy:], t.StrategyHash[:])
	binary.LittleEndian.PutUint64(metadata[termsBenchmark:], t.BenchmarkPrice)
	return metadata
}

// DecodeMetadata reads the 64 bytes on chain. The error is [ErrMetadata], for the same bytes for which the
// program answers [ErrInvalidParams].
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

// NashBenchmark is the price of the Nash bargaining solution, in base units of the mint, for reservation prices that are both
// known: the buyer's most and the seller's least. Of all prices p it maximises the product of what the two gain over having no deal
// (Nash 1950),
//
//	(most - p) * (p - least)
//
// for utilities that are linear in the price and disagreement points that are worth the same, zero, to both sides. That is the
// middle, floor((most + least) / 2), which is also the midpoint of the program's comparison under seal. Without a zone, where the
// buyer's most is below the seller's least, there is no such price, and ok is false.
func NashBenchmark(most, least uint64) (price uint64, ok bool) {
	if most < least {
		return 0, false
	}
	return least + (most-least)/2, true
}
