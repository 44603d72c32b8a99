package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// clientJournal is the view of one client. Its leases are the client's.
type clientJournal struct {
	database *Database
	// owner is the client's name in the table.
	owner  string
	closed atomic.Bool
}

var errClosed = errors.New("journal: closed")

// Begin implements [haggle.Journal]. It returns [haggle.ErrInJournal] for an entry with the wallet and the
// key of an unfinished or confirmed one.
func (j *clientJournal) Begin(ctx context.Context, entry haggle.JournalEntry) error {
	if j.closed.Load() {
		return errClosed
	}
	if err := entry.Validate(); err != nil {
		return err
	}
	encoded, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	begun, err := j.database.exec(ctx, j.database.begin, entry.Signature.String(), entry.Wallet.String(),
		entry.Action, unlessZero(entry.Negotiation), timestamp(entry.Begun), string(encoded), unlessZero(entry.Key),
		unlessZero(entry.Intent), j.owner, j.database.config.Lease.Milliseconds())
	if j.database.config.IsDuplicate(err) || err == nil && begun == 0 {
		return fmt.Errorf("%w: %s", haggle.ErrInJournal, entry.Signature)
	}
	return err
}

// Authorize implements [haggle.Journal].
func (j *clientJournal) Authorize(ctx context.Context, signature solana.Signature) error {
	if j.closed.Load() {
		return errClosed
	}
	changed, err := j.database.exec(ctx, authorizeEntry, signature.String(), j.owner)
	if err == nil && changed == 0 {
		err = fmt.Errorf("journal: %s cannot be authorised: it is finished, or the lease has ended", signature)
	}
	return err
}

// Revoke implements [haggle.Journal].
func (j *clientJournal) Revoke(ctx context.Context, signature solana.Signature) error {
	// A cancelled Begin may commit between the two statements. The second attempt finds its row.
	for range 2 {
		changed, err := j.database.exec(ctx, j.database.revoke, signature.String(), j.owner,
			transaction.NotSent.String(), timestamp(time.Now()))
		if err == nil && changed > 0 {
			return nil
		}
		// A database that cannot be written may still show that there is nothing to revoke.
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
func (j *clientJournal) isNotSent(ctx context.Context, signature solana.Signature) (bool, error) {
	var outcome string
	err := j.database.config.DB.QueryRowContext(ctx, readOutcome, signature.String()).Scan(&outcome)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	return outcome == transaction.NotSent.String(), j.database.failed(ctx, err)
}

// Finish implements [haggle.Journal].
func (j *clientJournal) Finish(
	ctx context.Context, signature solana.Signature, outcome transaction.Outcome, acknowledged bool,
) error {
	if !outcome.IsFinal() {
		return fmt.Errorf("journal: %s cannot be finished as %s", signature, outcome)
	}
	notSent := outcome == transaction.NotSent
	changed, err := j.database.exec(ctx, finishEntry,
		signature.String(), outcome.String(), timestamp(time.Now()), acknowledged, notSent, j.owner)
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
func (j *clientJournal) Confirmed(
	ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash,
) (*haggle.JournalEntry, error) {
	var encoded string
	err := j.database.config.DB.QueryRowContext(ctx, findConfirmed,
		wallet.String(), unlessZero(key), unlessZero(intent)).Scan(&encoded)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, j.database.failed(ctx, err)
	}
	entry, err := j.database.decode(encoded)
	return &entry, err
}

func (d *Database) decode(encoded string) (entry haggle.JournalEntry, err error) {
	decoder := json.NewDecoder(strings.NewReader(encoded))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&entry); err == nil {
		err = entry.Validate()
	}
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, d.config.Name, err)
	}
	return entry, err
}

// Unfinished implements [haggle.Journal].
func (j *clientJournal) Unfinished(
	ctx context.Context, wallet solana.PublicKey,
) iter.Seq2[haggle.JournalEntry, error] {
	return sequence(func() ([]haggle.JournalEntry, error) {
		entries, ended, err := j.unfinished(ctx, wallet)
		if err != nil || !ended {
			return entries, err
		}
		// The entry has no owner before it is returned as one without a lease, so that the earlier owner
		// can neither authorise it nor finish it as not sent any more. The row's lock orders this after a
		// write that has begun.
		if _, err := j.database.exec(ctx, j.database.abandon, wallet.String(), j.owner); err != nil {
			return nil, err
		}
		entries, _, err = j.unfinished(ctx, wallet)
		return entries, err
	})
}

// sequence returns the entries of a list. The list is read as a whole before the first entry is yielded,
// because the loop may write to the journal.
func sequence(list func() ([]haggle.JournalEntry, error)) iter.Seq2[haggle.JournalEntry, error] {
	return func(yield func(haggle.JournalEntry, error) bool) {
		entries, err := list()
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

// unfinished returns a wallet's unfinished entries. ended reports whether the lease of another client has
// ended.
func (j *clientJournal) unfinished(
	ctx context.Context, wallet solana.PublicKey,
) (entries []haggle.JournalEntry, ended bool, err error) {
	rows, err := j.database.config.DB.QueryContext(ctx, j.database.list, wallet.String(), j.owner)
	if err != nil {
		return nil, false, j.database.failed(ctx, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var signature, encoded string
		var authorized, leased, due bool
		if err := rows.Scan(&signature, &encoded, &authorized, &leased, &due); err != nil {
			return nil, false, j.database.failed(ctx, err)
		}
		entry, err := j.database.decode(encoded)
		if err == nil && (entry.Signature.String() != signature || entry.Wallet != wallet) {
			err = fmt.Errorf("%w: %s: entry of %s belongs to a different transaction", ErrDamaged,
				j.database.config.Name, signature)
		}
		if err != nil {
			return nil, false, err
		}
		entry.Authorized, entry.Leased, ended = authorized, leased, ended || leased && due
		entries = append(entries, entry)
	}
	return entries, ended, j.database.failed(ctx, rows.Err())
}

// Close implements [haggle.Journal].
func (j *clientJournal) Close() error {
	if j.closed.Swap(true) {
		return nil
	}
	j.database.remove(j.owner)
	return nil
}
