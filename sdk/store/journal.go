package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/store/internal/queries"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

var _ haggle.JournalStore = (*Store)(nil)

// journal is a client's view. The leases belong to this client.
type journal struct {
	store *Store
	// owner is the client's name in the table.
	owner  string
	closed atomic.Bool
}

var errClosed = errors.New("journal closed")

// Begin implements [haggle.Journal].
func (j *journal) Begin(ctx context.Context, entry haggle.JournalEntry) error {
	if j.closed.Load() {
		return errClosed
	}
	if err := entry.Validate(); err != nil {
		return err
	}
	encoded, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	signature, refused := entry.Signature.String(), false
	err = j.store.write(ctx, func(q *queries.Queries) error {
		now, err := j.store.now(ctx, q)
		if err != nil {
			return err
		}
		if err := q.DeleteFinishedEntry(ctx, signature); err != nil {
			return err
		}
		added, err := q.AddEntry(ctx, queries.AddEntryParams{
			Signature: signature, Wallet: entry.Wallet.String(), Action: entry.Action,
			Negotiation: emptyIfZero(entry.Negotiation), Idempotency: emptyIfZero(entry.Key),
			Intent: emptyIfZero(entry.Intent), BegunAt: entry.Begun.UnixMilli(), Entry: string(encoded),
			Owner: j.owner, LeasedUntil: now + j.store.leases.length.Milliseconds(),
		})
		if err == nil && added == 0 {
			refused, err = true, haggle.ErrInJournal
		}
		return err
	})
	if refused {
		return fmt.Errorf("%w: %s", haggle.ErrInJournal, signature)
	}
	return err
}

// emptyIfZero formats a hash or an address. A zero value becomes an empty text.
func emptyIfZero[T interface {
	IsZero() bool
	String() string
}](value T) string {
	if value.IsZero() {
		return ""
	}
	return value.String()
}

// Authorize implements [haggle.Journal].
func (j *journal) Authorize(ctx context.Context, signature solana.Signature) error {
	if j.closed.Load() {
		return errClosed
	}
	changed, err := j.change(ctx, func(q *queries.Queries, _ int64) (int64, error) {
		return q.AuthorizeEntry(ctx, signature.String(), j.owner)
	})
	if err == nil && changed == 0 {
		err = fmt.Errorf("journal: %s cannot be authorised: it is finished, or the lease has ended", signature)
	}
	return err
}

// change runs a statement with the database's time, and returns the number of changed rows.
func (j *journal) change(
	ctx context.Context, statement func(*queries.Queries, int64) (int64, error),
) (changed int64, err error) {
	err = j.store.write(ctx, func(q *queries.Queries) error {
		now, err := j.store.now(ctx, q)
		if err == nil {
			changed, err = statement(q, now)
		}
		return err
	})
	return changed, err
}

// Revoke implements [haggle.Journal].
func (j *journal) Revoke(ctx context.Context, signature solana.Signature) error {
	// A canceled Begin may commit between the two statements. The second attempt finds the row.
	for range 2 {
		changed, err := j.change(ctx, func(q *queries.Queries, now int64) (int64, error) {
			return q.RevokeEntry(ctx, queries.RevokeEntryParams{
				Outcome: transaction.NotSent.String(), Now: now, Signature: signature.String(), Owner: j.owner,
			})
		})
		if err == nil && changed > 0 {
			return nil
		}
		// A database that rejects writes may still show that there is nothing to revoke.
		isNotSent, readErr := j.isNotSent(ctx, signature)
		if readErr == nil && isNotSent {
			return nil
		}
		if err = errors.Join(err, readErr); err != nil {
			return err
		}
	}
	return fmt.Errorf("journal: %s cannot be revoked: it is authorised, finished or leased", signature)
}

// isNotSent reports whether no entry of the transaction exists, or it is finished as not sent.
func (j *journal) isNotSent(ctx context.Context, signature solana.Signature) (bool, error) {
	outcome, err := j.store.queries.EntryOutcome(ctx, signature.String())
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	return outcome == transaction.NotSent.String(), j.store.failed(ctx, err)
}

// Finish implements [haggle.Journal].
func (j *journal) Finish(
	ctx context.Context, signature solana.Signature, outcome transaction.Outcome, acknowledged bool,
) error {
	if !outcome.IsFinal() {
		return fmt.Errorf("journal: %s cannot be finished as %s", signature, outcome)
	}
	notSent := outcome == transaction.NotSent
	changed, err := j.change(ctx, func(q *queries.Queries, now int64) (int64, error) {
		return q.FinishEntry(ctx, queries.FinishEntryParams{
			Outcome: outcome.String(), Now: now, Acknowledged: acknowledged, Signature: signature.String(),
			NotSent: notSent, Owner: j.owner,
		})
	})
	if err != nil || changed > 0 || !notSent {
		return err
	}
	isNotSent, err := j.isNotSent(ctx, signature)
	if err == nil && !isNotSent {
		err = fmt.Errorf("journal: %s cannot be finished as %s: the lease has ended, or it is finished otherwise",
			signature, outcome)
	}
	return err
}

