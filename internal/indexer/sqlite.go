package indexer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// busyTimeout is the time to wait for another process that writes to the same SQLite file.
const busyTimeout = 10 * time.Second

func connectSQLite(path string, writes bool) (*Database, error) {
	path = strings.TrimPrefix(path, "//")
	if path == "" {
		return nil, fmt.Errorf("%w: sqlite: needs the path of a file", ErrAddress)
	}
	path = filepath.Clean(path) // the driver reads two leading slashes as the start of a host
	options := url.Values{}
	options.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()))
	if writes {
		options.Add("_pragma", "journal_mode(WAL)")
		options.Add("_pragma", "synchronous(FULL)")
		// A transaction that begins with a read cannot write after another process has written.
		options.Set("_txlock", "immediate")
	}
	location := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options.Encode()}
	opened, err := openSQLite(location.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Database{Dialect: SQLite, Name: path, engine: opened}, nil
}

// sqlite is a SQLite database.
type sqlite struct{ db *sql.DB }

func openSQLite(location string) (*sqlite, error) {
	db, err := sql.Open("sqlite", location)
	if err != nil {
		return nil, err
	}
	// SQLite has one writer, so a second connection would wait for the first one.
	db.SetMaxOpenConns(1)
	return &sqlite{db}, nil
}

func (s *sqlite) statements() statements { return sqliteStatements{s.db} }

func (s *sqlite) standard() (*sql.DB, func() error) { return s.db, func() error { return nil } }

func (s *sqlite) close() error { return s.db.Close() }

func (s *sqlite) write(ctx context.Context, act func(statements) error) error {
	transaction, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := act(sqliteStatements{transaction}); err != nil {
		return errors.Join(err, transaction.Rollback())
	}
	return transaction.Commit()
}

// read uses a plain transaction: each one in SQLite reads one snapshot.
func (s *sqlite) read(ctx context.Context, act func(statements) error) error {
	return s.write(ctx, act)
}

// sqliteStatements run on a connection or in a transaction.
type sqliteStatements struct {
	on interface {
		ExecContext(ctx context.Context, statement string, arguments ...any) (sql.Result, error)
		QueryContext(ctx context.Context, statement string, arguments ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, statement string, arguments ...any) *sql.Row
	}
}

func (s sqliteStatements) exec(ctx context.Context, statement string, arguments ...any) (int64, error) {
	done, err := s.on.ExecContext(ctx, statement, arguments...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func (s sqliteStatements) row(ctx context.Context, statement string, arguments ...any) row {
	return s.on.QueryRowContext(ctx, statement, arguments...)
}

func (s sqliteStatements) each(ctx context.Context, act func(scan func(...any) error) error, statement string,
	arguments ...any,
) error {
	rows, err := s.on.QueryContext(ctx, statement, arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return eachRow(rows, act)
}
