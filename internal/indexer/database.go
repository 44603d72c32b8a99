package indexer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// ErrAddress means that the address is not one of a database.
var ErrAddress = errors.New("invalid database address")

// ErrNotIndexed means that no indexer has written to the database yet.
var ErrNotIndexed = errors.New("the database holds no index yet")

// Dialect is the kind of a database.
type Dialect string

// The dialects.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// Database is an open database with the current schema. Its methods are safe for concurrent use.
type Database struct {
	// Dialect is the kind of the database.
	Dialect Dialect
	// Name is the file's path, or host and name of a PostgreSQL database. It contains no user, password or
	// options.
	Name string

	db *sql.DB
	// pool has the connections of a PostgreSQL database.
	pool *pgxpool.Pool
}

// write runs act in one transaction and commits it if act returns nil.
func (d *Database) write(ctx context.Context, act func(statements) error) error {
	return d.within(ctx, nil, act)
}

// read runs act on one snapshot of the database. Each transaction of SQLite reads one.
func (d *Database) read(ctx context.Context, act func(statements) error) error {
	if d.Dialect == SQLite {
		return d.write(ctx, act)
	}
	return d.within(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, act)
}

func (d *Database) within(ctx context.Context, options *sql.TxOptions, act func(statements) error) error {
	transaction, err := d.db.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	// Also after a panic: Close waits for open transactions. After a commit it does nothing.
	defer func() { _ = transaction.Rollback() }()
	if err := act(statements{transaction}); err != nil {
		return err
	}
	err = transaction.Commit()
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err() // the end of the context has rolled it back
	}
	return err
}

// statements returns the statements that run outside of a transaction.
func (d *Database) statements() statements { return statements{d.db} }

// statements run SQL, within a transaction or outside of one. Both dialects number their arguments $1, $2,
// ...
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

// row returns the only row of a query. Scan returns sql.ErrNoRows if there is none.
func (s statements) row(ctx context.Context, statement string, arguments ...any) *sql.Row {
	return s.on.QueryRowContext(ctx, statement, arguments...)
}

// scanner reads the columns of a row.
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

// all returns the rows of a query; read scans one.
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
// (PGUSER, PGPASSWORD, PGPASSFILE, ...). A missing SQLite file is created, and only its owner can
// read it: other permissions of an existing file are removed. No error contains the address, since it can contain a
// password.
//
// It returns [ErrOtherSchema] if an incompatible version of haggle created the database.
func Open(ctx context.Context, address string) (*Database, error) {
	database, err := connect(address, true)
	if err != nil {
		return nil, err
	}
	if database.Dialect == SQLite {
		_, err = sqlite.PrepareFile(database.Name)
	}
	if err == nil {
		err = database.migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", database.Name, err), database.Close())
	}
	return database, nil
}

// OpenExisting opens a database for reading. It neither creates nor changes anything. It returns
// [ErrNotIndexed] if the database holds no index, [ErrOldSchema] if an older version of haggle wrote it last,
// and [ErrOtherSchema] if an incompatible version created it.
func OpenExisting(ctx context.Context, address string) (*Database, error) {
	return openExisting(ctx, address, false)
}

// OpenForDeclarations opens a database for [Database.Declare]. It neither creates nor migrates it, and
// returns the same errors as [OpenExisting].
func OpenForDeclarations(ctx context.Context, address string) (*Database, error) {
	return openExisting(ctx, address, true)
}

func openExisting(ctx context.Context, address string, writes bool) (*Database, error) {
	database, err := connect(address, writes)
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
func (d *Database) Close() error {
	err := d.db.Close()
	if d.pool != nil {
		d.pool.Close()
	}
	return err
}

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
