package hire

import (
	"bytes"
	"crypto/ed25519"
	"strings"

	"github.com/gagliardetto/solana-go/base58"
)

const (
	// didKey begins a did:key id in base58 (multibase "z").
	didKey = "did:key:z"
	// ed25519Key is the multicodec for Ed25519 public keys: 0xed as an unsigned varint.
	ed25519Key = "\xed\x01"
)

// DIDKey returns the key's id by the W3C method did:key.
func DIDKey(key ed25519.PublicKey) string {
	return didKey + base58.Encode(append([]byte(ed25519Key), key...))
}

// Address returns the key's id as a Solana address.
func Address(key ed25519.PublicKey) string { return base58.Encode(key) }

// KeyOf returns the key contained in an id: a Solana address or did:key with an Ed25519 key. It returns a
// [*Refusal] with [ReasonIdentity] for other ids and for non-canonical spellings.
func KeyOf(id string) (ed25519.PublicKey, error) {
	if encoded, is := strings.CutPrefix(id, didKey); is {
		decoded, err := base58.Decode(encoded)
		key, isKey := bytes.CutPrefix(decoded, []byte(ed25519Key))
		if err != nil || !isKey || len(key) != ed25519.PublicKeySize || base58.Encode(decoded) != encoded {
			return nil, refuse(ReasonIdentity, "id: not a did:key of an Ed25519 key")
		}
		return ed25519.PublicKey(key), nil
	}
	key, err := Base58(id).bytes()
	if err != nil {
		return nil, refuse(ReasonIdentity, "id: neither a Solana address nor a did:key")
	}
	return ed25519.PublicKey(key), nil
}
