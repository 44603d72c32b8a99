package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
	sqlitefile "github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// Dialect is the kind of a database.
type Dialect string

// The dialects.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// busyTimeout is the time to wait for another process that writes to the same SQLite file.
const busyTimeout = 5 * time.Second

// Config describes a store. Zero values are replaced by the defaults.
type Config struct {
	// Address is "sqlite:PATH" or "postgres://USER@HOST:PORT/DATABASE". No error quotes it.
	Address string
	// Connections is the largest number of open connections to PostgreSQL. If zero, 16 is used.
	Connections int
	// Limits are the limits of new negotiations.
	Limits Limits
	// Wait is the time in which Open tries again to reach a PostgreSQL server that accepts no connections yet, and the
	// longest time of one attempt. If zero, it does not wait.
	Wait time.Duration
	// Waiting, if not nil, is called with the reason before each further attempt to connect.
	Waiting func(reason error)
	// Now returns the time. If nil, time.Now is used.
	Now func() time.Time
}

// The limits of a new installation: see [Limits].
const (
	DefaultPerClientHour         = 10
	DefaultOpenPerClient         = 1
	DefaultOpenPerPublisher      = 3
	DefaultAnonymousPerPublisher = 1
)

// Limits are the limits of new negotiations. A zero limit is replaced by its default.
type Limits struct {
	// PerClientHour is the number of proposals with which a client opens negotiations in any hour. A bundle is one
	// proposal. The default is [DefaultPerClientHour].
	PerClientHour int
	// OpenPerClient is the number of negotiations of one client with one publisher that are open at once, or wait
	// for the publisher's approval. The default is [DefaultOpenPerClient].
	OpenPerClient int
	// OpenPerPublisher is the number of negotiations of registered clients with a publisher that are open at once.
	// Negotiations that wait for an approval do not count. The default is [DefaultOpenPerPublisher].
	OpenPerPublisher int
	// AnonymousPerPublisher is the number of negotiations of all anonymous clients with a publisher that are open at
	// once, or wait for an approval. They do not count for OpenPerPublisher. The default is
	// [DefaultAnonymousPerPublisher].
	AnonymousPerPublisher int
}

func (l Limits) withDefaults() (Limits, error) {
	for _, limit := range []struct {
		value     *int
		otherwise int
	}{
		{&l.PerClientHour, DefaultPerClientHour}, {&l.OpenPerClient, DefaultOpenPerClient},
		{&l.OpenPerPublisher, DefaultOpenPerPublisher}, {&l.AnonymousPerPublisher, DefaultAnonymousPerPublisher},
	} {
		if *limit.value < 0 {
			return l, errors.New("gateway store: a limit must not be negative")
		}
		*limit.value = cmp.Or(*limit.value, limit.otherwise)
	}
	return l, nil
}

// Store is an open database with the current schema. Its methods are safe for concurrent use.
type Store struct {
	// Dialect is the kind of the database.
	Dialect Dialect
	// Name describes the database without user, password and options.
	Name string

	// writer begins transactions that write. In SQLite it has one connection.
	writer *sql.DB
	// reader is the same as writer in PostgreSQL.
	reader *sql.DB
	// readQueries and writeQueries are the query functions outside of transactions.
	readQueries, writeQueries *queries.Queries
	// postgres is the parsed address, for further connections.
	postgres *pgx.ConnConfig
	limits   Limits
	clock    func() time.Time
	keys     recentKeys
	// observe is called with each statement of a round or a creation, for the tests that count messages: not
	// with a BEGIN or COMMIT that shares one. If nil, it is not called.
	observe func(statement string)
}

// AddressVariable is the environment variable with the address of the gateway's database.
const AddressVariable = "DATABASE_URL"

// Open opens a database and migrates it to the current schema. A missing SQLite file is created, and only its owner
// can read it: other permissions of an existing file are removed. It returns [ErrAddress] if the address has another
// form, and refuses a PostgreSQL server with synchronous_commit = off.
func Open(ctx context.Context, config Config) (*Store, error) {
	return openWith(ctx, config, (*Store).prepare)
}

// OpenExisting opens a database without a change of its schema. It returns [ErrNoGateway] if the database is
// missing or empty, [ErrOldSchema] or [ErrNewerSchema] if another version of haggle has migrated it, and
// [ErrAddress] as Open.
func OpenExisting(ctx context.Context, config Config) (*Store, error) {
	return openWith(ctx, config, (*Store).existing)
}

