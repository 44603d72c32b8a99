package haggle

import (
	"crypto/sha256"
	"encoding/binary"

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

// ZopaCommitment is the SHA-256 of ZopaDomain, the negotiation's address, the agent's, the price in base units of the mint as 8 bytes
// little endian, and the nonce: what a party commits to with submit_zopa_commitment. It is of no use to anyone else, because it
// contains whose it is.
func ZopaCommitment(negotiation, agent solana.PublicKey, price uint64, nonce [32]byte) [32]byte {
	content := append([]byte(ZopaDomain), negotiation[:]...)
	content = append(content, agent[:]...)
	content = binary.LittleEndian.AppendUint64(content, price)
	return sha256.Sum256(append(content, nonce[:]...))
}
