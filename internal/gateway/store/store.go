package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
)

// Dialect is a kind of database.
type Dialect string

// The dialects.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// lock returns the clause that locks rows in a composed statement. SQLite needs none, because a transaction
// that writes locks the whole file.
func (d Dialect) lock(clause string) string {
	if d == SQLite {
		return ""
	}
	return " " + clause
}

// Config describes a store. Zero values are replaced by the defaults.
type Config struct {
	// Address is "sqlite:PATH" or "postgres://USER@HOST:PORT/DATABASE". No error quotes it.
	Address string
	// Connections limits the open connections to PostgreSQL. If zero, 16 is used.
	Connections int
	// Limits limits new negotiations.
	Limits Limits
	// Wait is how long Open retries while a PostgreSQL server accepts no connections yet, and the timeout for
	// a single attempt. If zero, Open does not wait.
	Wait time.Duration
	// Waiting, if not nil, is called with the reason before each further attempt to connect.
	Waiting func(reason error)
	// Now returns the time. If nil, time.Now is used.
	Now func() time.Time
	// lockTimeout is the longest wait for a lock in PostgreSQL. If zero, it is the constant of this name.
	lockTimeout time.Duration
	// tracer, if not nil, is called for each message to PostgreSQL.
	tracer pgx.QueryTracer
}

// Default limits: see [Limits].
const (
	DefaultPerClientHour         = 10
	DefaultOpenPerClient         = 1
	DefaultOpenPerPublisher      = 3
	DefaultAnonymousPerPublisher = 1
)

// Limits limits new negotiations. Zero selects the default.
type Limits struct {
	// PerClientHour limits the proposals opening negotiations per client in any hour. A bundle counts as a
	// single proposal. The default is [DefaultPerClientHour].
	PerClientHour int
	// OpenPerClient limits the negotiations between a client and a publisher that are open, or await the
	// publisher's approval, at once. The default is [DefaultOpenPerClient].
	OpenPerClient int
	// OpenPerPublisher limits a publisher's open negotiations with registered clients. Negotiations awaiting
	// approval do not count. The default is [DefaultOpenPerPublisher].
	OpenPerPublisher int
	// AnonymousPerPublisher limits a publisher's negotiations with all anonymous clients that are open, or
	// await approval, at once. They do not count for OpenPerPublisher. The default is
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

// Store is an open database with the current schema. All methods are safe for concurrent use.
type Store struct {
	// Dialect is the database kind.
	Dialect Dialect
	// Name describes the database without user, password and options.
	Name string

	database database
	// read and write execute statements outside of transactions.
	read, write statements
	limits      Limits
	clock       func() time.Time
	keys        recentKeys
}

// AddressVariable names the environment variable for the gateway's database address.
const AddressVariable = "DATABASE_URL"

// Open opens a database and migrates it to the current schema. A missing SQLite file is created, readable
// only by the owner: other permissions of an existing file are removed. It returns [ErrAddress] for an
// unknown address form, [ErrVersion] if a newer haggle or another program wrote the database, and refuses a
// PostgreSQL server with synchronous_commit = off.
func Open(ctx context.Context, config Config) (*Store, error) { return connect(ctx, config, true) }

// OpenExisting opens a database without migrating it. It returns [ErrNoGateway] if the database is missing or lacks
// the gateway's tables, [ErrOldSchema] or [ErrVersion] if another haggle migrated it, and [ErrAddress] as Open.
func OpenExisting(ctx context.Context, config Config) (*Store, error) {
	s, err := connect(ctx, config, false)
	if err != nil {
		return nil, err
	}
	if err := s.Ready(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.Name, err), s.Close())
	}
	return s, nil
}

// connect opens a database. If migrates is set, it creates or migrates the tables; otherwise it changes nothing.
func connect(ctx context.Context, config Config, migrates bool) (*Store, error) {
	limits, err := config.Limits.withDefaults()
	if err != nil {
		return nil, err
	}
	var s *Store
	scheme, rest, _ := strings.Cut(config.Address, ":")
	switch scheme {
	case "sqlite":
		s, err = connectSQLite(ctx, rest, migrates)
	case "postgres", "postgresql":
		s, err = connectPostgres(ctx, config, migrates)
	default:
		err = ErrAddress
	}
	if err != nil {
		return nil, err
	}
	s.limits, s.clock = limits, config.Now
	s.read, s.write = s.database.reader(), s.database.writer()
	if s.clock == nil {
		s.clock = time.Now
	}
	return s, nil
}

// Close closes the connections.
func (s *Store) Close() error { return s.database.close() }

// Now returns the time of the store's clock in UTC, in microseconds.
func (s *Store) Now() time.Time { return s.now() }

// now returns the time in the database's precision.
func (s *Store) now() time.Time { return s.clock().UTC().Truncate(time.Microsecond) }

// The SQLSTATEs of PostgreSQL that the store handles.
const (
	lockNotAvailable     = "55P03"
	deadlockDetected     = "40P01"
	serializationFailure = "40001"
	uniqueViolation      = "23505"
)

// sqliteBusy is SQLITE_BUSY; further bits give the reason.
const sqliteBusy = 5

// classify replaces both drivers' errors for a lock held by another transaction by [ErrInProgress].
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

// isDuplicate reports whether a unique constraint was violated.
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
