package store

import (
	"context"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/gateway/store/schema"
)

// Ready reads the schema version. It returns an error if the database does not respond, and [ErrNoGateway],
// [ErrOldSchema] or [ErrVersion] if this haggle uses another schema.
func (s *Store) Ready(ctx context.Context) error {
	find := `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1`
	if s.Dialect == Postgres {
		find = `SELECT COUNT(to_regclass($1))`
	}
	var created, found int64
	if err := s.number(ctx, &created, find, tables.VersionTable); err != nil {
		return err
	}
	if created == 0 {
		return ErrNoGateway
	}
	if err := s.number(ctx, &found,
		`SELECT COALESCE(MAX(version_id), 0) FROM `+tables.VersionTable+` WHERE is_applied`); err != nil {
		return err
	}
	migrations, err := schema.Migrations(s.Dialect == Postgres)
	if err != nil {
		return err
	}
	known := migrations[len(migrations)-1].Version
	switch {
	case found < known:
		return fmt.Errorf("%w (its schema is version %d, this one needs %d)", ErrOldSchema, found, known)
	case found > known:
		return fmt.Errorf("%w (its schema is version %d, this one knows %d)", ErrVersion, found, known)
	}
	return nil
}

// number executes a statement that returns a number.
func (s *Store) number(ctx context.Context, n *int64, statement string, arguments ...any) error {
	return s.read.each(ctx, func(scan scan) error { return scan(n) }, statement, arguments...)
}
