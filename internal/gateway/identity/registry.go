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

// The errors of a [Registry]. Any other error results in the status 503.
var (
	// ErrUnknown means that the registry has no such key.
	ErrUnknown = errors.New("identity: unknown key")
	// ErrReplayed means that a key has used a nonce before.
	ErrReplayed = errors.New("identity: nonce used before")
	// ErrTooManyNonces means that a key has too many unexpired nonces.
	ErrTooManyNonces = errors.New("identity: too many unexpired nonces")
)

// Registry finds API keys and clients, and records the nonces of signatures. The gateways of one name must
// share it: otherwise each of them accepts a signature once. It returns [ErrUnknown] for unknown keys.
type Registry interface {
	// KeyByHash returns the API key with a hash, also if it is expired or revoked.
	KeyByHash(ctx context.Context, hash string) (KeyRecord, error)
	// ClientByPublicKey returns the client that signs with a key and the tag "haggle", also if the client is
	// suspended, or the key is revoked or replaced.
	ClientByPublicKey(ctx context.Context, key ed25519.PublicKey) (Registration, error)
	// ClientByAgent returns the client of Web Bot Auth that is registered with both a Signature-Agent, as
	// [NormalizeAgent] returns it, and a key with a JWK thumbprint, also if the client is suspended, or the key is
	// revoked or replaced.
	ClientByAgent(ctx context.Context, agent, thumbprint string) (Registration, error)
	// UseNonce records a nonce of a key at least until a time. It returns [ErrReplayed] if the key has used it,
	// and [ErrTooManyNonces] if the key has too many unexpired ones. In both cases the request is refused.
	UseNonce(ctx context.Context, keyID, nonce string, until time.Time) error
}

// Registration is a client that signs its requests.
type Registration struct {
	// ID is the ID of the client.
	ID int64
	// Name is the verified name.
	Name string
	// PublicKey verifies the signatures.
	PublicKey ed25519.PublicKey
	// Revoked is the time at which PublicKey was revoked or replaced; zero for a valid key.
	Revoked time.Time
	// Suspended is the time of the client's suspension; zero without one.
	Suspended time.Time
}

// check returns an [*Error] if the client must not send requests with the key.
func (r Registration) check() error {
	if !r.Revoked.IsZero() {
		return unauthenticated("signature-key-revoked",
			"signature: key revoked or replaced at %s; sign with the client's new key",
			r.Revoked.UTC().Format(time.RFC3339))
	}
	return suspended(r.ID, r.Suspended)
}

// NormalizeAgent returns the origin of a Signature-Agent of the type "directory" in the form
// https://host[:port], by which origins are compared. It returns an error for anything else.
func NormalizeAgent(agent string) (string, error) {
	parsed, err := url.Parse(agent)
	if err != nil || !strings.EqualFold(parsed.Scheme, "https") || parsed.Host == "" || parsed.User != nil ||
		strings.Trim(parsed.Path, "/") != "" || len(parsed.Path) > 1 || strings.ContainsAny(agent, "?#") {
		return "", fmt.Errorf("agent %q: not an origin; use the form https://agent.example", agent)
	}
	return "https://" + strings.TrimSuffix(strings.ToLower(parsed.Host), ":443"), nil
}
