package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// AdministratorKey is an API key of a gateway operator. The key itself is not stored.
type AdministratorKey struct {
	// ID is set by the store.
	ID string
	// Hash is the key's SHA-256 in lowercase hexadecimal digits. It is unique.
	Hash      string
	CreatedAt time.Time
	// RevokedAt is zero unless the key is revoked.
	RevokedAt time.Time
}

func administratorOf(row queries.AdministratorKey) AdministratorKey {
	return AdministratorKey{row.ID, row.Hash, time.Time(row.CreatedAt), time.Time(row.RevokedAt)}
}

// FirstAdministratorKey adds a key if none exists, not even a revoked key. Otherwise it returns
// [ErrNotFound].
func (s *Store) FirstAdministratorKey(ctx context.Context, hash string) (AdministratorKey, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return AdministratorKey{}, err
	}
	return single("first administrator key", administratorOf)(s.write.FirstAdministratorKey(ctx,
		queries.FirstAdministratorKeyParams{ID: id.String(), Hash: hash, CreatedAt: s.now().UnixMicro()}))
}

// ReplaceAdministratorKeys revokes all administrator keys and adds another, atomically.
func (s *Store) ReplaceAdministratorKeys(
	ctx context.Context, hash string,
) (added AdministratorKey, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return added, err
	}
	err = s.transact(ctx, func(t *transaction) error {
		now := queries.NullTime(s.now())
		if err := t.RevokeAdministratorKeys(ctx, now); err != nil {
			return err
		}
		added, err = single("administrator key", administratorOf)(t.AddAdministratorKey(ctx,
			queries.AddAdministratorKeyParams{ID: id.String(), Hash: hash, CreatedAt: now}))
		return err
	})
	return added, err
}

// AdministratorKeyByHash returns a key, or [ErrNotFound]. The key can be revoked.
func (s *Store) AdministratorKeyByHash(ctx context.Context, hash string) (AdministratorKey, error) {
	return single("administrator key", administratorOf)(s.read.AdministratorKeyByHash(ctx, hash))
}
