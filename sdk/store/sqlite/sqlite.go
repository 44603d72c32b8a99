// Package sqlite opens a state database in a SQLite file. Several processes on the same machine can use it at
// once:
//
//	state, err := sqlite.Open(ctx, "/var/lib/agent/state.db")
//	...
//	defer state.Close()
//
// A commit is synced to the disk (WAL, synchronous=FULL). SQLite keeps two more files beside the database
// while it is open, with the suffixes -wal and -shm. To copy or move the database, first end all processes
// using it.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cenkalti/backoff/v5"

	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/database"
)

// busyTimeout is how long to wait for another writing process.
const busyTimeout = 10 * time.Second

// Open opens a state database, and creates the file if it is missing; the directory must exist. Only the
// file's owner can read it: an existing file loses other permissions. Symbolic links are followed.
//
// Open returns [store.ErrHardLinks] for a file with several hard links, [store.ErrDamaged] if the file is not
// an intact SQLite database, and [store.ErrVersion] for a database of another version or another program.
// After the file is deleted or replaced, every write returns [store.ErrReplaced].
func Open(ctx context.Context, path string) (*store.Store, error) {
	opened, err := OpenFile(ctx, path, store.Schema())
	if err != nil {
		return nil, err
	}
	return store.New(opened), nil
}

// OpenFile opens a SQLite file with another program's tables, as [Open] does, and creates or migrates the
// tables. It returns package database's errors.
func OpenFile(ctx context.Context, path string, tables database.Schema) (*database.Database, error) {
	canonical, err := PrepareFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tables.Kind, err)
	}
	opened := &database.Database{Schema: tables, Name: canonical}
	if opened.DB, err = connect(canonical, "immediate", "journal_mode(WAL)"); err != nil {
		return nil, opened.Failed(ctx, err)
	}
	opened.Reader, opened.Release = opened.DB, opened.DB.Close
	if err := open(ctx, opened); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// Connect opens an existing SQLite file with the tables of another program. Unlike [OpenFile] it neither creates the
// file nor changes its permissions or its journal mode, and neither checks nor migrates the tables. The error for a
// missing file matches [fs.ErrNotExist].
func Connect(path string, tables database.Schema) (*database.Database, error) {
	canonical, err := canonicalPath(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tables.Kind, err)
	}
	db, err := connect(canonical, "immediate")
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", tables.Kind, canonical, err)
	}
	db.SetMaxOpenConns(1)
	opened := &database.Database{Schema: tables, Name: canonical, DB: db, Reader: db, Release: db.Close}
	if err := openReaders(opened); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// connect returns the connections to a file. Their transactions that write begin with the lock. The driver executes
// the pragmas for each connection.
func connect(path, lock string, pragmas ...string) (*sql.DB, error) {
	options := url.Values{"_txlock": {lock}, "_pragma": append([]string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "synchronous(FULL)", "foreign_keys(1)",
	}, pragmas...)}
	source := url.URL{
		Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: options.Encode(),
	}
	return sql.Open("sqlite", source.String())
}

func open(ctx context.Context, opened *database.Database) error {
	kind, path := opened.Schema.Kind, opened.Name
	before, err := identify(path)
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	// A single connection does the work, because SQLite allows a single writer. A second connection stays
	// open: SQLite deletes the write-ahead log when the last connection is closed.
	opened.DB.SetMaxOpenConns(2)
	// The first connection to a file sets the journal mode, and does not wait for another process that does so, too.
	anchor, err := database.Retry(ctx, func() (*sql.Conn, error) {
		connection, err := opened.DB.Conn(ctx)
		if err != nil && !hasCode(err, sqlite3.SQLITE_BUSY) {
			err = backoff.Permanent(err)
		}
		return connection, err
	})
	if err != nil {
		return unreadable(opened, err)
	}
	opened.Release = func() error { return errors.Join(anchor.Close(), opened.DB.Close()) }
	if err := checkContent(ctx, anchor, opened.Schema); err != nil {
		return unreadable(opened, err)
	}
	files, err := openFiles(path)
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if !os.SameFile(before, files[0].info) {
		return fmt.Errorf("%s: %w: %s", kind, database.ErrReplaced, path)
	}
	opened.Check = files.check
	if err := opened.Migrate(ctx); err != nil {
		return err
	}
	return openReaders(opened)
}

// openReaders opens the connections that only read, if the schema requires any.
func openReaders(opened *database.Database) error {
	if opened.Schema.Readers == 0 {
		return nil
	}
	readers, err := connect(opened.Name, "deferred", "query_only(1)")
	if err != nil {
		return unreadable(opened, err)
	}
	readers.SetMaxOpenConns(opened.Schema.Readers)
	readers.SetMaxIdleConns(opened.Schema.Readers)
	release := opened.Release
	opened.Reader, opened.Release = readers, func() error { return errors.Join(readers.Close(), release()) }
	return nil
}

// PrepareFile makes a SQLite file ready for a driver, and returns the path without symbolic links. It creates
// a missing file, because SQLite would create a file that others can read. It removes other users'
// permissions from an existing database, and from the write-ahead log and index left by a killed process.
// SQLite gives new files the permissions of the database. [OpenFile] calls it; programs that open a file in
// another way call it first. It returns [database.ErrHardLinks] for a file with several hard links.
func PrepareFile(path string) (canonical string, err error) {
	canonical, err = canonicalPath(path)
	if errors.Is(err, fs.ErrNotExist) {
		canonical, err = create(filepath.Clean(path))
	}
	if err != nil {
		return "", err
	}
	for _, suffix := range suffixes {
		if err := makePrivate(canonical + suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return "", err
		}
	}
	return canonical, nil
}

// canonicalPath returns the absolute path of an existing file without symbolic links.
func canonicalPath(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(absolute)
}

// makePrivate removes other users' permissions from a file.
func makePrivate(path string) error {
	info, err := identify(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()&^0o077)
}

// create creates a file in an existing directory. A symbolic link at the path is an error, because it is
// dangling.
func create(path string) (string, error) {
	directory, err := canonicalPath(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	path = filepath.Join(directory, filepath.Base(path))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return filepath.EvalSymlinks(path) // another process just created it
	}
	if err != nil {
		return "", err
	}
	return path, file.Close()
}

// checkContent checks that the file is empty or a database with a version table.
func checkContent(ctx context.Context, db *sql.Conn, tables database.Schema) error {
	if !tables.Unchecked {
		var result string
		if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
			return err
		}
		if result != "ok" {
			return fmt.Errorf("%w: %s", database.ErrDamaged, result)
		}
	}
	var foreign bool
	err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_schema)
		AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = $1)`, tables.VersionTable).Scan(&foreign)
	if err == nil && foreign {
		err = fmt.Errorf("%w: tables of another program", database.ErrVersion)
	}
	return err
}

// unreadable returns the error for a file that SQLite cannot read.
func unreadable(opened *database.Database, err error) error {
	if hasCode(err, sqlite3.SQLITE_NOTADB) || hasCode(err, sqlite3.SQLITE_CORRUPT) {
		err = fmt.Errorf("%w: %w", database.ErrDamaged, err)
	}
	return fmt.Errorf("%s %s: %w", opened.Schema.Kind, opened.Name, err)
}

// hasCode reports whether SQLite has failed with a code or with an extended form of the code.
func hasCode(err error, code int) bool {
	var failed *sqlite.Error
	return errors.As(err, &failed) && (failed.Code() == code || failed.Code()&0xff == code)
}
