package connection

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/statefolder"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/journal"
	"github.com/haggle-protocol/haggle/sdk/journal/postgres"
	"github.com/haggle-protocol/haggle/sdk/journal/sqlite"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// noJournal is the value of --journal that disables the journal.
const noJournal = "none"

// keepConfirmed is how long the default journal keeps confirmed transactions. After it the chain still shows
// that a session has been used.
const keepConfirmed = 90 * 24 * time.Hour

// RegisterJournal adds --journal to a set. Without it the client has no journal.
func (f *Flags) RegisterJournal(set *pflag.FlagSet) {
	f.journal = &lazyStore{flags: f}
	set.StringVar(&f.JournalPath, "journal", "", "journal that recovers interrupted transactions: "+
		"FILE, postgres://... or none "+
		"(default: one for each cluster in ~/.local/state/haggle/journal, or below $XDG_STATE_HOME)")
}

// Acknowledge writes to the journal that the user has received the outcome of a transaction.
func (f *Flags) Acknowledge(ctx context.Context, signature solana.Signature, outcome transaction.Outcome) error {
	if f.journal == nil || f.JournalPath == noJournal || !outcome.IsFinal() {
		return nil
	}
	journal := f.journal.OpenJournal()
	return errors.Join(journal.Finish(ctx, signature, outcome, true), journal.Close())
}

func isPostgres(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// lazyStore opens the journal when the first transaction is about to be sent, so that commands that only read
// need none.
type lazyStore struct {
	flags *Flags

	lock  sync.Mutex
	store closableStore
}

type closableStore interface {
	haggle.JournalStore
	io.Closer
}

func (l *lazyStore) opened(ctx context.Context) (haggle.JournalStore, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.store != nil {
		return l.store, nil
	}
	store, err := l.open(ctx)
	if err == nil {
		l.store = store
	}
	return store, err
}

func (l *lazyStore) open(ctx context.Context) (closableStore, error) {
	path := l.flags.JournalPath
	if isPostgres(path) {
		store, err := postgres.Open(ctx, path)
		if err != nil && ctx.Err() == nil {
			err = unusable(err, "check the database, name another one, or use --journal none")
		}
		return store, err
	}
	byDefault := path == ""
	if byDefault {
		var err error
		if path, err = l.defaultPath(ctx); err != nil {
			return nil, err
		}
	}
	store, err := sqlite.Open(path)
	switch {
	case errors.Is(err, journal.ErrDamaged):
		return nil, unusable(err,
			"restore the file: it may record transactions in flight; or use a new one: --journal FILE")
	case errors.Is(err, journal.ErrVersion):
		return nil, unusable(err,
			"move the file away once none of its transactions is in flight; or use a new one: --journal FILE")
	case err != nil:
		return nil, unusable(err, "name another one with --journal FILE, or use --journal none")
	case byDefault:
		// The next command repeats a removal that fails.
		_, _ = store.Forget(ctx, time.Now().Add(-keepConfirmed))
	}
	return store, nil
}

// unusable is the error of a journal that cannot be opened.
func unusable(err error, hint string) error {
	return &exitcode.Error{Kind: exitcode.Other, Err: fmt.Errorf("--journal: %w", err), Hint: hint}
}

// defaultPath returns the path of the cluster's journal in a directory that exists. A transaction of one cluster
// has no outcome on another.
func (l *lazyStore) defaultPath(ctx context.Context) (string, error) {
	client, err := l.flags.Client()
	if err != nil {
		return "", err
	}
	genesis, err := client.RPC().GetGenesisHash(ctx)
	if err != nil {
		return "", err
	}
	folder, err := statefolder.Path(statefolder.Journals)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return "", &exitcode.Error{
			Kind: exitcode.Other, Err: fmt.Errorf("no folder for the journal: %w", err),
			Hint: "name a file with --journal FILE, or use --journal none",
		}
	}
	return filepath.Join(folder, "haggle-"+hex.EncodeToString(genesis[:8])+".db"), nil
}

// OpenJournal implements [haggle.JournalStore].
func (l *lazyStore) OpenJournal() haggle.Journal { return &lazyJournal{store: l} }

// Close closes the store if it is open.
func (l *lazyStore) Close() error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.store == nil {
		return nil
	}
	err := l.store.Close()
	l.store = nil
	return err
}

// lazyJournal is one client's view of a lazyStore.
type lazyJournal struct {
	store *lazyStore

	lock    sync.Mutex
	journal haggle.Journal
}

func (l *lazyJournal) opened(ctx context.Context) (haggle.Journal, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.journal == nil {
		store, err := l.store.opened(ctx)
		if err != nil {
			return nil, err
		}
		l.journal = store.OpenJournal()
	}
	return l.journal, nil
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
