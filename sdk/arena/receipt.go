package arena

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/strictjson"
)

// Receipt is the operator's promise that the market log contains the message at the stated time. Log times
// are unique, so receipts also fix the order.
type Receipt struct {
	Market string `json:"market"`
	Agent  string `json:"agent"`
	// Sequence is the message's.
	Sequence uint64 `json:"sequence"`
	// At is the operator's time, in microseconds.
	At time.Time `json:"at"`
	// Leaf is the message's salted hash, as published; see [Leaf].
	Leaf string `json:"leaf"`
	// Salt is part of the leaf, in lower-case hexadecimal digits.
	Salt string `json:"salt"`
	// Signature is the operator's signature, as base64url without padding.
	Signature string `json:"signature,omitempty"`
}

// SaltSize is the salt size in bytes.
const SaltSize = 16

// ParseSalt reads a salt in hexadecimal digits. It returns a [*Refusal] with [CodeSignature].
func ParseSalt(text string) (salt [SaltSize]byte, err error) {
	decoded, err := hex.DecodeString(text)
	if err != nil || len(decoded) != SaltSize {
		return salt, refuse(CodeSignature, "salt: must be %d hexadecimal digits", 2*SaltSize)
	}
	return [SaltSize]byte(decoded), nil
}

// Leaf returns SHA-256("haggle/arena/leaf/v1" ‖ salt ‖ text), in lower-case hexadecimal digits. Without the salt it shows
// nothing of the text.
func Leaf(salt [SaltSize]byte, text []byte) string {
	hash := sha256.New()
	hash.Write([]byte("haggle/arena/leaf/v1"))
	hash.Write(salt[:])
	hash.Write(text)
	return hex.EncodeToString(hash.Sum(nil))
}

// ReceiptFor returns the operator's receipt for an entry.
func ReceiptFor(operator ed25519.PrivateKey, e Entry) (Receipt, error) {
	draft := e.Message.Draft()
	r := Receipt{
		Market: draft.Market, Agent: e.Message.Agent(), Sequence: draft.Sequence, At: e.At, Leaf: e.Leaf(),
		Salt: hex.EncodeToString(e.Salt[:]),
	}
	signed, err := strictjson.Canonical(r)
	if err != nil {
		return r, fmt.Errorf("arena: %w", err)
	}
	r.Signature = encoding.EncodeToString(ed25519.Sign(operator, signed))
	return r, nil
}

// VerifySignature checks that the receipt is the operator's. It returns a [*Refusal] with [CodeSignature].
func (r Receipt) VerifySignature(operator string) error {
	key, err := KeyOf(operator)
	if err != nil {
		return err
	}
	signature, err := encoding.DecodeString(r.Signature)
	if err != nil {
		return refuse(CodeSignature, "receipt: not signed by the operator")
	}
	unsigned := r
	unsigned.Signature = ""
	signed, err := strictjson.Canonical(unsigned)
	if err != nil || !ed25519.Verify(key, signed, signature) {
		return refuse(CodeSignature, "receipt: not signed by the operator")
	}
	return nil
}

// Verify checks that the operator issued the receipt for the message. It returns a [*Refusal] with
// [CodeSignature].
func (r Receipt) Verify(operator string, m *Message) error {
	if err := r.VerifySignature(operator); err != nil {
		return err
	}
	salt, err := ParseSalt(r.Salt)
	if err != nil {
		return err
	}
	draft := m.Draft()
	if r.Market != draft.Market || r.Agent != m.Agent() || r.Sequence != draft.Sequence || r.Leaf != Leaf(salt, m.text) {
		return refuse(CodeSignature, "receipt: of another message")
	}
	return nil
}
