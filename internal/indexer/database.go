package indexer

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed migrations
var migrations embed.FS

// ErrAddress: what is given is not the address of a database.
var ErrAddress = errors.New("not the address of a database")

// ErrNotIndexed: there is nothing in the database, because no indexer has run on it.
var ErrNotIndexed = errors.New("the database holds no index yet")

// ErrOldSchema: an older version has made the database; an indexer brings it up to date.
var ErrOldSchema = errors.New("an older version of haggle has made the database")

// Dialect is the kind of a database.
type Dialect string

// The dialects.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// Database is an open database, of the newest version of the schema. Its methods may be called from several goroutines.
type Database struct {
	// Dialect says which kind it is.
	Dialect Dialect
	// Name is the file's path, or host and name of a PostgreSQL database: never user, password or options.
	Name string

	sql *sql.DB
}

// busyTimeout is how long a process waits for another one that writes to the same SQLite file.
const busyTimeout = 10 * time.Second

// Open opens a database and brings its schema up to date. The address is "sqlite:PATH", or "postgres://HOST/NAME" in any form that
// libpq understands; what it leaves out comes from libpq's environment (PGUSER, PGPASSWORD, PGPASSFILE ...). A SQLite file that
// does not exist is made. No error quotes the address: it may contain a password.
func Open(ctx context.Context, address string) (*Database, error) {
	database, err := connect(address, true)
	if err != nil {
		return nil, err
	}
	if err := database.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", database.Name, err), database.Close())
	}
	return database, nil
}

// OpenExisting opens a database to read it, and neither makes one nor changes anything in it: without an index it is
// [ErrNotIndexed], and [ErrOldSchema] with one that an older version has made.
func OpenExisting(ctx context.Context, address string) (*Database, error) {
	database, err := connect(address, false)
	if err != nil {
		return nil, err
	}
	if database.Dialect == SQLite {
		if _, err := os.Stat(database.Name); errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("%s: %w", database.Name, ErrNotIndexed), database.Close())
		}
	}
	if err := database.readable(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", database.Name, err), database.Close())
	}
	return database, nil
}

// Close closes the database.
func (d *Database) Close() error { return d.sql.Close() }

func connect(address string, writes bool) (*Database, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "sqlite":
		return connectSQLite(rest, writes)
	case "postgres", "postgresql":
		return connectPostgres(address)
	}
	return nil, fmt.Errorf("%w: it begins with sqlite: or postgres://", ErrAddress)
}

func connectSQLite(path string, writes bool) (*Database, error) {
	path = strings.TrimPrefix(path, "//")
	if path == "" {
		return nil, fmt.Errorf("%w: which file is sqlite: followed by?", ErrAddress)
	}
	path = filepath.Clean(path) // two slashes at its beginning would be taken for a host
	options := url.Values{}
	options.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()))
	if writes {
		options.Add("_pragma", "journal_mode(WAL)")
		options.Add("_pragma", "synchronous(FULL)")
		// A transaction that begins by reading could not go on to write if another process had written in between.
		options.Set("_txlock", "immediate")
	}
	location := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options.Encode()}
	opened, err := sql.Open("sqlite", location.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// One connection: a second one would only wait for the first.
	opened.SetMaxOpenConns(1)
	return &Database{Dialect: SQLite, Name: path, sql: opened}, nil
}

func connectPostgres(address string) (*Database, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("%w: it should be like postgres://USER@HOST:PORT/NAME", ErrAddress)
	}
	name := fmt.Sprintf("postgres database %s on %s:%d", config.Database, config.Host, config.Port)
	if strings.HasPrefix(config.Host, "/") {
		name = fmt.Sprintf("postgres database %s on the socket in %s", config.Database, config.Host)
	}
	return &Database{Dialect: Postgres, Name: name, sql: stdlib.OpenDB(*config)}, nil
}

func (d *Database) provider() (*goose.Provider, error) {
	folder, err := fs.Sub(migrations, "migrations/"+string(d.Dialect))
	if err != nil {
		return nil, err
	}
	if d.Dialect == SQLite {
		return goose.NewProvider(goose.DialectSQLite3, d.sql, folder, goose.WithTableName("schema_version"))
	}
	// Two indexers that start at once must not both create the tables.
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, d.sql, folder, goose.WithTableName("schema_version"), goose.WithSessionLocker(locker))
}

