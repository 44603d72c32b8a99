// Package sqlite remembers in a SQLite database what a wallet has sent, as package journal does in a plain file:
//
//	store, err := sqlite.Open("/var/lib/agent/journal.db")
//	...
//	defer store.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: store})
//
// Unlike the file it keeps what is finished, with its outcome, for whoever wants to look it up: the table is journal, with the
// columns signature, wallet, action, negotiation, begun, outcome and finished (times in RFC 3339) beside the whole entry as JSON.
// [Store.Forget] removes what is old.
//
// Begin returns when the database is on the disk (synchronous=FULL). One process at a time can use it.
package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path/filepath"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // the driver

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// schema is the current version's; user_version says which one a database has.
const (
	schemaVersion = 2
	schema        = `
CREATE TABLE journal (
	number      INTEGER PRIMARY KEY,
	signature   TEXT NOT NULL UNIQUE,
	wallet      TEXT NOT NULL,
	action      TEXT NOT NULL,
	negotiation TEXT NOT NULL,
	begun       TEXT NOT NULL,
	entry       TEXT NOT NULL,
	idempotency TEXT NOT NULL,
	intent      TEXT NOT NULL,
	outcome     TEXT,
	finished    TEXT,
	acknowledged INTEGER NOT NULL DEFAULT 0,
	CHECK ((outcome IS NULL) = (finished IS NULL))
) STRICT;
CREATE INDEX journal_unfinished ON journal (wallet, number) WHERE outcome IS NULL;
CREATE INDEX journal_confirmed ON journal (wallet, idempotency) WHERE outcome = 'confirmed';
CREATE INDEX journal_unacknowledged ON journal (wallet, intent) WHERE outcome = 'confirmed' AND acknowledged = 0;
PRAGMA user_version = 2;`
)

// Store is a journal in a SQLite database. Its methods may be called from several goroutines.
type Store struct {
	path string
	lock *flock.Flock
	db   *sql.DB
}

// Open opens the journal in a database, or makes one; its directory has to exist. It fails with [haggle.ErrJournalLocked] if it is
// in use, and with [haggle.ErrJournalDamaged] if the file is no such database.
func Open(path string) (*Store, error) {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if !locked {
		return nil, fmt.Errorf("%w: %s", haggle.ErrJournalLocked, path)
	}
	store := &Store{path: path, lock: lock}
	if err := store.open(); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

func (s *Store) open() (err error) {
	absolute, err := filepath.Abs(s.path)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	settings := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(5000)"}, "_txlock": {"immediate"}}
	source := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: settings.Encode()}
	if s.db, err = sql.Open("sqlite", source.String()); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	// One connection writes at a time anyway.
	s.db.SetMaxOpenConns(1)
	ctx := context.Background()
	var fit string
	if err := s.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&fit); err != nil {
		return fmt.Errorf("%w: %s: %w", haggle.ErrJournalDamaged, s.path, err)
	}
	if fit != "ok" {
		return fmt.Errorf("%w: %s: %s", haggle.ErrJournalDamaged, s.path, fit)
	}
	var version int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	switch version {
	case schemaVersion:
		return nil
	case 0:
		return s.create(ctx)
	}
	return fmt.Errorf("%w: %s has version %d of the tables, not %d", haggle.ErrJournalDamaged, s.path, version, schemaVersion)
}

