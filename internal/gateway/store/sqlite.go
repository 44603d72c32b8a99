package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	_ "modernc.org/sqlite" // the driver

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries/sqlite"
	sqlitefile "github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// busyTimeout is how long to wait for another process writing to the same SQLite file.
const busyTimeout = 5 * time.Second

// migrationTries is the number of attempts to create a SQLite file's tables. SQLite offers no lock for it: if
// several processes start on a new file, one process creates the tables, and the others fail and find them
// the next time.
const migrationTries = 8

// sqliteFile implements [database].
type sqliteFile struct {
	path string
	// writes holds a single connection; transactions on it lock the file when they begin. reads cannot write.
	writes, reads *sql.DB
}

func connectSQLite(path string) (*Store, error) {
	path = strings.TrimPrefix(path, "//")
	if path == "" {
		return nil, ErrAddress
	}
	path = filepath.Clean(path) // the driver reads two leading slashes as a host
	open := func(immediate bool, connections int) (*sql.DB, error) {
		options := url.Values{}
		options.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()))
		options.Add("_pragma", "journal_mode(WAL)")
		options.Add("_pragma", "synchronous(FULL)")
		options.Add("_pragma", "foreign_keys(1)")
		if immediate {
			// A transaction that begins with a read cannot write after another process wrote.
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
	// SQLite allows a single writer: a second connection would only block.
	writes, err := open(true, 1)
	if err != nil {
		return nil, err
	}
	reads, err := open(false, 4)
	if err != nil {
		return nil, errors.Join(err, writes.Close())
	}
	return &Store{Dialect: SQLite, Name: path, database: &sqliteFile{path, writes, reads}}, nil
}

func (f *sqliteFile) prepare(ctx context.Context) error {
	if _, err := sqlitefile.PrepareFile(f.path); err != nil {
		return err
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := migrate(ctx, SQLite, f.writes)
		if errors.Is(err, ErrNewerSchema) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxTries(migrationTries), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 20 * time.Millisecond, MaxInterval: time.Second, Multiplier: 2, RandomizationFactor: 0.5,
	}))
	return err
}

func (f *sqliteFile) reader() statements { return onSQLite(f.reads) }
func (f *sqliteFile) writer() statements { return onSQLite(f.writes) }
func (f *sqliteFile) close() error       { return errors.Join(f.reads.Close(), f.writes.Close()) }

// sqliteStatements implements [statements] on a [sql.DB] or a [sql.Tx].
type sqliteStatements struct {
	*sqlite.Queries
	on sqlite.DBTX
}

func onSQLite(on sqlite.DBTX) sqliteStatements { return sqliteStatements{sqlite.New(on), on} }

func (s sqliteStatements) each(ctx context.Context, row func(scan) error, statement string, arguments ...any) error {
	rows, err := s.on.QueryContext(ctx, statement, arguments...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // see Err
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// sqliteSession implements [session].
type sqliteSession struct {
	sqliteStatements
	tx *sql.Tx
}

func (f *sqliteFile) begin(ctx context.Context) (session, error) {
	return beginSQLite(ctx, f.writes, sql.TxOptions{})
}

func (f *sqliteFile) snapshot(ctx context.Context) (session, error) {
	return beginSQLite(ctx, f.reads, sql.TxOptions{ReadOnly: true})
}

func beginSQLite(ctx context.Context, db *sql.DB, options sql.TxOptions) (session, error) {
	tx, err := db.BeginTx(ctx, &options)
	if err != nil {
		return nil, err
	}
	return sqliteSession{onSQLite(tx), tx}, nil
}

func (s sqliteSession) commit(ctx context.Context, writes ...write) error {
	for _, w := range writes {
		if err := w(ctx, s); err != nil {
			return err
		}
	}
	return s.tx.Commit()
}

func (s sqliteSession) handle() Tx { return Tx{SQLite: s.tx} }

func (s sqliteSession) end(context.Context) { _ = s.tx.Rollback() } // an error after the commit
