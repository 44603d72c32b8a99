package haggle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// Journal remembers, beyond the life of the process, what has been sent and what has become of it. With [Config].Journal every
// transaction is written to it before it is sent, so that whoever starts after a crash resolves it instead of doing it again: see
// [Client.Recover]. The package journal has one in a file, journal/sqlite one in a database; journal/journaltest tests others.
//
// Its methods may be called from several goroutines. One process at a time may use a journal.
type Journal interface {
	// Begin writes an entry, which is durable when Begin returns nil. If it fails, nothing is sent. An entry with the signature of
	// one that is unfinished is [ErrInJournal].
	Begin(ctx context.Context, entry JournalEntry) error
	// Finish writes what has become of the transaction with this signature. A signature that is unknown, or has been finished
	// before, is no error: the outcome that was written first stays. An outcome that is not final is an error.
	Finish(ctx context.Context, signature solana.Signature, outcome Outcome) error
	// Unfinished are a wallet's entries that have not been finished, in the order in which they were begun.
	Unfinished(ctx context.Context, wallet solana.PublicKey) iter.Seq2[JournalEntry, error]
}

// JournalEntry is a transaction that is about to be sent.
type JournalEntry struct {
	// Wallet pays the transaction's fee.
	Wallet solana.PublicKey `json:"wallet"`
	// Action is the instruction's name in the IDL; empty for a transaction that was given to [Client.Submit].
	Action string `json:"action,omitempty"`
	// Negotiation is the negotiation's address; zero if the action is not on one, or that is not known.
	Negotiation solana.PublicKey `json:"negotiation,omitzero"`
	// Expects is the state that the action was built on.
	Expects Precondition `json:"expects,omitzero"`
	// Intent tells one action from others: a repetition of it after a crash has the same one, though it is another transaction.
	// Zero for a transaction that was given to [Client.Submit].
	Intent solana.Hash `json:"intent,omitzero"`
	// Signature is the payer's, by which the chain knows the transaction.
	Signature solana.Signature `json:"signature"`
	// Blockhash is the transaction's: a recent block's, or with Nonce the nonce's value.
	Blockhash solana.Hash `json:"blockhash"`
	// LastValidBlockHeight is the last height of a block that the transaction can be in; zero with Nonce.
	LastValidBlockHeight uint64 `json:"last_valid_block_height,omitempty"`
	// Estimated says that LastValidBlockHeight is an estimate, and may be too low.
	Estimated bool `json:"estimated,omitempty"`
	// Nonce is the nonce account of a transaction with a durable nonce, which can be executed until that has another value.
	Nonce solana.PublicKey `json:"nonce,omitzero"`
	// Slot is one before which the transaction cannot have been executed; zero if that is not known.
	Slot uint64 `json:"slot,omitempty"`
	// Commitment is how certain the transaction has to be to be called done; empty is the client's.
	Commitment rpc.CommitmentType `json:"commitment,omitempty"`
	// Transaction is the signed transaction as it is sent.
	Transaction []byte `json:"transaction"`
	// Begun is the machine's time.
	Begun time.Time `json:"begun"`
}

// Validate finds out whether an entry can be resolved later at all. Journals call it in Begin.
func (e *JournalEntry) Validate() error {
	switch {
	case e.Wallet.IsZero():
		return errors.New("haggle: a journal entry without a wallet")
	case e.Signature.IsZero():
		return errors.New("haggle: a journal entry without a signature")
	case len(e.Transaction) == 0:
		return errors.New("haggle: a journal entry without its transaction")
	}
	return nil
}

// validity is until when the entry's transaction can be executed.
func (e *JournalEntry) validity() validity {
	valid := validity{lastHeight: e.LastValidBlockHeight, nonce: e.Nonce, since: e.Slot}
	if e.Estimated || !e.Nonce.IsZero() {
		valid.blockhash = e.Blockhash
	}
	return valid
}

var (
	// ErrInJournal: the journal has an unfinished entry with this signature.
	ErrInJournal = errors.New("haggle: the transaction is in the journal already and unfinished")
	// ErrJournalLocked: another process uses the journal.
	ErrJournalLocked = errors.New("haggle: the journal is in use by another process")
	// ErrJournalDamaged: the journal contains something that has not been written by it, and not where an interrupted write would
	// leave it.
	ErrJournalDamaged = errors.New("haggle: the journal is damaged")
	// ErrNoJournal: the client has no journal to recover from.
	ErrNoJournal = errors.New("haggle: the client has no journal")
)

