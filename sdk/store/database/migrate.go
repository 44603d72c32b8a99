package database

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// tries is the number of attempts of Retry.
const tries = 8

// Retry calls attempt until it returns no error or a [backoff.PermanentError], at most 8 times. SQLite does not lock
// the first steps on a new file: if several processes start on it, one of them takes a step, and the others fail and
// find it done at the next attempt.
func Retry[T any](ctx context.Context, attempt func() (T, error)) (T, error) {
	return backoff.Retry(ctx, attempt, backoff.WithMaxTries(tries), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 20 * time.Millisecond, MaxInterval: time.Second, Multiplier: 2, RandomizationFactor: 0.5,
	}))
}

// Migrate creates or migrates the tables. It returns [ErrVersion] if the tables are from a newer version.
func (d *Database) Migrate(ctx context.Context) error {
	if d.Postgres {
		return d.Failed(ctx, d.migrateOnce(ctx))
	}
	_, err := Retry(ctx, func() (struct{}, error) {
		err := d.migrateOnce(ctx)
		if errors.Is(err, ErrVersion) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	})
	return d.Failed(ctx, err)
}

func (d *Database) migrateOnce(ctx context.Context) error {
	dialect := goose.DialectSQLite3
	options := []goose.ProviderOption{
		goose.WithTableName(d.Schema.VersionTable), goose.WithDisableGlobalRegistry(true),
	}
	if d.Postgres {
		// Two processes that start at once must not both create the tables.
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return err
		}
		dialect, options = goose.DialectPostgres, append(options, goose.WithSessionLocker(locker))
	}
	var files fs.FS
	if d.Schema.Migrations != nil {
		files = d.Schema.Migrations(d.Postgres)
	}
	if d.Schema.GoMigrations != nil {
		functions, err := d.Schema.GoMigrations(d.Postgres)
		if err != nil {
			return err
		}
		options = append(options, goose.WithGoMigrations(functions...))
	}
	provider, err := goose.NewProvider(dialect, d.DB, files, options...)
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
