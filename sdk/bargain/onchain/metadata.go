package onchain

import "github.com/haggle-protocol/haggle/sdk/protocol"

// Metadata holds the 64 bytes that an offer carries beside the price.
type Metadata [protocol.MaxMetadataLen]byte

// CommitmentMetadata returns the metadata for an offer with a commitment, and no terms beside the price.
func CommitmentMetadata(commitment [32]byte) Metadata {
	return protocol.Terms{StrategyHash: commitment}.Metadata()
}

// Commitment returns the offer's commitment, and false if none exists.
func (m Metadata) Commitment() (commitment [32]byte, ok bool) {
	decoded, err := protocol.DecodeMetadata(m)
	if err != nil || decoded.Terms == nil {
		return commitment, false
	}
	return decoded.Terms.StrategyHash, decoded.Terms.StrategyHash != commitment
}

// DocumentMetadata returns the metadata for an offer with terms in the document identified by hash.
func DocumentMetadata(hash [32]byte) Metadata { return protocol.TermsDocument(hash).Metadata() }

// Document returns the hash identifying the offer's document, and false if none exists.
func (m Metadata) Document() (hash [32]byte, ok bool) {
	decoded, err := protocol.DecodeMetadata(m)
	if err != nil || decoded.Document == nil {
		return hash, false
	}
	return *decoded.Document, true
}

// IsPriceOnly reports whether the price is the offer's only term. Commitments do not count as terms.
func (m Metadata) IsPriceOnly() bool { return protocol.IsPriceOnly(m) }
