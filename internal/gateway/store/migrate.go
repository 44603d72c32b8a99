package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/haggle-protocol/haggle/internal/gateway/store/schema"
)

const versionTable = "gateway_schema_version"

// fills compute values for existing rows after the migration with a given number.
var fills = map[int64]func(context.Context, *sql.Tx) error{10: fillNames}

// versions returns a dialect's migrations.
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
					err = fill(ctx, tx)
				}
				return err
			},
		}, nil))
	}
	return all, nil
}

// migrate updates a database to the newest schema.
func migrate(ctx context.Context, dialect Dialect, db *sql.DB) error {
	all, err := versions(dialect)
	if err != nil {
		return err
	}
	provider, err := newProvider(dialect, db, all)
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

// newProvider returns goose's provider of migrations.
func newProvider(dialect Dialect, db *sql.DB, all []*goose.Migration) (*goose.Provider, error) {
	kind := goose.DialectSQLite3
	options := []goose.ProviderOption{
		goose.WithTableName(versionTable), goose.WithGoMigrations(all...), goose.WithDisableGlobalRegistry(true),
	}
	if dialect == Postgres {
		// Two gateways that start at once must not both create the tables.
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return nil, err
		}
		kind, options = goose.DialectPostgres, append(options, goose.WithSessionLocker(locker))
	}
	return goose.NewProvider(kind, db, nil, options...)
}
