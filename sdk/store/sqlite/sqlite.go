// Package sqlite opens a state database in a SQLite file, which several processes of one machine can use at
// once:
//
//	state, err := sqlite.Open(ctx, "/var/lib/agent/state.db")
//	...
//	defer state.Close()
//
// A commit is synced to the disk (WAL, synchronous=FULL). SQLite keeps two more files beside the database while
// it is open, with the suffixes -wal and -shm. To copy or move the database, first end its processes.
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

	"github.com/haggle-protocol/haggle/sdk/store"
)

// busyTimeout is the time to wait for another process that writes.
const busyTimeout = 5 * time.Second

// Open opens a database, and creates the file if it is missing; its directory must exist. Only the file's owner
// can read it: other permissions of an existing file are removed. Symbolic links are followed.
//
// Open returns [store.ErrHardLinks] for a file with several hard links, [store.ErrDamaged] for a file that is no
// intact SQLite database, and [store.ErrVersion] for a database of another version or another program. After
// the file is deleted or replaced, every write returns [store.ErrReplaced].
func Open(ctx context.Context, path string) (*store.Store, error) {
	canonical, err := prepareFile(path)
	if err != nil {
		return nil, fmt.Errorf("state database: %w", err)
	}
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)",
		"foreign_keys(1)",
	}}
	source := url.URL{
		Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(canonical)}).EscapedPath(), RawQuery: options.Encode(),
	}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, fmt.Errorf("state database %s: %w", canonical, err)
	}
	opened, err := open(ctx, db, canonical)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return opened, nil
}

func open(ctx context.Context, db *sql.DB, path string) (_ *store.Store, err error) {
	before, err := identify(path)
	if err != nil {
		return nil, fmt.Errorf("state database: %w", err)
	}
	// One connection works; SQLite has one writer. Another one stays open: SQLite deletes the write-ahead log
	// when the last connection is closed.
	db.SetMaxOpenConns(2)
	anchor, err := db.Conn(ctx)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, anchor.Close())
		}
	}()
	if err := checkContent(ctx, anchor); err != nil {
		return nil, unreadable(path, err)
	}
	files, err := openFiles(path)
	if err != nil {
		return nil, fmt.Errorf("state database: %w", err)
	}
	if !os.SameFile(before, files[0].info) {
		return nil, fmt.Errorf("%w: %s", store.ErrReplaced, path)
	}
	return store.New(ctx, store.Config{
		DB: db, Name: path, Check: files.check, Close: func() error { return errors.Join(anchor.Close(), db.Close()) },
	})
}

// prepareFile returns the path without symbolic links. It creates the file if it is missing, because SQLite
// would create a file that others can read.
func prepareFile(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	canonical, err := filepath.EvalSymlinks(absolute)
	if errors.Is(err, fs.ErrNotExist) {
		canonical, err = create(absolute)
	}
	if err != nil {
		return "", err
	}
	info, err := identify(canonical)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(canonical, info.Mode().Perm()&^0o077)
	}
	return canonical, err
}

// create creates a file in an existing directory. A symbolic link at the path is an error, because it has no
// target.
func create(path string) (string, error) {
	directory, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	path = filepath.Join(directory, filepath.Base(path))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return filepath.EvalSymlinks(path) // another process has just created it
	}
	if err != nil {
		return "", err
	}
	return path, file.Close()
}

// checkContent checks that the file is empty or a state database.
func checkContent(ctx context.Context, db *sql.Conn) error {
	var result string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return fmt.Errorf("%w: %s", store.ErrDamaged, result)
	}
	var foreign bool
	err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_schema)
		AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = $1)`, store.VersionTable).Scan(&foreign)
	if err == nil && foreign {
		err = fmt.Errorf("%w: tables of another program", store.ErrVersion)
	}
	return err
}

// unreadable returns the error of a file that SQLite cannot read.
func unreadable(path string, err error) error {
	if hasCode(err, sqlite3.SQLITE_NOTADB) || hasCode(err, sqlite3.SQLITE_CORRUPT) {
		err = fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return fmt.Errorf("state database %s: %w", path, err)
}

// hasCode reports whether SQLite has failed with a code, or with an extended code of it.
func hasCode(err error, code int) bool {
	var failed *sqlite.Error
	return errors.As(err, &failed) && (failed.Code() == code || failed.Code()&0xff == code)
}
