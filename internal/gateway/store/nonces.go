package store

import (
	"context"
	"errors"
	"fmt"
	"time"
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
	// The primary key decides, so of several processes that use a nonce at once only one succeeds.
	_, err := one(ctx, s.writer, "nonce", scanNonce, `INSERT INTO signature_nonces (key_id, nonce, expires_at)
		SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS BIGINT) WHERE (SELECT COUNT(*) FROM
			(SELECT 1 FROM signature_nonces WHERE key_id = $1 LIMIT $4) AS used) < $4 RETURNING nonce`,
		keyID, nonce, micro(until), MaxNonces)
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("key %s: %w", keyID, ErrNonces)
	}
	return err
}

func scanNonce(scan func(...any) error) (nonce string, err error) {
	err = scan(&nonce)
	return nonce, err
}

// DeleteNonces deletes at most limit nonces that expired a minute ago or earlier. It returns their number.
func (s *Store) DeleteNonces(ctx context.Context, limit int) (int64, error) {
	before := s.now().Add(-nonceMargin)
	return s.deleteOldest(ctx, "signature_nonces", "key_id, nonce", "expires_at", before, limit)
}
