package httpsig

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// Thumbprint returns a key's JWK thumbprint as base64url (RFC 7638; RFC 8037, appendix A.3), the key ID in
// Web Bot Auth.
func Thumbprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + EncodePublicKey(key) + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// EncodePublicKey returns a key as base64url, the JWK member "x" and the key ID of [TagHaggle].
func EncodePublicKey(key ed25519.PublicKey) string { return base64.RawURLEncoding.EncodeToString(key) }

// DecodePublicKey returns the key that [EncodePublicKey] encodes.
func DecodePublicKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("public key: not %d bytes in base64url without padding; send the \"x\" of its JWK",
			ed25519.PublicKeySize)
	}
	return key, nil
}
