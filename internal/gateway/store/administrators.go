package store

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// AdministratorKey is an API key of an operator of the gateway. The key itself is not stored.
type AdministratorKey struct {
	// ID is set by the store.
	ID string
	// Hash is the SHA-256 of the key in lowercase hexadecimal digits. It is unique.
	Hash      string
	CreatedAt time.Time
	// RevokedAt is zero for a key that is not revoked.
	RevokedAt time.Time
}

const administratorColumns = `id, hash, created_at, revoked_at`

func scanAdministrator(scan func(...any) error) (k AdministratorKey, err error) {
	err = scan(&k.ID, &k.Hash, scanTime{&k.CreatedAt}, scanTime{&k.RevokedAt})
	return k, err
}

// FirstAdministratorKey adds a key if there is none, also no revoked one. Otherwise it returns [ErrNotFound].
func (s *Store) FirstAdministratorKey(ctx context.Context, hash string) (AdministratorKey, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return AdministratorKey{}, err
	}
	return one(ctx, s.writer, "first administrator key", scanAdministrator, `INSERT INTO administrator_keys
		(id, hash, created_at) SELECT CAST($1 AS `+s.uuidType()+`), CAST($2 AS TEXT), CAST($3 AS BIGINT)
		WHERE NOT EXISTS (SELECT 1 FROM administrator_keys) RETURNING `+administratorColumns,
		id.String(), hash, micro(s.now()))
}

func (s *Store) uuidType() string {
	if s.Dialect == Postgres {
		return "UUID"
	}
	return "TEXT"
}

// ReplaceAdministratorKeys revokes all administrator keys and adds one, in one transaction.
func (s *Store) ReplaceAdministratorKeys(
	ctx context.Context, hash string,
) (added AdministratorKey, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return added, err
	}
	err = s.transact(ctx, func(t *transaction) error {
		now := micro(s.now())
		err := t.all(ctx, write{
			`UPDATE administrator_keys SET revoked_at = COALESCE(revoked_at, $1)`,
			[]any{now},
		})
		if err != nil {
			return err
		}
		w := insert("administrator_keys", "id, hash, created_at", []any{id.String(), hash, now})
		added, err = one(ctx, t, "administrator key", scanAdministrator,
			w.statement+" RETURNING "+administratorColumns, w.arguments...)
		return err
	})
	return added, err
}

// AdministratorKeyByHash returns a key, or [ErrNotFound]. The key can be revoked.
func (s *Store) AdministratorKeyByHash(ctx context.Context, hash string) (AdministratorKey, error) {
	return one(ctx, s.reader, "administrator key", scanAdministrator,
		`SELECT `+administratorColumns+` FROM administrator_keys WHERE hash = $1`, hash)
}
