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
	// KeyPattern is the regular expression of API keys for secret scanners.
	KeyPattern = `\bhgl_[a-z2-7]{58}\b`
	redacted   = keyPrefix + "[redacted]"
)

// keyEncoding has no characters at which a double click ends.
var keyEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// APIKey is the text of an API key: "hgl_", then 256 random bits and the CRC-32 of all before it in base32.
// It is secret: every way to print, log or encode it gives "hgl_[redacted]". The gateway stores only its
// [APIKey.Hash].
type APIKey struct{ text string }

// NewAPIKey returns a random key.
func NewAPIKey() APIKey {
	secret := make([]byte, keyBytes)
	_, _ = rand.Read(secret) // It never returns an error.
	return encodeKey(secret)
}

func encodeKey(secret []byte) APIKey {
	sum := crc32.ChecksumIEEE(append([]byte(keyPrefix), secret...))
	bytes := binary.BigEndian.AppendUint32(secret[:keyBytes:keyBytes], sum)
	return APIKey{keyPrefix + keyEncoding.EncodeToString(bytes)}
}

// ParseAPIKey returns the key with a text. It returns an error if the text is not a key or has a typing
// error. The error never contains the text. The key can still be unknown, expired or revoked.
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

// Hash returns the SHA-256 of the key's text in lowercase hexadecimal digits, by which the gateway finds it.
// The key has 256 random bits, so a slow hash adds nothing.
func (k APIKey) Hash() string {
	sum := sha256.Sum256([]byte(k.text))
	return hex.EncodeToString(sum[:])
}

// Reveal returns the text, to show it once to its owner.
func (k APIKey) Reveal() string { return k.text }

// String returns "hgl_[redacted]".
func (k APIKey) String() string { return redacted }

// Format prints "hgl_[redacted]", whatever the verb.
func (k APIKey) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, redacted) }

// LogValue returns "hgl_[redacted]".
func (k APIKey) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns "hgl_[redacted]".
func (k APIKey) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// KeyRecord is a stored API key: everything except its text.
type KeyRecord struct {
	// ID names the key in lists and in the audit.
	ID string
	// Hash is [APIKey.Hash].
	Hash string
	// Kind and Owner are the publisher or client of the key. OwnerName is the name of its registration.
	Kind      Kind
	Owner     int64
	OwnerName string
	Scopes    []Scope
	// Expires is zero for a key that does not expire. Revoked is zero for a key that is not revoked.
	Expires, Revoked time.Time
	// Suspended is the time of the owner's suspension; zero without one.
	Suspended time.Time
}

// check returns an [*Error] if the key is not valid at a time.
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
