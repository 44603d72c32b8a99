package indexer

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// migrations are never changed once a version of haggle has been used with them: a change is a further file.
//
//go:embed migrations
var migrations embed.FS

// ErrOldSchema means that an older version of haggle wrote the database last. Run migrates it.
var ErrOldSchema = errors.New("an older version of haggle wrote the database")

// ErrOtherSchema means that the tables are not those of their schema version: a development version of haggle
// created them. Such a database cannot be migrated. Delete it and index again.
var ErrOtherSchema = errors.New("incompatible tables of an earlier version of haggle")

// newerSchema is the error for a database that a later version has migrated.
type newerSchema struct{ found, known int64 }

func (e *newerSchema) Error() string {
	return fmt.Sprintf("a newer version of haggle has written it: its schema is version %d, this one knows %d", e.found, e.known)
}

// migrationTries is the number of attempts to create a SQLite file's tables. SQLite has no lock for it: if
// several processes start on a new file, one creates the tables, and the others fail and find them the next
// time.
const migrationTries = 8

func (d *Database) migrate(ctx context.Context) error {
	if d.Dialect == Postgres {
		return d.migrateOnce(ctx)
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := d.migrateOnce(ctx)
		if errors.As(err, new(*newerSchema)) || errors.Is(err, ErrOtherSchema) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxTries(migrationTries), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 20 * time.Millisecond, MaxInterval: time.Second, Multiplier: 2, RandomizationFactor: 0.5,
	}))
	return err
}

func (d *Database) migrateOnce(ctx context.Context) error {
	if err := d.checkSchema(ctx); err != nil {
		return err
	}
	provider, err := d.migrations()
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// readable returns an error unless the database has the current schema.
func (d *Database) readable(ctx context.Context) error {
	if err := d.checkSchema(ctx); err != nil {
		return err
	}
	version, err := d.schemaVersion(ctx, d.statements())
	if err != nil {
		return err
	}
	known, err := d.newestVersion()
	switch {
	case err != nil:
		return err
	case version == 0:
		return ErrNotIndexed
	case version < known:
		return ErrOldSchema
	}
	return nil
}

// migrations returns the provider of the dialect's migrations.
func (d *Database) migrations() (*goose.Provider, error) {
	folder, err := fs.Sub(migrations, "migrations/"+string(d.Dialect))
	if err != nil {
		return nil, err
	}
	dialect, options := goose.DialectSQLite3, []goose.ProviderOption{goose.WithTableName("schema_version")}
	if d.Dialect == Postgres {
		// Two indexers that start at once must not both create the tables.
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return nil, err
		}
		dialect, options = goose.DialectPostgres, append(options, goose.WithSessionLocker(locker))
	}
	return goose.NewProvider(dialect, d.db, folder, options...)
}

// newestVersion returns the schema version of this version of haggle.
func (d *Database) newestVersion() (version int64, err error) {
	provider, err := d.migrations()
	if err != nil {
		return 0, err
	}
	for _, source := range provider.ListSources() {
		version = max(version, source.Version)
	}
	return version, nil
}

// schemaVersion returns the version of the schema; 0 if there is none. (The provider would create its table.)
func (d *Database) schemaVersion(ctx context.Context, s statements) (version int64, err error) {
	exists := map[Dialect]string{
		SQLite:   `SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version')`,
		Postgres: `SELECT to_regclass('schema_version') IS NOT NULL`,
	}
	var made bool
	if err := s.row(ctx, exists[d.Dialect]).Scan(&made); err != nil || !made {
		return 0, err
	}
	err = s.row(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM schema_version WHERE is_applied`).Scan(&version)
	return version, err
}

// checkSchema compares the tables with those that the migrations up to the database's version create.
func (d *Database) checkSchema(ctx context.Context) error {
	known, err := d.newestVersion()
	if err != nil {
		return err
	}
	var version int64
	var found []string
	err = d.read(ctx, func(s statements) error {
		if version, err = d.schemaVersion(ctx, s); err != nil || version == 0 || version > known {
			return err
		}
		found, err = d.columnNames(ctx, s)
		return err
	})
	switch {
	case err != nil || version == 0:
		return err
	case version > known:
		return &newerSchema{found: version, known: known}
	}
	expected, err := columnsAt(ctx, version)
	if err != nil {
		return err
	}
	for _, name := range expected {
		if !slices.Contains(found, name) {
			return fmt.Errorf("%w: column %s is missing", ErrOtherSchema, name)
		}
	}
	for _, name := range found {
		table, _, _ := strings.Cut(name, ".")
		isOurs := func(expected string) bool { return strings.HasPrefix(expected, table+".") }
		if slices.ContainsFunc(expected, isOurs) && !slices.Contains(expected, name) {
			return fmt.Errorf("%w: column %s is unknown", ErrOtherSchema, name)
		}
	}
	return nil
}

// columnsAt returns the columns of every table and view at a schema version, as "table.column". Both dialects
// have the same, so an empty SQLite database has those of PostgreSQL too.
func columnsAt(ctx context.Context, version int64) (names []string, err error) {
	memory, err := openSQLite(":memory:")
	if err != nil {
		return nil, err
	}
	d := &Database{Dialect: SQLite, db: memory}
	defer func() { err = errors.Join(err, d.Close()) }()
	provider, err := d.migrations()
	if err != nil {
		return nil, err
	}
	if _, err := provider.UpTo(ctx, version); err != nil {
		return nil, err
	}
	return d.columnNames(ctx, d.statements())
}

// columnNames returns the columns of every table and view, as "table.column". Views named _parts exist in
// SQLite only.
func (d *Database) columnNames(ctx context.Context, s statements) ([]string, error) {
	queries := map[Dialect]string{
		SQLite: `SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c
			WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE '%parts' AND m.name <> 'schema_version'`,
		Postgres: `SELECT c.relname || '.' || a.attname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped
			AND c.relname <> 'schema_version'`,
	}
	return all(ctx, s, func(name *string, scan scanner) error { return scan(name) }, queries[d.Dialect])
}