// migrationTries is how often a SQLite file's tables are attempted to be made. There is no lock for it: of several processes that
// begin with the same new file, one makes the tables, and the others fail and find them the next time.
const migrationTries = 8

func (d *Database) migrate(ctx context.Context) error {
	if d.Dialect == Postgres {
		return d.migrateOnce(ctx)
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := d.migrateOnce(ctx)
		var newer *newerSchema
		if errors.As(err, &newer) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxTries(migrationTries), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 20 * time.Millisecond, MaxInterval: time.Second, Multiplier: 2, RandomizationFactor: 0.5,
	}))
	return err
}

// newerSchema is a database that a later version has brought up to date.
type newerSchema struct{ found, known int64 }

func (e *newerSchema) Error() string {
	return fmt.Sprintf("a newer version of haggle has written it: its schema is version %d, this one knows %d", e.found, e.known)
}

// readable says whether the database's schema is the one that this version reads.
func (d *Database) readable(ctx context.Context) error {
	provider, err := d.provider()
	if err != nil {
		return err
	}
	version, err := d.schema(ctx, d.statements())
	if err != nil {
		return err
	}
	switch known := newest(provider); {
	case version == 0:
		return ErrNotIndexed
	case version < known:
		return ErrOldSchema
	case version > known:
		return &newerSchema{found: version, known: known}
	}
	return nil
}

// schema is the version of the schema; 0 if there is none. (The provider would make its table to find that out.)
func (d *Database) schema(ctx context.Context, s statements) (version int64, err error) {
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

// newest is the schema that this version knows.
func newest(provider *goose.Provider) (version int64) {
	for _, source := range provider.ListSources() {
		version = max(version, source.Version)
	}
	return version
}

func (d *Database) migrateOnce(ctx context.Context) error {
	provider, err := d.provider()
	if err != nil {
		return err
	}
	known := newest(provider)
	version, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	if version > known {
		return &newerSchema{found: version, known: known}
	}
	_, err = provider.Up(ctx)
	return err
}

// bound writes a statement's question marks as the dialect has them.
func (d *Database) bound(statement string) string {
	if d.Dialect == SQLite {
		return statement
	}
	var text strings.Builder
	number := 0
	for _, letter := range statement {
		if letter != '?' {
			text.WriteRune(letter)
			continue
		}
		number++
		text.WriteString("$" + strconv.Itoa(number))
	}
	return text.String()
}

// querier is a connection or a transaction.
type querier interface {
	ExecContext(ctx context.Context, statement string, arguments ...any) (sql.Result, error)
	QueryContext(ctx context.Context, statement string, arguments ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, statement string, arguments ...any) *sql.Row
}

// statements are what can be done within a transaction, or outside of one, in the dialect of the database.
type statements struct {
	dialect *Database
	querier
}

func (d *Database) statements() statements { return statements{d, d.sql} }

func (s statements) exec(ctx context.Context, statement string, arguments ...any) (int64, error) {
	done, err := s.ExecContext(ctx, s.dialect.bound(statement), arguments...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func (s statements) row(ctx context.Context, statement string, arguments ...any) *sql.Row {
	return s.QueryRowContext(ctx, s.dialect.bound(statement), arguments...)
}

// each calls act for every row; act scans it.
func (s statements) each(ctx context.Context, act func(scan func(...any) error) error, statement string, arguments ...any) error {
	rows, err := s.QueryContext(ctx, s.dialect.bound(statement), arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := act(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// write does everything in one transaction, or nothing.
func (d *Database) write(ctx context.Context, act func(statements) error) error {
	return d.within(ctx, nil, act)
}

// read sees the database as it is at one moment.
func (d *Database) read(ctx context.Context, act func(statements) error) error {
	return d.within(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, act)
}

func (d *Database) within(ctx context.Context, options *sql.TxOptions, act func(statements) error) error {
	if d.Dialect == SQLite {
		options = nil // a transaction there sees one moment anyway
	}
	transaction, err := d.sql.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	if err := act(statements{d, transaction}); err != nil {
		return errors.Join(err, transaction.Rollback())
	}
	return transaction.Commit()
}
