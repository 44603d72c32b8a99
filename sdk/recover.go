package haggle

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// ErrUnresolved: an earlier transaction's outcome is still unknown, and the action conflicts with it.
var ErrUnresolved = unsent(errors.New("haggle: earlier transactions are unresolved"))

// UnresolvedError is the error of an action that conflicts with transactions of unknown outcome, which share
// the idempotency key or the negotiation. errors.Is finds [ErrUnresolved].
type UnresolvedError struct {
	// Wallet pays for them.
	Wallet solana.PublicKey
	// Entries lists the transactions whose outcome stays unknown, or cannot be recorded in the journal, with
	// the reason in Err.
	Entries []Recovered
}

func (e *UnresolvedError) Error() string {
	return fmt.Sprintf("%v: %d of wallet %s, the first one %s: %v",
		ErrUnresolved, len(e.Entries), e.Wallet, e.Entries[0].Entry.Signature, e.Entries[0].Err)
}

// Unwrap returns ErrUnresolved and not the reasons, which concern other transactions.
func (e *UnresolvedError) Unwrap() error { return ErrUnresolved }

func (e *UnresolvedError) add(entry JournalEntry, err error) {
	e.Entries = append(e.Entries, Recovered{Entry: entry, Outcome: transaction.Unknown, Err: err})
}

// Recovered is a transaction that an earlier process, or an earlier call, left unfinished.
type Recovered struct {
	// Entry is the journal's entry.
	Entry JournalEntry
	// Outcome is the transaction's outcome.
	Outcome transaction.Outcome
	// Receipt is the transaction's; nil unless Outcome is transaction.Confirmed.
	Receipt *Receipt
	// Err is the error that [Action.Do] would have returned.
	Err error
}

// Recover resolves a wallet's transactions that a killed process or an earlier call left with an unknown
// outcome, and records the outcomes in the journal. If a transaction was not executed and still can be, the
// same transaction is sent again, which cannot be executed twice. Otherwise Recover waits until it certainly
// expired, which takes at least 90 seconds from signing.
//
// The client does the same in the background as soon as an outcome is left unknown, or when the wallet acts
// for the first time. Action.Do and Client.Submit wait only for transactions that conflict with theirs.
//
// A transaction that the journal does not authorize to be sent was never sent: Recover finishes the entry as
// [transaction.NotSent].
//
// A live client resolves the transactions that it sent. For another client's transaction Recover waits until
// the lease ended, and resolves the transaction if it is still unfinished.
//
// If some stay unknown, it returns [*UnresolvedError] together with the resolved ones. It returns
// [ErrNoJournal] if there is no journal, and [*JournalError] if the journal cannot be read.
func (c *Client) Recover(ctx context.Context, wallet solana.PublicKey) ([]Recovered, error) {
	if c.inFlight == nil {
		return nil, ErrNoJournal
	}
	return c.recoverEntries(ctx, wallet, true)
}

// recoverEntries is Recover. If leased is false, it skips the entries that other clients wait for.
func (c *Client) recoverEntries(
	ctx context.Context, wallet solana.PublicKey, leased bool,
) ([]Recovered, error) {
	c.syncSlot(ctx)
	all, err := c.inFlight.unfinished(ctx, wallet, c.resolve)
	if err != nil {
		return nil, err
	}
	var resolved []Recovered
	unresolved := &UnresolvedError{Wallet: wallet}
	for _, unfinished := range all {
		if unfinished.flight == nil && leased {
			if unfinished, err = c.afterLease(ctx, unfinished.entry); err != nil {
				unresolved.add(unfinished.entry, err)
			}
		}
		if unfinished.flight == nil || !unfinished.flight.background {
			continue
		}
		if result := unfinished.wait(ctx); result.isResolved() {
			resolved = append(resolved, result)
		} else {
			unresolved.Entries = append(unresolved.Entries, result)
		}
	}
	if len(unresolved.Entries) > 0 {
		return resolved, unresolved
	}
	return resolved, nil
}

