// Package postgres is a journal in a PostgreSQL database, which several processes can use at once:
//
//	store, err := postgres.Open(ctx, "postgres://agent@db.internal/agents")
//	...
//	defer store.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: store})
//
// Open creates the table haggle_journal in the first schema of the search path. It keeps the finished
// entries, with their outcomes, until [Store.Forget] removes them.
//
// A unique index over wallet and idempotency key keeps two processes from carrying out one action. The
// process that begins an entry holds a lease on it for 30 seconds, by the server's clock, and renews it until
// the entry is finished. Other processes wait for the outcome, and resolve the transaction if the lease has
// ended because the process has died.
//
// An entry is as durable as a commit of the server. Open refuses a server with synchronous_commit = off.
// After a failover to an asynchronous standby, entries may be missing.
package postgres

import (
	"context"
	"crypto/rand"
	_ "embed" // the table
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/pgstore"
	"github.com/haggle-protocol/haggle/sdk/journal"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

//go:embed schema.sql
var schema string

// uniqueViolation is an error code of PostgreSQL.
const uniqueViolation = "23505"

const (
	leaseLength = 30 * time.Second
	// closeLimit is how long Close tries to release the leases.
	closeLimit = 5 * time.Second
)

// Store is a journal in a PostgreSQL database. Its methods may be called from several goroutines.
type Store struct {
	database *pgstore.Database
	// owner is this store's name in the table.
	owner string
	lease time.Duration

	closing context.CancelFunc
	// renewing has the goroutine that renews the leases.
	renewing sync.WaitGroup
	closed   sync.Once
}

// Open opens the journal in a database, and creates its table if it is missing. The address is a URL or a
// connection string of libpq. No error quotes its password.
func Open(ctx context.Context, address string) (*Store, error) {
	return open(ctx, address, leaseLength, true)
}

func open(ctx context.Context, address string, lease time.Duration, renew bool) (*Store, error) {
	database, err := pgstore.Open(ctx, pgstore.Config{
		Address: address, Prefix: "journal: ", Content: "entries",
		Lock: tableLock, Table: "haggle_journal", Schema: schema,
	})
	if err != nil {
		return nil, err
	}
	renewals, stop := context.WithCancel(context.Background())
	s := &Store{database: database, owner: rand.Text(), lease: lease, closing: stop}
	if renew {
		s.renewing.Go(func() { s.renewLeases(renewals) })
	}
	return s, nil
}

// tableLock is the advisory lock under which the table is created.
const tableLock = 0x6861_6767_6c65_0001

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
		}
		limited, cancel := context.WithTimeout(ctx, s.lease/3)
		_, _ = s.database.Exec(limited, `UPDATE haggle_journal SET leased_until = clock_timestamp() + $2::interval
			WHERE owner = $1 AND outcome IS NULL`, s.owner, s.lease)
		cancel()
	}
}

// begin either adds an entry, or begins one again that has been finished.
const begin = `
INSERT INTO haggle_journal
	(signature, wallet, action, negotiation, begun, entry, idempotency, intent, owner, leased_until)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp() + $10::interval)
ON CONFLICT (signature) DO UPDATE SET
	number = excluded.number, wallet = excluded.wallet, action = excluded.action,
	negotiation = excluded.negotiation, begun = excluded.begun, entry = excluded.entry,
	idempotency = excluded.idempotency, intent = excluded.intent, owner = excluded.owner,
	leased_until = excluded.leased_until, outcome = NULL, finished = NULL, acknowledged = false
WHERE haggle_journal.outcome IS NOT NULL`

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
	var negotiation any
	if !entry.Negotiation.IsZero() {
		negotiation = entry.Negotiation.String()
	}
	done, err := s.database.Exec(ctx, begin,
		entry.Signature.String(), entry.Wallet.String(), entry.Action, negotiation, entry.Begun, string(encoded),
		unlessZero(entry.Key), unlessZero(entry.Intent), s.owner, s.lease)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == uniqueViolation || err == nil && done.RowsAffected() == 0 {
		return fmt.Errorf("%w: %s", haggle.ErrInJournal, entry.Signature)
	}
	return s.database.Failed(ctx, err)
}

// finish writes an outcome unless there is one, and an acknowledgement. Only the owner can know that a
// transaction was not sent.
const finish = `
UPDATE haggle_journal SET
	outcome = coalesce(outcome, $2), finished = coalesce(finished, clock_timestamp()),
	acknowledged = acknowledged OR $3
WHERE signature = $1 AND (outcome IS NULL OR acknowledged < $3)
	AND (outcome IS NOT NULL OR NOT $4 OR owner = $5)`

