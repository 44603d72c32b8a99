package haggle

import (
	"crypto/sha256"

	"github.com/gagliardetto/solana-go"
)

// ServiceHash is the SHA-256 of a service's description, as its UTF-8 bytes are. Both parties have to hash the same bytes: the
// description itself never goes on chain.
func ServiceHash(description string) [32]byte {
	return sha256.Sum256([]byte(description))
}

// TermsHash is the SHA-256 of a negotiation's address and its account's 512 bytes: the terms that a seller agrees to with
// accept_invitation, and no others, even if the buyer creates the negotiation anew meanwhile.
func TermsHash(negotiation solana.PublicKey, data []byte) [32]byte {
	hash := sha256.New()
	hash.Write(negotiation[:])
	hash.Write(data)
	return [32]byte(hash.Sum(nil))
}
