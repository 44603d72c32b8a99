package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

const (
	// MaxNonces limits the stored nonces per key, so that clients cannot fill the database. Expired nonces
	// count until they are deleted.
	MaxNonces = 20_000
	// nonceMargin is how long an expired nonce is kept. The clocks of two gateways can differ by that much.
	nonceMargin = time.Minute
)

// ErrNonces means that [MaxNonces] nonces are stored for a key.
var ErrNonces = errors.New("too many unexpired nonces")

// UseNonce records a signature nonce. At the time until, every gateway refuses the signature as too old. It
// returns [ErrExists] if the nonce was used before with the key, and [ErrNonces].
func (s *Store) UseNonce(ctx context.Context, keyID, nonce string, until time.Time) error {
	if until.IsZero() {
		return fmt.Errorf("key %s: expiry of the nonce not set", keyID)
	}
	// The primary key decides, so only one of several processes using a nonce at once succeeds.
	_, err := s.write.UseNonce(ctx, queries.UseNonceParams{
		KeyID: keyID, Nonce: nonce, ExpiresAt: until.UnixMicro(), MaxRows: MaxNonces,
	})
	if err = named("nonce", err); errors.Is(err, ErrNotFound) {
		return fmt.Errorf("key %s: %w", keyID, ErrNonces)
	}
	return err
}

// DeleteNonces deletes up to limit nonces that expired a minute ago or earlier. It returns their number.
func (s *Store) DeleteNonces(ctx context.Context, limit int) (int64, error) {
	before := queries.NullTime(s.now().Add(-nonceMargin))
	return classified(s.write.DeleteNonces(ctx, before, int64(limit)))
}
