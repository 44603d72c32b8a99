package haggle

import (
	"context"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// inFlight is the client's view of its journal: the journal itself, and the unfinished entries that this
// process waits for, in a call or in the background.
type inFlight struct {
	journal Journal

	// lock is held shared while an entry changes in the journal and in flights, and exclusively while both
	// are compared.
	lock        sync.RWMutex
	flightsLock sync.Mutex
	flights     map[solana.Signature]*flight
}

// flight is an unfinished entry that this process waits for.
type flight struct {
	key solana.Hash
	// ended is closed at the end of the wait; result is set before, in the background only.
	ended  chan struct{}
	result Recovered
	// background reports whether an earlier process or call left the entry unfinished, and no call of an
	// action waits for it.
	background bool
}

func newInFlight(journal Journal) *inFlight {
	if journal == nil {
		return nil
	}
	return &inFlight{journal: journal, flights: make(map[solana.Signature]*flight)}
}

// begin writes an entry that this process will finish. Another entry in flight with the same key is
// [ErrInJournal].
func (f *inFlight) begin(ctx context.Context, entry JournalEntry) error {
	f.lock.RLock()
	defer f.lock.RUnlock()
	err := ErrInJournal
	if f.add(entry.Signature, &flight{key: entry.Key, ended: make(chan struct{})}) {
		if err = f.journal.Begin(ctx, entry); err != nil {
			f.remove(entry.Signature)
		}
	}
	if err != nil {
		return &JournalError{Op: journalBegin, Signature: entry.Signature, Outcome: transaction.NotSent, Err: err}
	}
	return nil
}

// end records the outcome of a transaction and returns the error for its sender, which is failure if the
// record succeeds. If the outcome is unknown, the entry stays unfinished. The caller removes the flight.
func (f *inFlight) end(
	ctx context.Context, signature solana.Signature, failure error, acknowledged bool,
) error {
	f.lock.RLock()
	defer f.lock.RUnlock()
	outcome := transaction.OutcomeOf(failure)
	if !outcome.IsFinal() {
		return failure
	}
	// The outcome is recorded even if the caller's context has ended.
	if err := f.journal.Finish(context.WithoutCancel(ctx), signature, outcome, acknowledged); err != nil {
		if outcome == transaction.NotSent {
			outcome = transaction.Unknown // a later resolution of the unfinished entry sends the transaction
		}
		return &JournalError{Op: journalFinish, Signature: signature, Outcome: outcome, Err: err, Failure: failure}
	}
	return failure
}

// add adds a flight and returns true if its key is not in flight yet.
func (f *inFlight) add(signature solana.Signature, added *flight) bool {
	f.flightsLock.Lock()
	defer f.flightsLock.Unlock()
	for _, known := range f.flights {
		if known.key == added.key {
			return false
		}
	}
	f.flights[signature] = added
	return true
}

func (f *inFlight) remove(signature solana.Signature) {
	f.flightsLock.Lock()
	defer f.flightsLock.Unlock()
	if ended := f.flights[signature]; ended != nil {
		delete(f.flights, signature)
		close(ended.ended)
	}
}

// unfinishedEntry is an unfinished entry with the flight that waits for it; nil if another process waits.
type unfinishedEntry struct {
	entry  JournalEntry
	flight *flight
}

// unfinished returns a wallet's unfinished entries. For each entry without a flight it calls start with a new
// one.
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

// isUnattended reports whether no call of an action waits for an unfinished entry.
func (f *inFlight) isUnattended(signature solana.Signature) bool {
	f.flightsLock.Lock()
	defer f.flightsLock.Unlock()
	known := f.flights[signature]
	return known == nil || known.background
}
