package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/haggle-protocol/haggle/internal/gateway/store/schema"
)

// Ready reads the schema version. It returns an error if the database does not respond, and [ErrNoGateway],
// [ErrOldSchema] or [ErrNewerSchema] if this haggle uses another schema.
func (s *Store) Ready(ctx context.Context) error {
	find := `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1`
	if s.Dialect == Postgres {
		find = `SELECT COUNT(to_regclass($1))`
	}
	var tables, found int64
	if err := s.number(ctx, &tables, find, versionTable); err != nil {
		return err
	}
	if tables == 0 {
		return ErrNoGateway
	}
	if err := s.number(ctx, &found,
		`SELECT COALESCE(MAX(version_id), 0) FROM `+versionTable+` WHERE is_applied`); err != nil {
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
		return fmt.Errorf("%w (its schema is version %d, this one knows %d)", ErrNewerSchema, found, known)
	}
	return nil
}

// number executes a statement that returns a number.
func (s *Store) number(ctx context.Context, n *int64, statement string, arguments ...any) error {
	return s.read.each(ctx, func(scan scan) error { return scan(n) }, statement, arguments...)
}

// existing checks the schema of a database that must exist.
func (s *Store) existing(ctx context.Context) error {
	if s.Dialect == SQLite {
		// A connection would create the file.
		if _, err := os.Stat(s.Name); errors.Is(err, fs.ErrNotExist) {
			return ErrNoGateway
		} else if err != nil {
			return err
		}
	}
	return s.Ready(ctx)
}
