// Package sqlite is a journal in a SQLite database, which several processes of one machine can use at once:
//
//	store, err := sqlite.Open("/var/lib/agent/journal.db")
//	...
//	defer store.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: store})
//
// Unlike the file of package journal it keeps the finished entries, with their outcomes. The table is
// journal, with the columns signature, wallet, action, negotiation, begun, outcome and finished (times in RFC
// 3339) beside the whole entry as JSON. [Store.Forget] removes old entries.
//
// Several processes of one machine can use the database at once. A unique index over wallet and idempotency
// key keeps two of them from carrying out one action. The process that begins an entry holds a lease on it
// for 30 seconds, by the machine's clock, and renews it until the entry is finished. Other processes wait for
// the outcome, and resolve the transaction if the lease has ended because the process has died.
//
// Begin returns when the database is on the disk (synchronous=FULL).
package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/journal"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// schema creates the current version's tables; a database has its version in user_version.
const (
	schemaVersion = 3
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
	-- The process that waits for the outcome. NULL if no process does. The lease ends at leased_until, in
	-- milliseconds since 1970. When another process then reads the entry, the entry has no owner any more.
	owner       TEXT,
	leased_until INTEGER NOT NULL,
	outcome     TEXT,
	finished    TEXT,
	acknowledged INTEGER NOT NULL DEFAULT 0,
	CHECK ((outcome IS NULL) = (finished IS NULL))
) STRICT;
CREATE INDEX journal_unfinished ON journal (wallet, number) WHERE outcome IS NULL;
CREATE UNIQUE INDEX journal_keys ON journal (wallet, idempotency)
	WHERE idempotency <> '' AND (outcome IS NULL OR outcome = 'confirmed');
CREATE INDEX journal_confirmed ON journal (wallet, idempotency) WHERE outcome = 'confirmed';
CREATE INDEX journal_unacknowledged ON journal (wallet, intent) WHERE outcome = 'confirmed' AND acknowledged = 0;
PRAGMA user_version = 3;`
)

const (
	leaseLength = 30 * time.Second
	// closeLimit is how long Close tries to release the leases.
	closeLimit = 5 * time.Second
)

// Store is a journal in a SQLite database. Its methods may be called from several goroutines.
type Store struct {
	path string
	db   *sql.DB
	// owner is this store's name in the table.
	owner string
	lease time.Duration

	closing context.CancelFunc
	// renewing has the goroutine that renews the leases.
	renewing sync.WaitGroup
}

// Open opens the journal in a database, and creates the database if it is missing; its directory must exist.
// It returns [journal.ErrDamaged] if the file is no such database.
func Open(path string) (*Store, error) { return open(path, leaseLength, true) }

func open(path string, lease time.Duration, renew bool) (*Store, error) {
	renewals, stop := context.WithCancel(context.Background())
	store := &Store{path: path, owner: rand.Text(), lease: lease, closing: stop}
	if err := store.open(); err != nil {
		stop()
		if store.db != nil {
			err = errors.Join(err, store.db.Close())
		}
		return nil, err
	}
	if renew {
		store.renewing.Go(func() { store.renewLeases(renewals) })
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
		var failed *sqlite.Error
		if errors.As(err, &failed) && failed.Code()&0xff == sqlite3.SQLITE_CANTOPEN {
			return fmt.Errorf("journal: %s: %w", s.path, err)
		}
		return fmt.Errorf("%w: %s: %w", journal.ErrDamaged, s.path, err)
	}
	if fit != "ok" {
		return fmt.Errorf("%w: %s: %s", journal.ErrDamaged, s.path, fit)
	}
	var version int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if version == 0 {
		if version, err = s.create(ctx); err != nil {
			return fmt.Errorf("journal: %s: %w", s.path, err)
		}
	}
	if version != schemaVersion {
		return fmt.Errorf("%w: %s has version %d of the tables, not %d",
			journal.ErrDamaged, s.path, version, schemaVersion)
	}
	return nil
}

// create creates the tables unless another process has created them meanwhile, and returns their version.
func (s *Store) create(ctx context.Context) (version int, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil && version == 0 {
		version = schemaVersion
		_, err = tx.ExecContext(ctx, schema)
	}
	if err != nil {
		return 0, errors.Join(err, tx.Rollback())
	}
	return version, tx.Commit()
}

// renewLeases extends the leases until the store is closed. A failed renewal is repeated at the next
// interval: a lease outlives two of them.
func (s *Store) renewLeases(ctx context.Context) {
	ticker := time.NewTicker(s.lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_, _ = s.db.ExecContext(ctx, `UPDATE journal SET leased_until = ?
				WHERE owner = ? AND outcome IS NULL`, s.untilLeaseEnds(), s.owner)
		}
	}
}

// untilLeaseEnds returns the end of a lease that begins now, in the format of the table.
func (s *Store) untilLeaseEnds() int64 { return time.Now().Add(s.lease).UnixMilli() }

// begin either adds an entry, or begins one again that has been finished.
const begin = `
INSERT INTO journal
	(signature, wallet, action, negotiation, begun, entry, idempotency, intent, owner, leased_until)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (signature) DO UPDATE SET
	number = (SELECT max(number) + 1 FROM journal), wallet = excluded.wallet, action = excluded.action,
	negotiation = excluded.negotiation, begun = excluded.begun, entry = excluded.entry, idempotency = excluded.idempotency,
	intent = excluded.intent, owner = excluded.owner, leased_until = excluded.leased_until,
	outcome = NULL, finished = NULL, acknowledged = 0
