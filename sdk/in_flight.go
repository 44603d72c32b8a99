package haggle

import (
	"context"
	"sync"

	"github.com/gagliardetto/solana-go"
)

// inFlight is the client's view of its journal: the journal itself, and the unfinished entries that this process is
// waiting for, in a call or in the background.
type inFlight struct {
	journal Journal

	// lock is held shared while an entry changes in the journal and in flights, and exclusively while both are compared.
	lock        sync.RWMutex
	flightsLock sync.Mutex
	flights     map[solana.Signature]*flight
}

// flight is an unfinished entry that this process is waiting for.
type flight struct {
	key solana.Hash
	// ended is closed when the wait is over; result is set before, in the background only.
	ended  chan struct{}
	result Recovered
	// background says that the entry was left behind, and that no call of an action waits for it.
	background bool
}

func newInFlight(journal Journal) *inFlight {
	if journal == nil {
		return nil
	}
	return &inFlight{journal: journal, flights: make(map[solana.Signature]*flight)}
}

// begin writes an entry that this process will finish. Another entry in flight with the same key is [ErrInJournal].
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
		return &JournalError{Op: journalBegin, Signature: entry.Signature, Outcome: OutcomeNotSent, Err: err}
	}
	return nil
}

// end writes the outcome of a transaction, whose sender would otherwise get failure. One whose outcome is unknown stays
// unfinished. The caller removes the flight.
func (f *inFlight) end(ctx context.Context, signature solana.Signature, failure error, acknowledged bool) error {
	f.lock.RLock()
	defer f.lock.RUnlock()
	outcome := OutcomeOf(failure)
	if !outcome.IsFinal() {
		return failure
	}
	// The outcome is worth writing down even if the caller's context has ended.
	if err := f.journal.Finish(context.WithoutCancel(ctx), signature, outcome, acknowledged); err != nil {
		return &JournalError{Op: journalFinish, Signature: signature, Outcome: outcome, Err: err, Failure: failure}
	}
	return failure
}

// add reports whether neither the signature nor the key of a flight is in flight yet, and adds it then.
func (f *inFlight) add(signature solana.Signature, added *flight) bool {
	f.flightsLock.Lock()
	defer f.flightsLock.Unlock()
	for other, known := range f.flights {
		if other == signature || !added.key.IsZero() && known.key == added.key {
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

// left is an unfinished entry with the flight that waits for it.
type left struct {
	entry  JournalEntry
	flight *flight
}

// unfinished returns a wallet's unfinished entries. For those that were left behind it calls start with a new flight.
func (f *inFlight) unfinished(ctx context.Context, wallet solana.PublicKey, start func(JournalEntry, *flight) bool) ([]left, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	var all []left
	for entry, err := range f.journal.Unfinished(ctx, wallet) {
		if err != nil {
			return nil, &JournalError{Op: journalUnfinished, Outcome: OutcomeNotSent, Err: err}
		}
		f.flightsLock.Lock()
		known := f.flights[entry.Signature]
		f.flightsLock.Unlock()
		if known == nil {
			known = &flight{key: entry.Key, ended: make(chan struct{}), background: true}
			f.flightsLock.Lock()
			f.flights[entry.Signature] = known
			f.flightsLock.Unlock()
			if !start(entry, known) {
				f.remove(entry.Signature)
				return nil, unsent{ErrClientClosed}
			}
		}
		all = append(all, left{entry, known})
	}
	return all, nil
}

// confirmed is [Journal].Confirmed.
func (f *inFlight) confirmed(ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash) (*JournalEntry, error) {
	entry, err := f.journal.Confirmed(ctx, wallet, key, intent)
	if err != nil {
		return nil, &JournalError{Op: journalConfirmed, Outcome: OutcomeNotSent, Err: err}
	}
	return entry, nil
}

// isLeft reports whether no call of an action waits for an unfinished entry.
func (f *inFlight) isLeft(signature solana.Signature) bool {
	f.flightsLock.Lock()
	defer f.flightsLock.Unlock()
	known := f.flights[signature]
	return known == nil || known.background
}