// Finish implements [haggle.Journal].
func (s *Store) Finish(
	ctx context.Context, signature solana.Signature, outcome transaction.Outcome, acknowledged bool,
) error {
	if !outcome.IsFinal() {
		return fmt.Errorf("journal: %s cannot be finished as %s", signature, outcome)
	}
	notSent := outcome == transaction.NotSent
	done, err := s.database.Exec(ctx, finish,
		signature.String(), outcome.String(), acknowledged, notSent, s.owner)
	if err != nil || done.RowsAffected() > 0 || !notSent {
		return s.database.Failed(ctx, err)
	}
	var unfinished bool
	err = s.database.QueryRow(ctx,
		`SELECT EXISTS (SELECT FROM haggle_journal WHERE signature = $1 AND outcome IS NULL)`,
		signature.String()).Scan(&unfinished)
	if err == nil && unfinished {
		return fmt.Errorf("journal: %s cannot be finished as %s: the lease has ended", signature, outcome)
	}
	return s.database.Failed(ctx, err)
}

// confirmedEntry prefers the entry with the key.
const confirmedEntry = `
SELECT entry::text FROM haggle_journal
WHERE wallet = $1 AND outcome = 'confirmed' AND (idempotency = $2 OR intent = $3 AND NOT acknowledged)
ORDER BY idempotency IS NOT DISTINCT FROM $2::text DESC, number LIMIT 1`

// Confirmed implements [haggle.Journal].
func (s *Store) Confirmed(
	ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash,
) (*haggle.JournalEntry, error) {
	var encoded string
	err := s.database.QueryRow(ctx, confirmedEntry,
		wallet.String(), unlessZero(key), unlessZero(intent)).Scan(&encoded)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.database.Failed(ctx, err)
	}
	entry, err := journal.DecodeEntry(encoded, "", wallet)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", journal.ErrDamaged, s.database.Name, err)
	}
	return &entry, nil
}

// unlessZero returns NULL for a zero hash: NULL equals nothing.
func unlessZero(hash solana.Hash) any {
	if hash.IsZero() {
		return nil
	}
	return hash.String()
}

// Unfinished implements [haggle.Journal].
func (s *Store) Unfinished(
	ctx context.Context, wallet solana.PublicKey,
) iter.Seq2[haggle.JournalEntry, error] {
	return journal.Sequence(func() ([]haggle.JournalEntry, error) { return s.unfinished(ctx, wallet) })
}

func (s *Store) unfinished(ctx context.Context, wallet solana.PublicKey) ([]haggle.JournalEntry, error) {
	entries, ended, err := s.list(ctx, wallet)
	if err != nil || !ended {
		return entries, err
	}
	// The entry has no owner before it is returned as one without a lease, so that the earlier owner cannot
	// finish it as not sent any more. The row's lock orders this after a Finish that has begun.
	_, err = s.database.Exec(ctx, `UPDATE haggle_journal SET owner = NULL
		WHERE wallet = $1 AND outcome IS NULL AND owner <> $2 AND leased_until <= clock_timestamp()`,
		wallet.String(), s.owner)
	if err != nil {
		return nil, s.database.Failed(ctx, err)
	}
	entries, _, err = s.list(ctx, wallet)
	return entries, err
}

// list returns a wallet's unfinished entries. ended reports whether the lease of another process has ended.
func (s *Store) list(
	ctx context.Context, wallet solana.PublicKey,
) (entries []haggle.JournalEntry, ended bool, err error) {
	rows, err := s.database.Query(ctx,
		`SELECT signature, entry::text, coalesce(owner <> $2, false), leased_until <= clock_timestamp()
		FROM haggle_journal WHERE wallet = $1 AND outcome IS NULL ORDER BY number`, wallet.String(), s.owner)
	if err != nil {
		return nil, false, s.database.Failed(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var signature, encoded string
		var leased, due bool
		if err := rows.Scan(&signature, &encoded, &leased, &due); err != nil {
			return nil, false, s.database.Failed(ctx, err)
		}
		entry, err := journal.DecodeEntry(encoded, signature, wallet)
		if err != nil {
			return nil, false, fmt.Errorf("%w: %s: entry of %s: %w", journal.ErrDamaged, s.database.Name, signature, err)
		}
		entry.Leased, ended = leased, ended || leased && due
		entries = append(entries, entry)
	}
	return entries, ended, s.database.Failed(ctx, rows.Err())
}

// Forget removes the entries that were finished before a time, and returns their number. Confirmed entries
// stay until they are acknowledged. The journal no longer knows the idempotency keys of the removed entries.
func (s *Store) Forget(ctx context.Context, before time.Time) (int64, error) {
	done, err := s.database.Exec(ctx, `DELETE FROM haggle_journal WHERE outcome IS NOT NULL AND finished < $1
		AND (outcome <> 'confirmed' OR acknowledged)`, before)
	return done.RowsAffected(), s.database.Failed(ctx, err)
}

// Close releases the leases and closes the connections. A second call does nothing.
func (s *Store) Close() error {
	s.closed.Do(func() {
		s.closing()
		s.renewing.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		// Without an answer the leases end by themselves.
		_, _ = s.database.Exec(ctx, `UPDATE haggle_journal SET owner = NULL
			WHERE owner = $1 AND outcome IS NULL`, s.owner)
		s.database.Close()
	})
	return nil
}