WHERE outcome IS NOT NULL`

// Begin implements [haggle.Journal]. It returns [haggle.ErrInJournal] for an entry with the wallet and the
// key of an unfinished or confirmed one.
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
		stored(entry.Key), stored(entry.Intent), s.owner, s.untilLeaseEnds())
	var refused *sqlite.Error
	if errors.As(err, &refused) && refused.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE {
		return fmt.Errorf("%w: %s", haggle.ErrInJournal, entry.Signature)
	}
	if err != nil {
		return s.failed(ctx, err)
	}
	inserted, err := result.RowsAffected()
	if err == nil && inserted == 0 {
		return fmt.Errorf("%w: %s", haggle.ErrInJournal, entry.Signature)
	}
	return err
}

// finish writes an outcome unless there is one, and an acknowledgement. Only the owner can know that a
// transaction was not sent.
const finish = `
UPDATE journal SET
	outcome = coalesce(outcome, ?2), finished = coalesce(finished, ?3), acknowledged = max(acknowledged, ?4)
WHERE signature = ?1 AND (outcome IS NULL OR acknowledged < ?4)
	AND (outcome IS NOT NULL OR NOT ?5 OR owner = ?6)`

// Finish implements [haggle.Journal].
func (s *Store) Finish(ctx context.Context, signature solana.Signature, outcome transaction.Outcome, acknowledged bool) error {
	if !outcome.IsFinal() {
		return fmt.Errorf("journal: %s cannot be finished as %s", signature, outcome)
	}
	notSent := outcome == transaction.NotSent
	result, err := s.db.ExecContext(ctx, finish,
		signature.String(), outcome.String(), timestamp(time.Now()), acknowledged, notSent, s.owner)
	if err != nil || !notSent {
		return s.failed(ctx, err)
	}
	if changed, err := result.RowsAffected(); err != nil || changed > 0 {
		return s.failed(ctx, err)
	}
	var unfinished bool
	err = s.db.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT 1 FROM journal WHERE signature = ? AND outcome IS NULL)`,
		signature.String()).Scan(&unfinished)
	if err == nil && unfinished {
		return fmt.Errorf("journal: %s cannot be finished as %s: the lease has ended", signature, outcome)
	}
	return s.failed(ctx, err)
}

// confirmedEntry prefers the entry with the key, which is sorted first.
const confirmedEntry = `
SELECT entry FROM (
	SELECT 0 AS rank, number, entry FROM journal WHERE wallet = ?1 AND idempotency = ?2 AND outcome = 'confirmed'
	UNION ALL
	SELECT 1, number, entry FROM journal WHERE wallet = ?1 AND intent = ?3 AND outcome = 'confirmed' AND acknowledged = 0
) ORDER BY rank, number LIMIT 1`

