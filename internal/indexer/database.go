package indexer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/store/database"
	"github.com/haggle-protocol/haggle/sdk/store/postgres"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// ErrAddress means that the address is not a database address.
var ErrAddress = errors.New("invalid database address")

// ErrNotIndexed means that no indexer has written to the database yet.
var ErrNotIndexed = errors.New("the database holds no index yet")

// Dialect is a kind of database.
type Dialect string

// The dialects.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// Database is an open database with the current schema. All methods are safe for concurrent use.
type Database struct {
	// Dialect is the database kind.
	Dialect Dialect
	// Name is the file path, or a PostgreSQL database's host and name. It contains no user, password or
	// options.
	Name string

	database *database.Database
}

// write runs act in one transaction and commits it if act returns nil.
func (d *Database) write(ctx context.Context, act func(statements) error) error {
	transaction, err := d.database.Begin(ctx)
	if err != nil {
		return err
	}
	// Also after a panic: Close waits for open transactions. After a commit it does nothing.
	defer func() { _ = transaction.Cancel() }()
	if err := act(statements{transaction}); err != nil {
		return err
	}
	err = transaction.Commit()
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err() // the end of the context has rolled it back
	}
	return err
}

// read runs act on one snapshot of the database.
func (d *Database) read(ctx context.Context, act func(statements) error) error {
	transaction, err := d.database.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = transaction.Rollback() }()
	return act(statements{transaction})
}

// statements runs outside a transaction.
func (d *Database) statements() statements { return statements{d.database.DB} }

// statements run SQL, inside or outside a transaction. Both dialects number their arguments $1, $2, ...
type statements struct {
	on interface {
		ExecContext(ctx context.Context, statement string, arguments ...any) (sql.Result, error)
		QueryContext(ctx context.Context, statement string, arguments ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, statement string, arguments ...any) *sql.Row
	}
}

// exec runs a statement, and returns the number of changed rows.
func (s statements) exec(ctx context.Context, statement string, arguments ...any) (int64, error) {
	done, err := s.on.ExecContext(ctx, statement, arguments...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// row returns a query's only row. Scan returns sql.ErrNoRows if no row matches.
func (s statements) row(ctx context.Context, statement string, arguments ...any) *sql.Row {
	return s.on.QueryRowContext(ctx, statement, arguments...)
}

// scanner reads a row's columns.
type scanner func(into ...any) error

// each calls act for every row; act scans it.
func (s statements) each(
	ctx context.Context, act func(scan scanner) error, statement string, arguments ...any,
) error {
	rows, err := s.on.QueryContext(ctx, statement, arguments...)
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

// all returns a query's rows; read scans a single row.
func all[T any](
	ctx context.Context, s statements, read func(row *T, scan scanner) error, statement string, arguments ...any,
) (rows []T, err error) {
	err = s.each(ctx, func(scan scanner) error {
		var row T
		err := read(&row, scan)
		rows = append(rows, row)
		return err
	}, statement, arguments...)
	return rows, err
}

// Open opens a database and migrates it to the current schema. The address is "sqlite:PATH", or
// "postgres://HOST/NAME" in any form that libpq accepts; missing parts are read from libpq's environment
// (PGUSER, PGPASSWORD, PGPASSFILE, ...). A missing SQLite file is created, readable only by the owner: other
// permissions of an existing file are removed. No error contains the address, since it can contain a
// password.
//
// It returns [ErrOtherSchema] if an incompatible haggle created the database.
func Open(ctx context.Context, address string) (*Database, error) {
	// The tables of incompatible versions must not be migrated.
	existing, err := OpenExisting(ctx, address)
	switch {
	case err == nil:
		err = existing.Close()
	case errors.Is(err, ErrNotIndexed), errors.Is(err, ErrOldSchema):
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return connect(ctx, address, true)
}

// OpenExisting opens a database for reading, and for [Database.Declare]. It neither creates nor migrates the
// database. It returns [ErrNotIndexed] if the database holds no index, [ErrOldSchema] if an older haggle
// wrote it last, and [ErrOtherSchema] if an incompatible version created it.
func OpenExisting(ctx context.Context, address string) (*Database, error) {
	opened, err := connect(ctx, address, false)
	if err != nil {
		return nil, err
	}
	if err := opened.checkSchema(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", opened.Name, err), opened.Close())
	}
	return opened, nil
}

// Close closes the database.
func (d *Database) Close() error { return d.database.Close() }

// connect opens a database. If migrates is set, it creates or migrates the tables; otherwise it changes nothing.
func connect(ctx context.Context, address string, migrates bool) (*Database, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "sqlite":
		return connectSQLite(ctx, strings.TrimPrefix(rest, "//"), migrates)
	case "postgres", "postgresql":
		return connectPostgres(ctx, address, migrates)
	}
	return nil, fmt.Errorf("%w: it begins with sqlite: or postgres://", ErrAddress)
}

func connectSQLite(ctx context.Context, path string, migrates bool) (*Database, error) {
	if path == "" {
		return nil, fmt.Errorf("%w: sqlite: needs the path of a file", ErrAddress)
	}
	d := &Database{Dialect: SQLite, Name: filepath.Clean(path)}
	var err error
	if migrates {
		d.database, err = sqlite.OpenFile(ctx, path, schema)
	} else if d.database, err = sqlite.Connect(path, schema); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", d.Name, ErrNotIndexed)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// connectPostgres accepts a server with synchronous_commit = off: a crash loses whole transactions, and the
// next run indexes them again.
func connectPostgres(ctx context.Context, address string, migrates bool) (*Database, error) {
	opened, err := postgres.Connect(address, schema)
	if errors.Is(err, database.ErrAddress) {
		err = fmt.Errorf("%w: it should be like postgres://USER@HOST:PORT/NAME", ErrAddress)
	}
	if err != nil {
		return nil, err
	}
	if migrates {
		if err := opened.Migrate(ctx); err != nil {
			return nil, errors.Join(err, opened.Close())
		}
	}
	return &Database{Dialect: Postgres, Name: "postgres database " + opened.Name, database: opened}, nil
}
