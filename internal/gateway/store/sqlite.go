package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries/sqlite"
	sdkdb "github.com/haggle-protocol/haggle/sdk/store/database"
	sqlitefile "github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// sqliteFile implements [database]. Transactions that write lock the file when they begin; readers cannot write.
type sqliteFile struct{ *sdkdb.Database }

func connectSQLite(ctx context.Context, path string, migrates bool) (*Store, error) {
	path = strings.TrimPrefix(path, "//")
	if path == "" {
		return nil, ErrAddress
	}
	var opened *sdkdb.Database
	var err error
	if migrates {
		opened, err = sqlitefile.OpenFile(ctx, path, tables)
	} else if opened, err = sqlitefile.Connect(path, tables); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", path, ErrNoGateway)
	}
	if err != nil {
		return nil, err
	}
	return &Store{Dialect: SQLite, Name: filepath.Clean(path), database: sqliteFile{opened}}, nil
}

func (f sqliteFile) reader() statements { return onSQLite(f.Reader) }
func (f sqliteFile) writer() statements { return onSQLite(f.DB) }
func (f sqliteFile) close() error       { return f.Close() }

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

func (f sqliteFile) begin(ctx context.Context) (session, error) {
	tx, err := f.Begin(ctx)
	if err != nil {
		return nil, err
	}
	// The session does not use [sdkdb.Tx.Commit]: if its check fails, the writes may already be committed.
	return sqliteSession{onSQLite(tx), tx.Tx}, nil
}

func (f sqliteFile) snapshot(ctx context.Context) (session, error) {
	tx, err := f.Snapshot(ctx)
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