// Confirmed implements [haggle.Journal].
func (s *Store) Confirmed(ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash) (*haggle.JournalEntry, error) {
	var encoded string
	err := s.db.QueryRowContext(ctx, confirmedEntry, wallet.String(), unlessZero(key), unlessZero(intent)).Scan(&encoded)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	entry, err := journal.DecodeEntry(encoded, "", wallet)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", journal.ErrDamaged, s.path, err)
	}
	return &entry, nil
}

// stored returns a hash in the format of the table: empty if it is zero.
func stored(hash solana.Hash) string {
	if hash.IsZero() {
		return ""
	}
	return hash.String()
}

// unlessZero returns NULL for a zero hash: NULL equals nothing.
func unlessZero(hash solana.Hash) any {
	if hash.IsZero() {
		return nil
	}
	return hash.String()
}

// Unfinished implements [haggle.Journal].
func (s *Store) Unfinished(ctx context.Context, wallet solana.PublicKey) iter.Seq2[haggle.JournalEntry, error] {
	return journal.Sequence(func() ([]haggle.JournalEntry, error) { return s.unfinished(ctx, wallet) })
}

func (s *Store) unfinished(ctx context.Context, wallet solana.PublicKey) ([]haggle.JournalEntry, error) {
	entries, ended, err := s.list(ctx, wallet)
	if err != nil || !ended {
		return entries, err
	}
	// The entry has no owner before it is returned as one without a lease, so that the earlier owner cannot
	// finish it as not sent any more.
	_, err = s.db.ExecContext(ctx, `UPDATE journal SET owner = NULL
		WHERE wallet = ? AND outcome IS NULL AND owner <> ? AND leased_until <= ?`,
		wallet.String(), s.owner, time.Now().UnixMilli())
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	entries, _, err = s.list(ctx, wallet)
	return entries, err
}

// list returns a wallet's unfinished entries. ended reports whether the lease of another process has ended.
func (s *Store) list(
	ctx context.Context, wallet solana.PublicKey,
) (entries []haggle.JournalEntry, ended bool, err error) {
	rows, err := s.db.QueryContext(ctx,
		`SELECT signature, entry, coalesce(owner <> ?, 0), leased_until <= ? FROM journal
		WHERE wallet = ? AND outcome IS NULL ORDER BY number`,
		s.owner, time.Now().UnixMilli(), wallet.String())
	if err != nil {
		return nil, false, s.failed(ctx, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var signature, encoded string
		var leased, due bool
		if err := rows.Scan(&signature, &encoded, &leased, &due); err != nil {
			return nil, false, s.failed(ctx, err)
		}
		entry, err := journal.DecodeEntry(encoded, signature, wallet)
		if err != nil {
			return nil, false, fmt.Errorf("%w: %s: entry of %s: %w",
				journal.ErrDamaged, s.path, signature, err)
		}
		entry.Leased, ended = leased, ended || leased && due
		entries = append(entries, entry)
	}
	return entries, ended, s.failed(ctx, rows.Err())
}

// Forget removes the entries that were finished before a time, and returns their number. Confirmed entries
// stay until they are acknowledged. The journal no longer knows the idempotency keys of the removed entries.
func (s *Store) Forget(ctx context.Context, before time.Time) (int64, error) {
	result, err := s.db.ExecContext(ctx, `DELETE FROM journal WHERE outcome IS NOT NULL AND finished < ?
		AND (outcome <> 'confirmed' OR acknowledged = 1)`, timestamp(before))
	if err != nil {
		return 0, s.failed(ctx, err)
	}
	return result.RowsAffected()
}

// Path returns the path of the database.
func (s *Store) Path() string { return s.path }

// Close releases the leases and closes the database. A second call does nothing.
func (s *Store) Close() error {
	s.closing()
	s.renewing.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	// If this fails, the leases end by themselves.
	_, _ = s.db.ExecContext(ctx, `UPDATE journal SET owner = NULL
		WHERE owner = ? AND outcome IS NULL`, s.owner)
	return s.db.Close()
}

// failed returns an error of the database, or the context's if that has ended: the driver reports that as an
// interruption.
func (s *Store) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("journal: %s: %w", s.path, err)
}

// timestamp formats a time such that the texts sort like the times.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }
