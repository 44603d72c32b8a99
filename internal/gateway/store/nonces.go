package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

const (
	// MaxNonces is the largest number of stored nonces of a key, so that a client cannot fill the database.
	// Expired nonces count until they are deleted.
	MaxNonces = 20_000
	// nonceMargin is the time for which an expired nonce is kept. The clocks of two gateways can differ by it.
	nonceMargin = time.Minute
)

// ErrNonces means that a key has [MaxNonces] stored nonces.
var ErrNonces = errors.New("too many unexpired nonces")

// UseNonce records the nonce of a signature. until is the time at which every gateway refuses the signature
// because of its age. It returns [ErrExists] if the key has used the nonce before, and [ErrNonces].
func (s *Store) UseNonce(ctx context.Context, keyID, nonce string, until time.Time) error {
	if until.IsZero() {
		return fmt.Errorf("key %s: expiry of the nonce not set", keyID)
	}
	// The primary key decides, so of several processes that use a nonce at once only one succeeds.
	_, err := s.write.UseNonce(ctx, queries.UseNonceParams{
		KeyID: keyID, Nonce: nonce, ExpiresAt: until.UnixMicro(), MaxRows: MaxNonces,
	})
	if err = named("nonce", err); errors.Is(err, ErrNotFound) {
		return fmt.Errorf("key %s: %w", keyID, ErrNonces)
	}
	return err
}

// DeleteNonces deletes at most limit nonces that expired a minute ago or earlier. It returns their number.
func (s *Store) DeleteNonces(ctx context.Context, limit int) (int64, error) {
	before := queries.NullTime(s.now().Add(-nonceMargin))
	return classified(s.write.DeleteNonces(ctx, before, int64(limit)))
}
