package haggle

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// memoryJournal is a journal in memory, for tests that replace clients instead of killing processes. The
// methods return the errors that the test sets.
type memoryJournal struct {
	lock     sync.Mutex
	entries  []JournalEntry
	outcomes map[solana.Signature]transaction.Outcome
	// acknowledged holds the transactions whose senders received the outcome.
	acknowledged map[solana.Signature]bool
	authorized   map[solana.Signature]bool
	// begun counts the calls of Begin that added an entry, finished the calls of Finish that changed one.
	begun, finished int
	// afterBegin is called when an entry was added, afterAuthorize when it was authorized.
	afterBegin, afterAuthorize            func()
	beginFails, finishFails, listingFails error
	// beginCommits and authorizeFails hold the errors returned by Begin and Authorize after their writes.
	beginCommits, authorizeFails error
	revokeFails                  error
}

func newMemoryJournal() *memoryJournal {
	return &memoryJournal{
		outcomes:     make(map[solana.Signature]transaction.Outcome),
		acknowledged: make(map[solana.Signature]bool),
		authorized:   make(map[solana.Signature]bool),
	}
}

func (m *memoryJournal) OpenJournal() Journal { return m }

func (m *memoryJournal) Close() error { return nil }

func (m *memoryJournal) Begin(_ context.Context, entry JournalEntry) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.beginFails != nil {
		return m.beginFails
	}
	if _, finished := m.outcomes[entry.Signature]; !finished && m.has(entry.Signature) {
		return ErrInJournal
	}
	m.begun++
	m.entries = append(m.entries, entry)
	if m.afterBegin != nil {
		m.afterBegin()
	}
	if m.beginCommits != nil {
		return m.beginCommits
	}
	return entry.Validate()
}

func (m *memoryJournal) Authorize(_ context.Context, signature solana.Signature) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if _, finished := m.outcomes[signature]; finished || !m.has(signature) {
		return errors.New("cannot be authorised")
	}
	m.authorized[signature] = true
	if m.afterAuthorize != nil {
		m.afterAuthorize()
	}
	return m.authorizeFails
}

func (m *memoryJournal) Revoke(_ context.Context, signature solana.Signature) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.revokeFails != nil {
		return m.revokeFails
	}
	if outcome, finished := m.outcomes[signature]; finished && outcome != transaction.NotSent {
		return errors.New("finished otherwise")
	} else if finished || !m.has(signature) {
		return nil
	}
	if m.authorized[signature] {
		return errors.New("authorised")
	}
	m.outcomes[signature] = transaction.NotSent
	m.finished++
	return nil
}

func (m *memoryJournal) has(signature solana.Signature) bool {
	return slices.ContainsFunc(m.entries, func(e JournalEntry) bool { return e.Signature == signature })
}

func (m *memoryJournal) Confirmed(_ context.Context, wallet solana.PublicKey, key,
	intent solana.Hash) (*JournalEntry, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, byIntent := range []bool{false, true} {
		for _, entry := range m.entries {
			found := !byIntent && !key.IsZero() && entry.Key == key ||
				byIntent && !intent.IsZero() && entry.Intent == intent && !m.acknowledged[entry.Signature]
			confirmed := m.outcomes[entry.Signature] == transaction.Confirmed
			if found && confirmed && entry.Wallet == wallet {
				return &entry, nil
			}
		}
	}
	return nil, nil
}

func (m *memoryJournal) Finish(_ context.Context, signature solana.Signature, outcome transaction.Outcome,
	acknowledged bool) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.finishFails != nil {
		return m.finishFails
	}
	if acknowledged {
		m.acknowledged[signature] = true
	}
	if _, finished := m.outcomes[signature]; !finished && m.has(signature) {
		m.outcomes[signature] = outcome
		m.finished++
	}
	return nil
}

func (m *memoryJournal) Unfinished(
	_ context.Context, wallet solana.PublicKey,
) iter.Seq2[JournalEntry, error] {
	m.lock.Lock()
	defer m.lock.Unlock()
	entries := slices.Clone(m.entries)
	outcomes := maps.Clone(m.outcomes)
	authorized := maps.Clone(m.authorized)
	return func(yield func(JournalEntry, error) bool) {
		if m.listingFails != nil {
			yield(JournalEntry{}, m.listingFails)
			return
		}
		for _, entry := range entries {
			_, finished := outcomes[entry.Signature]
			entry.Authorized = authorized[entry.Signature]
			if !finished && entry.Wallet == wallet && !yield(entry, nil) {
				return
			}
		}
	}
}

// outcome returns a transaction's outcome. It returns false if the transaction is unfinished.
func (m *memoryJournal) outcome(signature solana.Signature) (transaction.Outcome, bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	outcome, ok := m.outcomes[signature]
	return outcome, ok
}
