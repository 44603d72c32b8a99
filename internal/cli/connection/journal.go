package connection

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/pflag"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// RegisterJournal adds --no-journal to a set. A client needs this call to use a journal.
func (f *Flags) RegisterJournal(set *pflag.FlagSet) {
	f.sends = true
	set.BoolVar(&f.NoJournal, "no-journal", false,
		"do not write transactions to --state: no later command finds out what became of them")
}

func (f *Flags) hasJournal() bool { return f.sends && !f.NoJournal }

// Acknowledge records in the journal that the user has received a transaction's outcome.
func (f *Flags) Acknowledge(ctx context.Context, signature solana.Signature, outcome transaction.Outcome) error {
	if !f.hasJournal() || !outcome.IsFinal() {
		return nil
	}
	journal := lazyJournals{f}.OpenJournal()
	return errors.Join(journal.Finish(ctx, signature, outcome, true), journal.Close())
}

// lazyJournals opens the state database when the first transaction is about to be sent, so that commands that
// only read need none.
type lazyJournals struct{ flags *Flags }

func (l lazyJournals) open(ctx context.Context) (haggle.Journal, error) {
	state, err := l.flags.State(ctx)
	if err != nil {
		return nil, err
	}
	return state.OpenJournal(), nil
}

// OpenJournal implements [haggle.JournalStore].
func (l lazyJournals) OpenJournal() haggle.Journal { return &lazyJournal{journals: l} }

// lazyJournal is a client's view of the database.
type lazyJournal struct {
	journals lazyJournals

	lock    sync.Mutex
	journal haggle.Journal
}

func (l *lazyJournal) opened(ctx context.Context) (_ haggle.Journal, err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.journal == nil {
		l.journal, err = l.journals.open(ctx)
	}
	return l.journal, err
}

func (l *lazyJournal) Begin(ctx context.Context, entry haggle.JournalEntry) error {
	journal, err := l.opened(ctx)
	if err != nil {
		return err
	}
	return journal.Begin(ctx, entry)
}

func (l *lazyJournal) Authorize(ctx context.Context, signature solana.Signature) error {
	journal, err := l.opened(ctx)
	if err != nil {
		return err
	}
	return journal.Authorize(ctx, signature)
}

func (l *lazyJournal) Revoke(ctx context.Context, signature solana.Signature) error {
	journal, err := l.opened(ctx)
	if err != nil {
		return err
	}
	return journal.Revoke(ctx, signature)
}

func (l *lazyJournal) Finish(
	ctx context.Context, signature solana.Signature, outcome transaction.Outcome, acknowledged bool,
) error {
	journal, err := l.opened(ctx)
	if err != nil {
		return err
	}
	return journal.Finish(ctx, signature, outcome, acknowledged)
}

func (l *lazyJournal) Unfinished(
	ctx context.Context, wallet solana.PublicKey,
) iter.Seq2[haggle.JournalEntry, error] {
	journal, err := l.opened(ctx)
	if err != nil {
		return func(yield func(haggle.JournalEntry, error) bool) { yield(haggle.JournalEntry{}, err) }
	}
	return journal.Unfinished(ctx, wallet)
}

func (l *lazyJournal) Confirmed(
	ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash,
) (*haggle.JournalEntry, error) {
	journal, err := l.opened(ctx)
	if err != nil {
		return nil, err
	}
	return journal.Confirmed(ctx, wallet, key, intent)
}

// Close closes the journal if it is open.
func (l *lazyJournal) Close() error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.journal == nil {
		return nil
	}
	return l.journal.Close()
}
