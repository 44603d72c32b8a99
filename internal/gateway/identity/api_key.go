package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"strings"
	"time"
)

const (
	keyPrefix = "hgl_"
	keyBytes  = 32
	// KeyPattern matches API keys, for secret scanners.
	KeyPattern = `\bhgl_[a-z2-7]{58}\b`
	redacted   = keyPrefix + "[redacted]"
)

// keyEncoding uses no characters that end a double-click selection.
var keyEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// APIKey is an API key: "hgl_", then 256 random bits and the CRC-32 of everything before it in base32. It is
// secret: every way to print, log or encode it gives "hgl_[redacted]". The gateway stores only its
// [APIKey.Hash].
type APIKey struct{ text string }

// NewAPIKey returns a random key.
func NewAPIKey() APIKey {
	secret := make([]byte, keyBytes)
	_, _ = rand.Read(secret) // It never fails.
	return encodeKey(secret)
}

func encodeKey(secret []byte) APIKey {
	sum := crc32.ChecksumIEEE(append([]byte(keyPrefix), secret...))
	bytes := binary.BigEndian.AppendUint32(secret[:keyBytes:keyBytes], sum)
	return APIKey{keyPrefix + keyEncoding.EncodeToString(bytes)}
}

// ParseAPIKey parses an API key. It fails if the string is not a key or contains a typing error. The error
// never contains the string. The key can still be unknown, expired or revoked.
func ParseAPIKey(text string) (APIKey, error) {
	encoded, ok := strings.CutPrefix(text, keyPrefix)
	if !ok {
		return APIKey{}, errors.New("API key: does not begin with hgl_; use a key of this gateway")
	}
	bytes, err := keyEncoding.DecodeString(encoded)
	if err != nil || len(bytes) != keyBytes+4 {
		return APIKey{}, errors.New("API key: not hgl_ and 58 characters of a-z and 2-7; copy the whole key")
	}
	key := encodeKey(bytes[:keyBytes])
	if key.text != text {
		return APIKey{}, errors.New("API key: wrong checksum; copy the key again")
	}
	return key, nil
}

// Hash returns the key's SHA-256 in lowercase hexadecimal digits, used to find the key. The key has 256
// random bits, so a slow hash adds nothing.
func (k APIKey) Hash() string {
	sum := sha256.Sum256([]byte(k.text))
	return hex.EncodeToString(sum[:])
}

// Reveal returns the key text, to show it once to the owner.
func (k APIKey) Reveal() string { return k.text }

// String returns "hgl_[redacted]".
func (k APIKey) String() string { return redacted }

// Format prints "hgl_[redacted]", whatever the verb.
func (k APIKey) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, redacted) }

// LogValue returns "hgl_[redacted]".
func (k APIKey) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns "hgl_[redacted]".
func (k APIKey) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// KeyRecord is a stored API key: everything except the key text.
type KeyRecord struct {
	// ID names the key in lists and in the audit.
	ID string
	// Hash is [APIKey.Hash].
	Hash string
	// Kind and Owner identify the publisher or client owning the key. OwnerName is the registered name.
	Kind      Kind
	Owner     int64
	OwnerName string
	Scopes    []Scope
	// Expires is zero if the key does not expire, Revoked if it was not revoked.
	Expires, Revoked time.Time
	// Suspended is when the owner was suspended; zero if not.
	Suspended time.Time
}

// check returns an [*Error] unless the key is valid at the given time.
func (k KeyRecord) check(now time.Time) error {
	switch {
	case !k.Revoked.IsZero():
		return unauthenticated("api-key-revoked", "API key %s: revoked; ask the owner for a new key", k.ID)
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return unauthenticated("api-key-expired", "API key %s: expired at %s; ask the owner for a new key",
			k.ID, k.Expires.UTC().Format(time.RFC3339))
	}
	return suspended(k.Owner, k.Suspended)
}
