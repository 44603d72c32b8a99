package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/haggle-protocol/haggle/sdk/store/internal/schema"
)

// VersionTable is the table with the version of the schema.
const VersionTable = "haggle_state_version"

// migrationTries is the number of attempts to create a SQLite file's tables. SQLite has no lock for it: if
// several processes start on a new file, one creates the tables, and the others fail and find them at the next
// attempt.
const migrationTries = 8

func (s *Store) migrate(ctx context.Context) error {
	if s.config.Postgres {
		return s.migrateOnce(ctx)
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := s.migrateOnce(ctx)
		if errors.Is(err, ErrVersion) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxTries(migrationTries), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 20 * time.Millisecond, MaxInterval: time.Second, Multiplier: 2, RandomizationFactor: 0.5,
	}))
	return err
}

func (s *Store) migrateOnce(ctx context.Context) error {
	dialect := goose.DialectSQLite3
	options := []goose.ProviderOption{
		goose.WithTableName(VersionTable), goose.WithDisableGlobalRegistry(true),
	}
	if s.config.Postgres {
		// Two processes that start at once must not both create the tables.
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return err
		}
		dialect, options = goose.DialectPostgres, append(options, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(dialect, s.config.DB, schema.Files, options...)
	if err != nil {
		return err
	}
	found, known, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if found > known {
		return fmt.Errorf("%w: its schema is version %d, this program knows %d", ErrVersion, found, known)
	}
	_, err = provider.Up(ctx)
	return err
}
