package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
	"github.com/haggle-protocol/haggle/internal/gateway/store/schema"
)

const versionTable = "gateway_schema_version"

// migrationTries is the number of attempts to create a SQLite file's tables. SQLite has no lock for it: if
// several processes start on a new file, one creates the tables, and the others fail and find them the next
// time.
const migrationTries = 8

// fills compute values of existing rows after the migration with a version.
var fills = map[int64]func(context.Context, *queries.Queries) error{10: fillNames}

// versions returns the migrations of a dialect.
func versions(dialect Dialect) ([]*goose.Migration, error) {
	migrations, err := schema.Migrations(dialect == Postgres)
	if err != nil {
		return nil, err
	}
	var all []*goose.Migration
	for _, m := range migrations {
		all = append(all, goose.NewGoMigration(m.Version, &goose.GoFunc{
			RunTx: func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, m.SQL)
				if fill := fills[m.Version]; err == nil && fill != nil {
					err = fill(ctx, queries.New(sqlAdapter{tx, dialect}))
				}
				return err
			},
		}, nil))
	}
	return all, nil
}

func (s *Store) migrate(ctx context.Context) error {
	if s.Dialect == Postgres {
		return s.migrateOnce(ctx)
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := s.migrateOnce(ctx)
		if errors.Is(err, ErrNewerSchema) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxTries(migrationTries), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 20 * time.Millisecond, MaxInterval: time.Second, Multiplier: 2, RandomizationFactor: 0.5,
	}))
	return err
}

func (s *Store) migrateOnce(ctx context.Context) error {
	all, err := versions(s.Dialect)
	if err != nil {
		return err
	}
	provider, err := s.provider(all)
	if err != nil {
		return err
	}
	found, known, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if found > known {
		return fmt.Errorf("%w (its schema is version %d, this one knows %d)", ErrNewerSchema, found, known)
	}
	_, err = provider.Up(ctx)
	return err
}

// provider returns goose's provider of migrations.
func (s *Store) provider(all []*goose.Migration) (*goose.Provider, error) {
	dialect := goose.DialectSQLite3
	options := []goose.ProviderOption{
		goose.WithTableName(versionTable), goose.WithGoMigrations(all...), goose.WithDisableGlobalRegistry(true),
	}
	if s.Dialect == Postgres {
		// Two gateways that start at once must not both create the tables.
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return nil, err
		}
		dialect, options = goose.DialectPostgres, append(options, goose.WithSessionLocker(locker))
	}
	return goose.NewProvider(dialect, s.writer, nil, options...)
}