// isResolved reports whether the outcome is final and in the journal.
func (r *Recovered) isResolved() bool {
	var journal *JournalError
	return r.Outcome.IsFinal() && !errors.As(r.Err, &journal)
}

// wait waits for a flight in the background to end.
func (l *unfinishedEntry) wait(ctx context.Context) Recovered {
	select {
	case <-l.flight.ended:
		return l.flight.result
	case <-ctx.Done():
		return Recovered{Entry: l.entry, Outcome: transaction.Unknown, Err: unsent(context.Cause(ctx))}
	}
}

// maxResolvers is the number of transactions that are resolved in the background at once.
const maxResolvers = 64

// resolve starts to resolve an entry in the background. It returns false if the client is closed.
func (c *Client) resolve(entry JournalEntry, f *flight) bool {
	return c.start(func() {
		defer c.inFlight.remove(entry.Signature)
		f.result = Recovered{Entry: entry, Outcome: transaction.Unknown, Err: ErrClientClosed}
		select {
		case c.resolving <- struct{}{}:
			defer func() { <-c.resolving }()
		case <-c.closing.Done():
			return
		}
		var receipt *Receipt
		var err error
		if entry.Authorized {
			pending, damaged := c.pendingEntry(&entry)
			if damaged != nil {
				f.result.Err = damaged
				return
			}
			receipt, err = withEvents(pending.Await(c.closing))
			if tx, failed := solana.TransactionFromBytes(entry.Transaction); failed == nil {
				c.settled(c.closing, tx, receipt, err)
			}
			err = c.inFlight.end(c.closing, entry.Signature, err, false)
		} else {
			err = c.inFlight.revoke(c.closing, entry.Signature)
		}
		f.result = Recovered{Entry: entry, Outcome: transaction.OutcomeOf(err), Receipt: receipt, Err: err}
	})
}

// resolveInBackground resolves a wallet's unfinished transactions until none is left.
func (c *Client) resolveInBackground(wallet solana.PublicKey) {
	if _, running := c.background.LoadOrStore(wallet, true); running {
		return
	}
	started := c.start(func() {
		defer c.background.Delete(wallet)
		pause := backoff.NewExponentialBackOff()
		pause.InitialInterval, pause.MaxInterval = 2*time.Second, time.Minute
		pause.Reset()
		for wait.For(c.closing, pause.NextBackOff()) == nil {
			if _, err := c.recoverEntries(c.closing, wallet, false); err == nil {
				return
			}
		}
	})
	if !started {
		c.background.Delete(wallet)
	}
}

// pendingEntry returns an entry's transaction, to be sent again. It fails if the entry contains another
// transaction.
func (c *Client) pendingEntry(entry *JournalEntry) (*send.Pending, error) {
	tx, err := solana.TransactionFromBytes(entry.Transaction)
	if err != nil {
		return nil, fmt.Errorf("%w: transaction of entry %s cannot be decoded: %w", errEntryDamaged,
			entry.Signature, err)
	}
	if len(tx.Signatures) == 0 || tx.Signatures[0] != entry.Signature {
		return nil, fmt.Errorf("%w: entry %s contains another transaction", errEntryDamaged,
			entry.Signature)
	}
	return c.sender.Pending(send.Pending{
		Signature:  entry.Signature,
		Encoded:    base64.StdEncoding.EncodeToString(entry.Transaction),
		Invoked:    send.InvokedPrograms(tx),
		Valid:      entry.validity(),
		Commitment: c.commitmentOf(entry),
		SentAt:     entry.Begun,
	}), nil
}

// errEntryDamaged: a journal entry lacks the transaction.
var errEntryDamaged = errors.New("haggle: the journal is damaged")

