package onchain

import "github.com/haggle-protocol/haggle/sdk/protocol"

// Metadata is the 64 bytes that an offer carries beside its price.
type Metadata [protocol.MaxMetadataLen]byte

// CommitmentMetadata returns the metadata of an offer that carries a commitment, and no terms beside the
// price.
func CommitmentMetadata(commitment [32]byte) Metadata {
	return protocol.Terms{StrategyHash: commitment}.Metadata()
}

// Commitment returns the commitment of an offer. It returns false if the offer carries none.
func (m Metadata) Commitment() (commitment [32]byte, ok bool) {
	decoded, err := protocol.DecodeMetadata(m)
	if err != nil || decoded.Terms == nil {
		return commitment, false
	}
	return decoded.Terms.StrategyHash, decoded.Terms.StrategyHash != commitment
}

// DocumentMetadata returns the metadata of an offer whose terms are in the document with a hash.
func DocumentMetadata(hash [32]byte) Metadata { return protocol.TermsDocument(hash).Metadata() }

// Document returns the hash of an offer's document. It returns false if the offer has none.
func (m Metadata) Document() (hash [32]byte, ok bool) {
	decoded, err := protocol.DecodeMetadata(m)
	if err != nil || decoded.Document == nil {
		return hash, false
	}
	return *decoded.Document, true
}

// IsPriceOnly reports whether an offer has no terms beside its price. A commitment is none.
func (m Metadata) IsPriceOnly() bool { return protocol.IsPriceOnly(m) }