// Confirmed implements [haggle.Journal].
func (j *journal) Confirmed(
	ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash,
) (*haggle.JournalEntry, error) {
	q := j.store.queries
	encoded, err := q.ConfirmedEntryOfKey(ctx, wallet.String(), emptyIfZero(key))
	if errors.Is(err, sql.ErrNoRows) {
		encoded, err = q.ConfirmedEntryOfIntent(ctx, wallet.String(), emptyIfZero(intent))
	}
	return j.found(ctx, wallet, encoded, err)
}

// found decodes the entry found by a statement, if any.
func (j *journal) found(
	ctx context.Context, wallet solana.PublicKey, encoded string, err error,
) (*haggle.JournalEntry, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, j.store.failed(ctx, err)
	}
	entry, err := decodeEntry(encoded, wallet)
	if err != nil {
		return nil, j.store.damaged("journal entry of "+wallet.String(), err)
	}
	return &entry, nil
}

func decodeEntry(encoded string, wallet solana.PublicKey) (entry haggle.JournalEntry, err error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(encoded)))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&entry); err == nil {
		err = entry.Validate()
	}
	if err == nil && entry.Wallet != wallet {
		err = fmt.Errorf("entry of wallet %s", entry.Wallet)
	}
	return entry, err
}

// Unfinished implements [haggle.Journal]. It reads all entries before yielding any, because the loop may
// write to the journal.
func (j *journal) Unfinished(
	ctx context.Context, wallet solana.PublicKey,
) iter.Seq2[haggle.JournalEntry, error] {
	return func(yield func(haggle.JournalEntry, error) bool) {
		entries, err := j.unleased(ctx, wallet)
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

// unleased ends the leases whose time is over, and returns a wallet's unfinished entries.
func (j *journal) unleased(ctx context.Context, wallet solana.PublicKey) ([]haggle.JournalEntry, error) {
	entries, ended, err := j.unfinished(ctx, wallet)
	if err != nil || !ended {
		return entries, err
	}
	// The owner is removed before the entry is returned as unleased. The earlier owner can then neither
	// authorize it nor finish it as not sent. The row lock orders this after any write already begun.
	_, err = j.change(ctx, func(q *queries.Queries, now int64) (int64, error) {
		return 0, q.AbandonEntries(ctx, wallet.String(), j.owner, now)
	})
	if err != nil {
		return nil, err
	}
	entries, _, err = j.unfinished(ctx, wallet)
	return entries, err
}

// unfinished returns a wallet's unfinished entries. ended reports whether the lease of another client has
// ended.
func (j *journal) unfinished(
	ctx context.Context, wallet solana.PublicKey,
) (entries []haggle.JournalEntry, ended bool, err error) {
	now, err := j.store.now(ctx, j.store.queries)
	if err != nil {
		return nil, false, j.store.failed(ctx, err)
	}
	rows, err := j.store.queries.UnfinishedEntries(ctx, wallet.String())
	if err != nil {
		return nil, false, j.store.failed(ctx, err)
	}
	for _, row := range rows {
		entry, err := decodeEntry(row.Entry, wallet)
		if err == nil && entry.Signature.String() != row.Signature {
			err = errors.New("entry of a different transaction")
		}
		if err != nil {
			return nil, false, j.store.damaged("journal entry "+row.Signature, err)
		}
		entry.Authorized, entry.Leased = row.Authorized, row.Owner != "" && row.Owner != j.owner
		ended = ended || entry.Leased && row.LeasedUntil <= now
		entries = append(entries, entry)
	}
	return entries, ended, nil
}

// Close implements [haggle.Journal].
func (j *journal) Close() error {
	if !j.closed.Swap(true) {
		j.store.closeJournal(j.owner)
	}
	return nil
}

// ForgetEntries removes the journal's entries that were finished before a time, and returns how many it
// removed. Confirmed entries stay until acknowledged. The journal no longer knows the idempotency keys of the
// removed entries.
func (s *Store) ForgetEntries(ctx context.Context, before time.Time) (forgotten int64, err error) {
	err = s.write(ctx, func(q *queries.Queries) (err error) {
		forgotten, err = q.ForgetEntries(ctx, before.UnixMilli())
		return err
	})
	return forgotten, err
}