// conflicts holds the values that make a transaction conflict with an action: the same key, intent, signature
// or negotiation. The intent counts only until the caller of the earlier action received the outcome. Zero
// values match nothing.
type conflicts struct {
	wallet      solana.PublicKey
	key, intent solana.Hash
	negotiation solana.PublicKey
	signature   solana.Signature
}

func (k *conflicts) isSame(entry *JournalEntry) bool {
	return !k.key.IsZero() && entry.Key == k.key || !k.signature.IsZero() && entry.Signature == k.signature
}

func (k *conflicts) conflictsWith(entry *JournalEntry) bool {
	return k.isSame(entry) || !k.intent.IsZero() && entry.Intent == k.intent ||
		!k.negotiation.IsZero() && entry.Negotiation == k.negotiation
}

// resolveConflicts waits for the unfinished transactions that conflict with an action. Others are resolved in
// the background. It returns the transaction that executed this very action; nil if there is none.
func (c *Client) resolveConflicts(ctx context.Context, with conflicts) (*Recovered, error) {
	if c.inFlight == nil {
		return nil, nil
	}
	c.syncSlot(ctx)
	for began := time.Now(); ; {
		all, err := c.inFlight.unfinished(ctx, with.wallet, c.resolve)
		if err != nil {
			return nil, err
		}
		unresolved := &UnresolvedError{Wallet: with.wallet}
		waited, leased := false, false
		for _, unfinished := range all {
			if unfinished.flight == nil {
				if !with.conflictsWith(&unfinished.entry) {
					continue
				}
				if leased = true; time.Since(began) > send.OutcomeLimit {
					unresolved.add(unfinished.entry, errLeased)
				}
				continue
			}
			if !with.isSame(&unfinished.entry) && !(unfinished.flight.background && with.conflictsWith(&unfinished.entry)) {
				continue
			}
			waited = true
			result := unfinished.wait(ctx)
			switch {
			case ctx.Err() != nil:
				return nil, unsent(context.Cause(ctx))
			case !unfinished.flight.background:
				// Another call in this process executes the same action.
			case !result.isResolved():
				unresolved.Entries = append(unresolved.Entries, result)
			case unfinished.entry.Signature == with.signature && result.Outcome != transaction.NotSent:
				return &result, nil
			}
		}
		if len(unresolved.Entries) > 0 {
			return nil, unresolved
		}
		if leased {
			if err := c.pauseForLease(ctx); err != nil {
				return nil, err
			}
		}
		if waited || leased {
			continue
		}
		entry, err := c.inFlight.confirmed(ctx, with.wallet, with.key, with.intent)
		if entry == nil || err != nil {
			return nil, err
		}
		return &Recovered{Entry: *entry, Outcome: transaction.Confirmed}, nil
	}
}

// receiptOf returns, to a caller that repeats an action, the receipt or error of the transaction that
// executed it. If no node returns the transaction any longer, the receipt contains just the signature.
func (c *Client) receiptOf(ctx context.Context, done *Recovered) (*Receipt, error) {
	receipt := done.Receipt
	if receipt == nil && done.Err == nil {
		receipt = &Receipt{Receipt: transaction.Receipt{Signature: done.Entry.Signature}}
		if status, _, err := send.StatusAt(ctx, c.rpc, done.Entry.Signature); err == nil && status != nil {
			confirmed := c.sender.Pending(send.Pending{Signature: done.Entry.Signature,
				Commitment: c.commitmentOf(&done.Entry), SentAt: time.Now()})
			if found, _ := withEvents(confirmed.Settle(ctx, status)); found != nil {
				receipt = found
			}
		}
		if ctx.Err() != nil {
			return nil, unsent(context.Cause(ctx))
		}
	}
	if err := c.inFlight.journal.Finish(context.WithoutCancel(ctx), done.Entry.Signature, done.Outcome,
		true); err != nil {
		c.logger.Error("write to the journal failed", "signature", done.Entry.Signature, "error", err)
	}
	return receipt, done.Err
}
