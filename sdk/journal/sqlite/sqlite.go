// Package sqlite is a journal in a SQLite database, which several processes of one machine can use at once:
//
//	store, err := sqlite.Open("/var/lib/agent/journal.db")
//	...
//	defer store.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: store})
//
// It keeps the finished entries, with their outcomes: see [journal.Database]. The table is haggle_journal, with the columns signature, wallet, action, negotiation,
// begun, outcome and finished (times in RFC 3339) beside the whole entry as JSON.
//
// Begin returns when the database is on the disk (synchronous=FULL).
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed" // the table
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/haggle-protocol/haggle/sdk/journal"
)

//go:embed schema.sql
var schema string

// leaseLength is shorter than over a network: an agent that was killed waits for its own lease.
const leaseLength = 3 * time.Second

// Open opens the journal in a database, and creates the database if it is missing; its directory must exist.
// It returns [journal.ErrDamaged] if the file is no such database, and [journal.ErrVersion] if the file has
// the tables of another version.
func Open(path string) (*journal.Database, error) { return open(path, 0, true) }

func open(path string, lease time.Duration, renew bool) (*journal.Database, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	settings := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(5000)"}, "_txlock": {"immediate"}}
	source := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: settings.Encode()}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	// One connection writes at a time anyway.
	db.SetMaxOpenConns(1)
	if err := prepare(db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return journal.NewDatabase(journal.DatabaseConfig{
		DB: db, Name: path, Lease: cmp.Or(lease, leaseLength), NoRenewal: !renew,
		Now:         "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
		Owners:      "SELECT value FROM json_each($1)",
		NextNumber:  "(SELECT max(number) + 1 FROM haggle_journal)",
		IsDuplicate: func(err error) bool { return hasCode(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) },
	}), nil
}

// prepare checks the file, and creates the table if it is missing.
func prepare(db *sql.DB, path string) error {
	ctx := context.Background()
	var fit string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&fit); hasCode(err, sqlite3.SQLITE_CANTOPEN) {
		return fmt.Errorf("journal: %s: %w", path, err)
	} else if err != nil {
		return fmt.Errorf("%w: %s: %w", journal.ErrDamaged, path, err)
	}
	if fit != "ok" {
		return fmt.Errorf("%w: %s: %s", journal.ErrDamaged, path, fit)
	}
	// Earlier versions numbered their tables, which had other names.
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("journal: %s: %w", path, err)
	}
	if version != 0 {
		return fmt.Errorf("%w: %s has version %d of the tables: %s", journal.ErrVersion, path, version, versionAdvice)
	}
	// With other columns than the schema's an index cannot be created, or the query fails.
	if _, err := db.ExecContext(ctx, schema+"SELECT authorized FROM haggle_journal LIMIT 0;"); hasCode(err, sqlite3.SQLITE_ERROR) {
		return fmt.Errorf("%w: %s: %w: %s", journal.ErrVersion, path, err, versionAdvice)
	} else if err != nil {
		return fmt.Errorf("journal: %s: %w", path, err)
	}
	return nil
}

// versionAdvice says how to continue with a journal of another version.
const versionAdvice = "let that version find the outcomes of its transactions, then use a new file"

// hasCode reports whether SQLite has failed with a code, or with one of the extended codes below it.
func hasCode(err error, code int) bool {
	var failed *sqlite.Error
	return errors.As(err, &failed) && (failed.Code() == code || failed.Code()&0xff == code)
}
