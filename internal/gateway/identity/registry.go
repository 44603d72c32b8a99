package identity

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Errors returned by a [Registry]. Any other error results in the status 503.
var (
	// ErrUnknown means that the key is not in the registry.
	ErrUnknown = errors.New("identity: unknown key")
	// ErrReplayed means that the nonce was used before with the key.
	ErrReplayed = errors.New("identity: nonce used before")
	// ErrTooManyNonces means that too many unexpired nonces are stored for the key.
	ErrTooManyNonces = errors.New("identity: too many unexpired nonces")
)

// Registry finds API keys and clients, and records the nonces of signatures. Gateways with the same name must
// share it: otherwise each accepts the same signature once. It returns [ErrUnknown] for unknown keys.
type Registry interface {
	// KeyByHash returns the API key with a hash, also if it is expired or revoked.
	KeyByHash(ctx context.Context, hash string) (KeyRecord, error)
	// ClientByPublicKey returns the client that signs with a key and the tag "haggle", also if the client is
	// suspended, or the key is revoked or replaced.
	ClientByPublicKey(ctx context.Context, key ed25519.PublicKey) (Registration, error)
	// ClientByAgent returns the Web Bot Auth client registered with both the agent, as [NormalizeAgent]
	// returns it, and a key with the JWK thumbprint, even if the client is suspended, or the key is revoked
	// or replaced.
	ClientByAgent(ctx context.Context, agent, thumbprint string) (Registration, error)
	// UseNonce records a key's nonce at least until the given time. It returns [ErrReplayed] if the nonce was
	// used before, and [ErrTooManyNonces] if too many unexpired nonces are stored. In both cases the request
	// is refused.
	UseNonce(ctx context.Context, keyID, nonce string, until time.Time) error
}

// Registration is a registered client that signs.
type Registration struct {
	// ID is the client ID.
	ID int64
	// Name is the verified name.
	Name string
	// PublicKey verifies the signatures.
	PublicKey ed25519.PublicKey
	// Revoked is when PublicKey was revoked or replaced; zero if it is valid.
	Revoked time.Time
	// Suspended is when the client was suspended; zero if not.
	Suspended time.Time
}

// check returns an [*Error] if the client must not use the key.
func (r Registration) check() error {
	if !r.Revoked.IsZero() {
		return unauthenticated("signature-key-revoked",
			"signature: key revoked or replaced at %s; sign with the client's new key",
			r.Revoked.UTC().Format(time.RFC3339))
	}
	return suspended(r.ID, r.Suspended)
}

// NormalizeAgent returns a "directory" Signature-Agent's origin in the form https://host[:port], used to
// compare origins. It fails for anything else.
func NormalizeAgent(agent string) (string, error) {
	parsed, err := url.Parse(agent)
	if err != nil || !strings.EqualFold(parsed.Scheme, "https") || parsed.Host == "" || parsed.User != nil ||
		strings.Trim(parsed.Path, "/") != "" || len(parsed.Path) > 1 || strings.ContainsAny(agent, "?#") {
		return "", fmt.Errorf("agent %q: not an origin; use the form https://agent.example", agent)
	}
	return "https://" + strings.TrimSuffix(strings.ToLower(parsed.Host), ":443"), nil
}
