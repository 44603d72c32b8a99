package haggle

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"

	"github.com/gagliardetto/solana-go"
)

// ErrUnresolved: the journal has transactions of which it is still not known what has become of them, so nothing new is sent.
var ErrUnresolved = errors.New("haggle: earlier transactions are unresolved")

// Unresolved says which transactions keep a wallet from sending new ones. errors.Is finds [ErrUnresolved].
type Unresolved struct {
	// Wallet is whose they are.
	Wallet solana.PublicKey
	// Entries are those whose outcome stays unknown, or cannot be written to the journal, with the reason in Err.
	Entries []Recovered
}

func (e *Unresolved) Error() string {
	return fmt.Sprintf("%v: %d of wallet %s, the first one %s: %v",
		ErrUnresolved, len(e.Entries), e.Wallet, e.Entries[0].Entry.Signature, e.Entries[0].Err)
}

// Unwrap is ErrUnresolved. It is not the reasons: they are other transactions' than the one that has not been sent.
func (e *Unresolved) Unwrap() error { return ErrUnresolved }

// Recovered is a transaction that an earlier process, or an earlier call, had left unfinished.
type Recovered struct {
	// Entry is what the journal knew of it.
	Entry JournalEntry
	// Outcome is what has become of it.
	Outcome Outcome
	// Receipt is what it has done; nil unless Outcome is OutcomeConfirmed.
	Receipt *Receipt
	// Err is as [Action.Do]'s.
	Err error
}

// Recover finds out what has become of a wallet's transactions that an earlier process was killed over, or an earlier call left
// unknown, and writes it to the journal. A transaction that has not been executed and still can be is sent again, the same one: it
// cannot be executed twice. Otherwise Recover waits until it is certain that it has expired, which takes about a minute from its
// signing.
//
// [Action.Do] and [Client.Submit] do the same before they send anything new. Who calls Recover first learns what they do not tell:
// that a negotiation has been created after all, for example.
//
// If some stay unknown it fails with [*Unresolved], beside those that are resolved; the wallet sends nothing new until they are.
// Without a journal it fails with [ErrNoJournal], and with [*JournalError] if that cannot be read.
func (c *Client) Recover(ctx context.Context, wallet solana.PublicKey) ([]Recovered, error) {
	if c.book == nil {
		return nil, ErrNoJournal
	}
	c.orient(ctx)
	leave, err := c.book.enter(ctx, wallet)
	if err != nil {
		return nil, err
	}
	defer leave()
	left, err := c.book.left(ctx, wallet)
	if err != nil || len(left) == 0 {
		return nil, err
	}
	recovered := c.resolveAll(ctx, left)
	unresolved := &Unresolved{Wallet: wallet}
	resolved := make([]Recovered, 0, len(recovered))
	for _, one := range recovered {
		// What the journal does not take would be resolved again by whoever is next.
		var journal *JournalError
		if one.Outcome.IsFinal() && !errors.As(one.Err, &journal) {
			resolved = append(resolved, one)
		} else {
			unresolved.Entries = append(unresolved.Entries, one)
		}
	}
	if len(unresolved.Entries) > 0 {
		return resolved, unresolved
	}
	return resolved, nil
}

// resolversMost is how many transactions are looked for at once.
const resolversMost = 8

// resolveAll resolves entries, several at a time: they expire at the same time rather than one after the other.
func (c *Client) resolveAll(ctx context.Context, entries []JournalEntry) []Recovered {
	recovered := make([]Recovered, len(entries))
	slots := make(chan struct{}, resolversMost)
	var running sync.WaitGroup
	for i := range entries {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			recovered[i] = c.resolve(ctx, entries[i])
		})
	}
	running.Wait()
	return recovered
}

// resolve waits until it is certain what has become of an entry's transaction, and finishes the entry.
func (c *Client) resolve(ctx context.Context, entry JournalEntry) Recovered {
	pending, err := c.pendingEntry(&entry)
	if err != nil {
		return Recovered{Entry: entry, Outcome: OutcomeUnknown, Err: err}
	}
	receipt, err := pending.await(ctx)
	err = c.book.end(ctx, entry.Signature, err)
	return Recovered{Entry: entry, Outcome: OutcomeOf(err), Receipt: receipt, Err: err}
}

// pendingEntry is an entry's transaction, to be waited for and sent again. It fails if it is not the one that the entry is about.
func (c *Client) pendingEntry(entry *JournalEntry) (*pendingTransaction, error) {
	transaction, err := solana.TransactionFromBytes(entry.Transaction)
	if err != nil {
		return nil, fmt.Errorf("%w: the transaction of %s cannot be read: %w", ErrJournalDamaged, entry.Signature, err)
	}
	if len(transaction.Signatures) == 0 || transaction.Signatures[0] != entry.Signature {
		return nil, fmt.Errorf("%w: the transaction of %s is another one", ErrJournalDamaged, entry.Signature)
	}
	commitment := entry.Commitment
	if commitment == "" {
		commitment = c.commitment
	}
	return &pendingTransaction{
		client:     c,
		signature:  entry.Signature,
		encoded:    base64.StdEncoding.EncodeToString(entry.Transaction),
		invoked:    invokedPrograms(transaction),
		valid:      entry.validity(),
		blockhash:  transaction.Message.RecentBlockhash,
		commitment: commitment,
		sentAt:     entry.Begun,
	}, nil
}

// clear resolves what a wallet has left unfinished, before something new is sent.
func (c *Client) clear(ctx context.Context, wallet solana.PublicKey) ([]Recovered, error) {
	if c.book == nil {
		return nil, nil
	}
	return c.Recover(ctx, wallet)
}