// JournalError says that the journal could not be written or read.
type JournalError struct {
	// Op is what failed: "begin", "finish" or "unfinished".
	Op string
	// Signature is the transaction's; zero with "unfinished".
	Signature solana.Signature
	// Outcome is what has become of the transaction: OutcomeNotSent unless Op is "finish". Then it has been sent, and its entry
	// stays unfinished until it is resolved again.
	Outcome Outcome
	// Err is the journal's error.
	Err error
	// Failure is what the transaction itself failed with; nil unless Op is "finish" and it did.
	Failure error
}

func (e *JournalError) Error() string {
	if e.Op == journalFinish {
		return fmt.Sprintf("haggle: transaction %s is %s, which the journal does not take: %v", e.Signature, e.Outcome, e.Err)
	}
	return fmt.Sprintf("haggle: journal: %s: %v (nothing has been sent)", e.Op, e.Err)
}

// Unwrap is the journal's error, and the transaction's own.
func (e *JournalError) Unwrap() []error {
	if e.Failure == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Failure}
}

const (
	journalBegin      = "begin"
	journalFinish     = "finish"
	journalUnfinished = "unfinished"
)

// book is what a client knows of its journal: which of the unfinished entries it is waiting for itself. What is unfinished
// otherwise was left behind, by a process before this one or by a call that has ended with an [*UnknownOutcome].
type book struct {
	journal Journal

	// lock is held shared while an entry changes in the journal and in inFlight, and alone while both are compared.
	lock     sync.RWMutex
	flights  sync.Mutex
	inFlight map[solana.Signature]struct{}

	gatesLock sync.Mutex
	gates     map[solana.PublicKey]chan struct{}
}

func newBook(journal Journal) *book {
	if journal == nil {
		return nil
	}
	return &book{journal: journal, inFlight: make(map[solana.Signature]struct{}), gates: make(map[solana.PublicKey]chan struct{})}
}

// enter waits until nobody else resolves a wallet's entries, and says how to leave.
func (b *book) enter(ctx context.Context, wallet solana.PublicKey) (leave func(), err error) {
	b.gatesLock.Lock()
	gate, ok := b.gates[wallet]
	if !ok {
		gate = make(chan struct{}, 1)
		b.gates[wallet] = gate
	}
	b.gatesLock.Unlock()
	select {
	case gate <- struct{}{}:
		return func() { <-gate }, nil
	case <-ctx.Done():
		return nil, unsent{context.Cause(ctx)}
	}
}

// begin writes an entry that this process will finish.
func (b *book) begin(ctx context.Context, entry JournalEntry) error {
	b.lock.RLock()
	defer b.lock.RUnlock()
	if !b.take(entry.Signature) {
		return &JournalError{Op: journalBegin, Signature: entry.Signature, Outcome: OutcomeNotSent, Err: ErrInJournal}
	}
	if err := b.journal.Begin(ctx, entry); err != nil {
		b.drop(entry.Signature)
		return &JournalError{Op: journalBegin, Signature: entry.Signature, Outcome: OutcomeNotSent, Err: err}
	}
	return nil
}

// end writes what has become of a transaction. One whose outcome is unknown stays unfinished, to be resolved by whoever is next.
// failure is what the transaction's sender gets to know otherwise.
func (b *book) end(ctx context.Context, signature solana.Signature, failure error) error {
	b.lock.RLock()
	defer b.lock.RUnlock()
	defer b.drop(signature)
	outcome := OutcomeOf(failure)
	if !outcome.IsFinal() {
		return failure
	}
	// The outcome is worth writing down even for somebody who no longer waits for it.
	if err := b.journal.Finish(context.WithoutCancel(ctx), signature, outcome); err != nil {
		return &JournalError{Op: journalFinish, Signature: signature, Outcome: outcome, Err: err, Failure: failure}
	}
	return failure
}

func (b *book) take(signature solana.Signature) bool {
	b.flights.Lock()
	defer b.flights.Unlock()
	if _, flies := b.inFlight[signature]; flies {
		return false
	}
	b.inFlight[signature] = struct{}{}
	return true
}

func (b *book) drop(signature solana.Signature) {
	b.flights.Lock()
	defer b.flights.Unlock()
	delete(b.inFlight, signature)
}

// left are a wallet's unfinished entries that nobody in this process waits for.
func (b *book) left(ctx context.Context, wallet solana.PublicKey) ([]JournalEntry, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	var left []JournalEntry
	for entry, err := range b.journal.Unfinished(ctx, wallet) {
		if err != nil {
			return nil, &JournalError{Op: journalUnfinished, Outcome: OutcomeNotSent, Err: err}
		}
		if _, flies := b.inFlight[entry.Signature]; !flies {
			left = append(left, entry)
		}
	}
	return left, nil
}
