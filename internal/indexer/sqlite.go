package indexer

import (
	"database/sql"
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
	return &Database{Dialect: SQLite, Name: path, db: opened}, nil
}

func openSQLite(location string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", location)
	if err != nil {
		return nil, err
	}
	// SQLite has one writer, so a second connection would wait for the first one.
	db.SetMaxOpenConns(1)
	return db, nil
}
