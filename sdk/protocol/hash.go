package protocol

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
)

// ServiceHash returns the SHA-256 of a service description's UTF-8 bytes. Both parties must hash the same
// bytes; the description itself never goes on chain.
func ServiceHash(description string) [32]byte {
	return sha256.Sum256([]byte(description))
}

// EvidenceHash returns the SHA-256 of the evidence for a claimed or a disputed milestone. Only the hash goes
// on chain.
func EvidenceHash(content []byte) [32]byte { return sha256.Sum256(content) }

// TermsHash returns the SHA-256 over a negotiation's address and the account's 512 bytes: the terms accepted
// by the seller with accept_invitation. The account contains created_at, so the hash covers the deal.
func TermsHash(negotiation solana.PublicKey, data []byte) [32]byte {
	hash := sha256.New()
	hash.Write(negotiation[:])
	hash.Write(data)
	return [32]byte(hash.Sum(nil))
}

// ZopaCommitment returns the argument of submit_zopa_commitment: the SHA-256 of ZopaDomain, the negotiation's
// address, the negotiation's created_at as 8 little-endian bytes, the agent's address, the price (in the
// mint's base units) as 8 little-endian bytes, and the nonce. Neither the counterparty nor a later deal at
// that address can use it.
func ZopaCommitment(negotiation solana.PublicKey, createdAt int64, agent solana.PublicKey, price uint64, nonce [32]byte) [32]byte {
	content := append([]byte(ZopaDomain), negotiation[:]...)
	content = binary.LittleEndian.AppendUint64(content, uint64(createdAt))
	content = append(content, agent[:]...)
	content = binary.LittleEndian.AppendUint64(content, price)
	return sha256.Sum256(append(content, nonce[:]...))
}