// create makes the tables, all of them or none.
func (s *Store) create(ctx context.Context) error {
	transaction, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if _, err := transaction.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("journal: %s: %w", s.path, errors.Join(err, transaction.Rollback()))
	}
	if err := transaction.Commit(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// begin either adds an entry, or begins one again that has been finished.
const begin = `
INSERT INTO journal (signature, wallet, action, negotiation, begun, entry, idempotency, intent) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (signature) DO UPDATE SET
	number = (SELECT max(number) + 1 FROM journal), wallet = excluded.wallet, action = excluded.action,
	negotiation = excluded.negotiation, begun = excluded.begun, entry = excluded.entry, idempotency = excluded.idempotency,
	intent = excluded.intent, outcome = NULL, finished = NULL, acknowledged = 0
WHERE outcome IS NOT NULL`

// Begin is [haggle.Journal]'s.
func (s *Store) Begin(ctx context.Context, entry haggle.JournalEntry) error {
	if err := entry.Validate(); err != nil {
		return err
	}
	encoded, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	negotiation := ""
	if !entry.Negotiation.IsZero() {
		negotiation = entry.Negotiation.String()
	}
	result, err := s.db.ExecContext(ctx, begin,
		entry.Signature.String(), entry.Wallet.String(), entry.Action, negotiation, timestamp(entry.Begun), string(encoded),
		entry.Key.String(), entry.Intent.String())
	if err != nil {
		return s.failed(ctx, err)
	}
	inserted, err := result.RowsAffected()
	if err == nil && inserted == 0 {
		return fmt.Errorf("%w: %s", haggle.ErrInJournal, entry.Signature)
	}
	return err
}

// Finish is [haggle.Journal]'s.
func (s *Store) Finish(ctx context.Context, signature solana.Signature, outcome haggle.Outcome, acknowledged bool) error {
	if !outcome.IsFinal() {
		return fmt.Errorf("journal: %s cannot be finished as %s", signature, outcome)
	}
	_, err := s.db.ExecContext(ctx, `UPDATE journal SET outcome = coalesce(outcome, ?), finished = coalesce(finished, ?),
		acknowledged = max(acknowledged, ?) WHERE signature = ? AND (outcome IS NULL OR acknowledged < ?)`,
		outcome.String(), timestamp(time.Now()), acknowledged, signature.String(), acknowledged)
	return s.failed(ctx, err)
}

// confirmedEntry prefers the entry with the key, which is sorted first.
const confirmedEntry = `
SELECT entry FROM (
	SELECT 0 AS rank, number, entry FROM journal WHERE wallet = ?1 AND idempotency = ?2 AND outcome = 'confirmed'
	UNION ALL
	SELECT 1, number, entry FROM journal WHERE wallet = ?1 AND intent = ?3 AND outcome = 'confirmed' AND acknowledged = 0
) ORDER BY rank, number LIMIT 1`

// Confirmed is [haggle.Journal]'s.
func (s *Store) Confirmed(ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash) (*haggle.JournalEntry, error) {
	var encoded string
	err := s.db.QueryRowContext(ctx, confirmedEntry, wallet.String(), unlessZero(key), unlessZero(intent)).Scan(&encoded)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	entry, err := decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", haggle.ErrJournalDamaged, s.path, err)
	}
	return &entry, nil
}

// unlessZero is NULL for a zero hash, which equals nothing.
func unlessZero(hash solana.Hash) any {
	if hash.IsZero() {
		return nil
	}
	return hash.String()
}

// Unfinished is [haggle.Journal]'s.
func (s *Store) Unfinished(ctx context.Context, wallet solana.PublicKey) iter.Seq2[haggle.JournalEntry, error] {
	return func(yield func(haggle.JournalEntry, error) bool) {
		// All at once: whoever reads may write meanwhile, and there is one connection.
		entries, err := s.unfinished(ctx, wallet)
		if err != nil {
			yield(haggle.JournalEntry{}, err)
			return
		}
		for _, entry := range entries {
			if !yield(entry, nil) {
				return
			}
		}
	}
}

func (s *Store) unfinished(ctx context.Context, wallet solana.PublicKey) (entries []haggle.JournalEntry, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT signature, entry FROM journal WHERE wallet = ? AND outcome IS NULL ORDER BY number`, wallet.String())
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var signature, encoded string
		if err := rows.Scan(&signature, &encoded); err != nil {
			return nil, s.failed(ctx, err)
		}
		entry, err := decode(encoded)
		if err == nil && (entry.Signature.String() != signature || entry.Wallet != wallet) {
			err = errors.New("the entry is another one's")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s: the entry of %s: %w", haggle.ErrJournalDamaged, s.path, signature, err)
		}
		entries = append(entries, entry)
	}
	return entries, s.failed(ctx, rows.Err())
}

func decode(encoded string) (entry haggle.JournalEntry, err error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(encoded)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&entry); err != nil {
		return haggle.JournalEntry{}, err
	}
	return entry, entry.Validate()
}

// Forget removes what was finished before a time, and returns the number of entries. Confirmed ones stay until they are
// acknowledged. The idempotency keys of the removed ones are then no longer known.
func (s *Store) Forget(ctx context.Context, before time.Time) (int64, error) {
	result, err := s.db.ExecContext(ctx, `DELETE FROM journal WHERE outcome IS NOT NULL AND finished < ?
		AND (outcome <> 'confirmed' OR acknowledged = 1)`, timestamp(before))
	if err != nil {
		return 0, s.failed(ctx, err)
	}
	return result.RowsAffected()
}

// Path is where the database is.
func (s *Store) Path() string { return s.path }

// Close ends the use of the database. Calling it again does nothing.
func (s *Store) Close() error {
	var err error
	if s.db != nil {
		err = s.db.Close()
	}
	return errors.Join(err, s.lock.Unlock())
}

// failed is a database's error; the context's if that has ended, which the driver calls an interruption.
func (s *Store) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("journal: %s: %w", s.path, err)
}

// timestamp is a time that sorts as text.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }
