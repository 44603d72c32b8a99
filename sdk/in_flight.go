package haggle

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// inFlight is the client's journal, and the unfinished entries that this client waits for, in a call or in
// the background.
type inFlight struct {
	journal Journal

	// lock is held shared while an entry changes in the journal and in flights, and exclusively while both
	// are compared.
	lock        sync.RWMutex
	flightsLock sync.Mutex
	flights     map[solana.Signature]*flight
}

// flight is an unfinished entry that this client waits for.
type flight struct {
	key solana.Hash
	// ended is closed at the end of the wait; result is set before, in the background only.
	ended  chan struct{}
	result Recovered
	// background reports whether an earlier process or call left the entry unfinished, and no action's call
	// waits for it.
	background bool
}

func newInFlight(store JournalStore) *inFlight {
	if store == nil {
		return nil
	}
	return &inFlight{journal: store.OpenJournal(), flights: make(map[solana.Signature]*flight)}
}

// close ends the client's leases. If there is no journal, it does nothing.
func (f *inFlight) close() error {
	if f == nil {
		return nil
	}
	return f.journal.Close()
}

// errNotAuthorized: the sender stopped between the two steps that authorize a transaction.
var errNotAuthorized = unsent(errors.New("haggle: the journal never authorised the transaction"))

// revocationLimit is how long a client tries to revoke an entry when Begin or Authorize failed. The caller's
// context does not shorten it.
const revocationLimit = 5 * time.Second

// begin writes an entry and authorizes it. The transaction must not be sent unless begin returned nil. If an
// entry in flight uses the same key, the error is [ErrInJournal]. The error states NotSent only if the
// journal proves that no client can send the transaction, and otherwise Unknown.
func (f *inFlight) begin(ctx context.Context, entry JournalEntry) error {
	f.lock.RLock()
	defer f.lock.RUnlock()
	failed := &JournalError{Op: journalBegin, Signature: entry.Signature, Err: ErrInJournal}
	known := f.add(entry.Signature, &flight{key: entry.Key, ended: make(chan struct{})})
	switch known {
	case entry.Signature:
		return failed // another call sends this very transaction
	case solana.Signature{}:
	default:
		failed.Outcome = transaction.NotSent
		return failed
	}
	if failed.Err = f.journal.Begin(ctx, entry); failed.Err != nil {
		f.withdraw(ctx, failed, f.journal.Revoke)
		return failed
	}
	failed.Op = journalAuthorize
	if failed.Err = f.journal.Authorize(ctx, entry.Signature); failed.Err != nil {
		// This call began the entry and sends nothing, so while it holds the lease no client does.
		f.withdraw(ctx, failed, func(ctx context.Context, signature solana.Signature) error {
			return f.journal.Finish(ctx, signature, transaction.NotSent, true)
		})
		return failed
	}
	return nil
}

// withdraw finishes an unsent entry, even if the caller's context ended, and sets the error's outcome.
func (f *inFlight) withdraw(
	ctx context.Context, failed *JournalError, finish func(context.Context, solana.Signature) error,
) {
	defer f.remove(failed.Signature)
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), revocationLimit)
	defer cancel()
	if err := finish(limited, failed.Signature); err != nil {
		failed.Err = errors.Join(failed.Err, err)
		return
	}
	failed.Outcome = transaction.NotSent
}

// end records a transaction's outcome and returns the error for the sender, which is failure if the record
// succeeds. If the outcome is unknown, the entry stays unfinished. The caller removes the flight.
func (f *inFlight) end(
	ctx context.Context, signature solana.Signature, failure error, acknowledged bool,
) error {
	f.lock.RLock()
	defer f.lock.RUnlock()
	outcome := transaction.OutcomeOf(failure)
	if !outcome.IsFinal() {
		return failure
	}
	// The outcome is recorded even if the caller's context ended.
	if err := f.journal.Finish(context.WithoutCancel(ctx), signature, outcome, acknowledged); err != nil {
		if outcome == transaction.NotSent {
			outcome = transaction.Unknown // a later resolution of the unfinished entry sends the transaction
		}
		return &JournalError{Op: journalFinish, Signature: signature, Outcome: outcome, Err: err, Failure: failure}
	}
	return failure
}

// revoke finishes an unauthorized entry, and returns the transaction's error: errNotAuthorized, or a
// [*JournalError] if the entry may be authorized.
func (f *inFlight) revoke(ctx context.Context, signature solana.Signature) error {
	f.lock.RLock()
	defer f.lock.RUnlock()
	if err := f.journal.Revoke(ctx, signature); err != nil {
		return &JournalError{Op: journalRevoke, Signature: signature, Err: err}
	}
	return errNotAuthorized
}

// add adds a flight. If the signature or the key is in flight already, it adds nothing and returns the
// earlier flight's signature.
func (f *inFlight) add(signature solana.Signature, added *flight) (known solana.Signature) {
	f.flightsLock.Lock()
	defer f.flightsLock.Unlock()
	if f.flights[signature] != nil {
		return signature
	}
	for other, flight := range f.flights {
		if flight.key == added.key {
			return other
		}
	}
	f.flights[signature] = added
	return solana.Signature{}
}

func (f *inFlight) remove(signature solana.Signature) {
	f.flightsLock.Lock()
	defer f.flightsLock.Unlock()
	if ended := f.flights[signature]; ended != nil {
		delete(f.flights, signature)
		close(ended.ended)
	}
}

// unfinishedEntry is an unfinished entry with the flight that waits for it; nil if another client waits.
type unfinishedEntry struct {
	entry  JournalEntry
	flight *flight
}

// unfinished returns a wallet's unfinished entries. If an entry lacks a flight, it calls start with a new
// flight.
func (f *inFlight) unfinished(
	ctx context.Context, wallet solana.PublicKey, start func(JournalEntry, *flight) bool,
) ([]unfinishedEntry, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	var all []unfinishedEntry
	for entry, err := range f.journal.Unfinished(ctx, wallet) {
		if err != nil {
			return nil, &JournalError{Op: journalUnfinished, Outcome: transaction.NotSent, Err: err}
		}
		f.flightsLock.Lock()
		known := f.flights[entry.Signature]
		f.flightsLock.Unlock()
		if known == nil && !entry.Leased {
			known = &flight{key: entry.Key, ended: make(chan struct{}), background: true}
			f.flightsLock.Lock()
			f.flights[entry.Signature] = known
			f.flightsLock.Unlock()
			if !start(entry, known) {
				f.remove(entry.Signature)
				return nil, unsent(ErrClientClosed)
			}
		}
		all = append(all, unfinishedEntry{entry, known})
	}
	return all, nil
}

// confirmed calls [Journal].Confirmed.
func (f *inFlight) confirmed(
	ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash,
) (*JournalEntry, error) {
	entry, err := f.journal.Confirmed(ctx, wallet, key, intent)
	if err != nil {
		return nil, &JournalError{Op: journalConfirmed, Outcome: transaction.NotSent, Err: err}
	}
	return entry, nil
}