func openWith(ctx context.Context, config Config, prepare func(*Store, context.Context) error) (*Store,
	error) {
	limits, err := config.Limits.withDefaults()
	if err != nil {
		return nil, err
	}
	s, err := connect(config)
	if err != nil {
		return nil, err
	}
	s.limits, s.clock = limits, config.Now
	s.readQueries = queries.New(sqlAdapter{s.reader, s.Dialect})
	s.writeQueries = queries.New(sqlAdapter{s.writer, s.Dialect})
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.Dialect == Postgres && config.Wait > 0 {
		err = s.await(ctx, config)
	}
	if err == nil {
		err = prepare(s, ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.Name, err), s.Close())
	}
	return s, nil
}

func connect(config Config) (*Store, error) {
	scheme, rest, _ := strings.Cut(config.Address, ":")
	switch scheme {
	case "sqlite":
		return connectSQLite(rest)
	case "postgres", "postgresql":
		return connectPostgres(config)
	}
	return nil, ErrAddress
}

func connectSQLite(path string) (*Store, error) {
	path = strings.TrimPrefix(path, "//")
	if path == "" {
		return nil, ErrAddress
	}
	path = filepath.Clean(path) // the driver reads two leading slashes as the start of a host
	open := func(immediate bool, connections int) (*sql.DB, error) {
		options := url.Values{}
		options.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()))
		options.Add("_pragma", "journal_mode(WAL)")
		options.Add("_pragma", "synchronous(FULL)")
		options.Add("_pragma", "foreign_keys(1)")
		if immediate {
			// A transaction that begins with a read cannot write after another process has written.
			options.Set("_txlock", "immediate")
		} else {
			options.Add("_pragma", "query_only(1)")
		}
		location := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(),
			RawQuery: options.Encode()}
		db, err := sql.Open("sqlite", location.String())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		return db, nil
	}
	// SQLite has one writer, so a second connection would wait for the first one.
	writer, err := open(true, 1)
	if err != nil {
		return nil, err
	}
	reader, err := open(false, 4)
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	return &Store{Dialect: SQLite, Name: path, writer: writer, reader: reader}, nil
}

func connectPostgres(config Config) (*Store, error) {
	parsed, err := pgx.ParseConfig(config.Address)
	if err != nil {
		return nil, ErrAddress // the error of pgx can quote the address
	}
	name := fmt.Sprintf("postgres database %s on %s:%d", parsed.Database, parsed.Host, parsed.Port)
	if strings.HasPrefix(parsed.Host, "/") {
		name = fmt.Sprintf("postgres database %s on the socket in %s", parsed.Database, parsed.Host)
	}
	connections := cmp.Or(config.Connections, 16)
	db := stdlib.OpenDB(*parsed)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return &Store{Dialect: Postgres, Name: name, writer: db, reader: db, postgres: parsed}, nil
}

func (s *Store) prepare(ctx context.Context) error {
	if s.Dialect == Postgres {
		var commit string
		if err := s.writer.QueryRowContext(ctx, "SHOW synchronous_commit").Scan(&commit); err != nil {
			return err
		}
		if commit == "off" {
			return errors.New("synchronous_commit is off: set it to on, or a crash can lose negotiations")
		}
	} else if _, err := sqlitefile.PrepareFile(s.Name); err != nil {
		return err
	}
	return s.migrate(ctx)
}

// Close closes the connections.
func (s *Store) Close() error {
	if s.reader == s.writer {
		return s.writer.Close()
	}
	return errors.Join(s.reader.Close(), s.writer.Close())
}

// Now returns the time of the store's clock in UTC, in microseconds.
func (s *Store) Now() time.Time { return s.now() }

// now is the time in the precision of the database.
func (s *Store) now() time.Time { return s.clock().UTC().Truncate(time.Microsecond) }

// The SQLSTATEs of PostgreSQL that the store handles.
const (
	lockNotAvailable     = "55P03"
	deadlockDetected     = "40P01"
	serializationFailure = "40001"
	uniqueViolation      = "23505"
)

// sqliteBusy is SQLITE_BUSY; further bits of a code have the reason.
const sqliteBusy = 5

// classify replaces the errors of both drivers for a lock that another transaction holds by [ErrInProgress].
func classify(err error) error {
	var server *pgconn.PgError
	var file *sqlite.Error
	switch {
	case errors.As(err, &server):
		switch server.Code {
		case lockNotAvailable, deadlockDetected, serializationFailure:
			return ErrInProgress
		}
	case errors.As(err, &file) && file.Code()&0xff == sqliteBusy:
		return ErrInProgress
	}
	return err
}

// isDuplicate reports whether the error is the violation of a unique constraint.
func isDuplicate(err error) bool {
	var server *pgconn.PgError
	var file *sqlite.Error
	switch {
	case errors.As(err, &server):
		return server.Code == uniqueViolation
	case errors.As(err, &file):
		// SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY
		return file.Code() == 2067 || file.Code() == 1555
	}
	return false
}
