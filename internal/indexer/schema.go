package indexer

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/haggle-protocol/haggle/sdk/store/database"
)

// migrations are never changed once a haggle release used them: a change is a further file.
//
//go:embed migrations
var migrations embed.FS

// ErrOldSchema means that an older haggle wrote the database last. Run migrates it.
var ErrOldSchema = errors.New("an older version of haggle wrote the database")

// ErrOtherSchema means that the tables differ from their schema version: a development version created them.
// Such a database cannot be migrated. Delete it and index again.
var ErrOtherSchema = errors.New("incompatible tables of an earlier version of haggle")

// schema describes the tables to the packages that open databases.
var schema = database.Schema{
	Kind: "index", VersionTable: "schema_version", Migrations: migrationsOf, Unchecked: true,
}

func migrationsOf(postgres bool) fs.FS {
	directory := "migrations/sqlite"
	if postgres {
		directory = "migrations/postgres"
	}
	files, err := fs.Sub(migrations, directory)
	if err != nil {
		panic(err) // the name is valid
	}
	return files
}

// schemaVersion returns the schema version; 0 if none. (goose would create a table.)
func (d *Database) schemaVersion(ctx context.Context, s statements) (version int64, err error) {
	exists := map[Dialect]string{
		SQLite:   `SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1)`,
		Postgres: `SELECT to_regclass($1) IS NOT NULL`,
	}
	var made bool
	if err := s.row(ctx, exists[d.Dialect], schema.VersionTable).Scan(&made); err != nil || !made {
		return 0, err
	}
	err = s.row(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM `+schema.VersionTable+` WHERE is_applied`).Scan(&version)
	return version, err
}

// checkSchema compares the tables with the tables that the migrations through the database's version create.
// It returns an error unless the schema is current.
func (d *Database) checkSchema(ctx context.Context) error {
	var version int64
	var found []string
	err := d.read(ctx, func(s statements) error {
		var err error
		if version, err = d.schemaVersion(ctx, s); err == nil && version > 0 {
			found, err = columnNames(ctx, s, d.Dialect)
		}
		return err
	})
	if err == nil && version == 0 {
		err = ErrNotIndexed
	}
	if err != nil {
		return err
	}
	expected, known, err := columnsAt(ctx, version)
	switch {
	case err != nil:
		return err
	case version > known:
		return fmt.Errorf("a newer version of haggle has written it: its schema is version %d, this one knows %d",
			version, known)
	}
	if err := compareColumns(found, expected); err != nil {
		return err
	}
	if version < known {
		return ErrOldSchema
	}
	return nil
}

func compareColumns(found, expected []string) error {
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

// columnsAt returns every table's and view's columns in a schema version, as "table.column", and the newest
// known version. Both dialects use the same columns, so an empty SQLite database serves for PostgreSQL too.
func columnsAt(ctx context.Context, version int64) (names []string, newest int64, err error) {
	memory, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	memory.SetMaxOpenConns(1) // each connection opens a separate database
	provider, err := goose.NewProvider(goose.DialectSQLite3, memory, migrationsOf(false),
		goose.WithTableName(schema.VersionTable), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, 0, err
	}
	if _, err := provider.UpTo(ctx, version); err != nil {
		return nil, 0, err
	}
	sources := provider.ListSources()
	names, err = columnNames(ctx, statements{memory}, SQLite)
	return names, sources[len(sources)-1].Version, err
}

// columnNames returns the columns of every table and view, as "table.column". Views named _parts exist in
// SQLite only.
func columnNames(ctx context.Context, s statements, dialect Dialect) ([]string, error) {
	queries := map[Dialect]string{
		SQLite: `SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c
			WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE '%parts' AND m.name <> $1`,
		Postgres: `SELECT c.relname || '.' || a.attname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped
			AND c.relname <> $1`,
	}
	return all(ctx, s, func(name *string, scan scanner) error { return scan(name) }, queries[dialect], schema.VersionTable)
}
