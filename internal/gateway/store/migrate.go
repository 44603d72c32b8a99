package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"path"
	"strings"
	"text/template"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// migrations are never changed once a version of haggle has been used with them: a change is a further file.
//
//go:embed migrations
var migrations embed.FS

const versionTable = "gateway_schema_version"

// migrationTries is the number of attempts to create a SQLite file's tables. SQLite has no lock for it: if
// several processes start on a new file, one creates the tables, and the others fail and find them the next
// time.
const migrationTries = 8

// dialectParts are the values of a migration's template.
type dialectParts struct {
	Postgres        bool
	ID, UUID, JSON  string
	AppendOnly      []string
	StrategyColumns string
}

func partsOf(dialect Dialect) dialectParts {
	parts := dialectParts{
		ID: "INTEGER PRIMARY KEY AUTOINCREMENT", UUID: "TEXT", JSON: "TEXT",
		AppendOnly: []string{"audit_entries", "negotiation_rounds", "negotiation_messages"},
		StrategyColumns: "id, publisher_id, strategy_name, version, definition, created_at, " +
			strings.Join(definedColumns, ", "),
	}
	if dialect == Postgres {
		parts.Postgres = true
		parts.ID, parts.UUID, parts.JSON = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "UUID", "JSONB"
	}
	return parts
}

// fills compute values of existing rows after the migration with a version.
var fills = map[int64]func(context.Context, *sql.Tx) error{5: fillNameKeys}

// versions returns the migrations of a dialect. Each file is one migration; its name begins with the version.
func versions(dialect Dialect) ([]*goose.Migration, error) {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	var all []*goose.Migration
	for _, file := range files {
		version, err := goose.NumericComponent(file.Name())
		if err != nil {
			return nil, err
		}
		text, err := migrations.ReadFile(path.Join("migrations", file.Name()))
		if err != nil {
			return nil, err
		}
		parsed, err := template.New(file.Name()).Option("missingkey=error").Parse(string(text))
		if err != nil {
			return nil, err
		}
		var statements strings.Builder
		if err := parsed.Execute(&statements, partsOf(dialect)); err != nil {
			return nil, err
		}
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{
			RunTx: func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, statements.String())
				if fill := fills[version]; err == nil && fill != nil {
					err = fill(ctx, tx)
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
	return goose.NewProvider(dialect, s.writer.DB, nil, options...)
}
