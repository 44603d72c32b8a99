package haggle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// Journal records, beyond the life of the process, which transactions have been sent and what their outcomes are. With
// [Config].Journal each transaction is written to it before it is sent, so that a process that starts after a crash
// resolves it and does not repeat it: see [Client.Recover]. Package journal stores one in a file, journal/sqlite in a
// database; journal/journaltest tests others.
//
// Its methods may be called from several goroutines. One process at a time may use a journal.
type Journal interface {
	// Begin writes an entry, which is durable when Begin returns nil. If it fails, nothing is sent. An entry with the
	// signature of an unfinished one is [ErrInJournal].
	Begin(ctx context.Context, entry JournalEntry) error
	// Finish writes the outcome of the transaction with this signature. The first outcome stays; an unknown signature
	// is no error; an outcome that is not final is one. Acknowledged says that the caller of the action has received
	// the outcome, and is false if only a recovery has. It can be set later, by another call, and not be taken back.
	Finish(ctx context.Context, signature solana.Signature, outcome Outcome, acknowledged bool) error
	// Unfinished returns a wallet's entries that have not been finished, in the order in which they were begun.
	Unfinished(ctx context.Context, wallet solana.PublicKey) iter.Seq2[JournalEntry, error]
	// Confirmed returns an entry of the wallet that was finished as [OutcomeConfirmed]: the one whose Key is key, or
	// otherwise the oldest one whose Intent is intent and which has not been acknowledged. It returns nil if there is
	// none. A key or an intent that is zero matches nothing. What was needed to resolve the entry may be missing in it:
	// Transaction, Expects, Blockhash, LastValidBlockHeight, Nonce and Slot.
	Confirmed(ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash) (*JournalEntry, error)
}

// JournalEntry is a transaction that is about to be sent.
type JournalEntry struct {
	// Wallet pays the transaction's fee.
	Wallet solana.PublicKey `json:"wallet"`
	// Action is the instruction's name in the IDL; empty for a transaction without an instruction of this program.
	Action string `json:"action,omitempty"`
	// Negotiation is the negotiation's address; zero if the action is not on one.
	Negotiation solana.PublicKey `json:"negotiation,omitzero"`
	// Key is the idempotency key. A wallet does not carry out two actions with one key.
	Key solana.Hash `json:"key,omitzero"`
	// Intent is a hash of what the action does. An action that is built anew after a crash has the same intent.
	Intent solana.Hash `json:"intent,omitzero"`
	// SessionID is that of the negotiation that the transaction creates; otherwise zero.
	SessionID uint64 `json:"session_id,omitempty"`
	// Signature is the payer's, by which the chain knows the transaction.
	Signature solana.Signature `json:"signature"`
	// Blockhash is the transaction's: a recent block's, or with Nonce the nonce's value.
	Blockhash solana.Hash `json:"blockhash"`
	// LastValidBlockHeight is the last height of a block that the transaction can be in; zero with Nonce.
	LastValidBlockHeight uint64 `json:"last_valid_block_height,omitempty"`
	// Nonce is the nonce account of a transaction with a durable nonce, which can be executed until that has another value.
	Nonce solana.PublicKey `json:"nonce,omitzero"`
	// Slot is one before which the transaction cannot have been executed; zero if that is not known.
	Slot uint64 `json:"slot,omitempty"`
	// Commitment is how certain the transaction has to be to be confirmed; empty is the client's.
	Commitment rpc.CommitmentType `json:"commitment,omitempty"`
	// Transaction is the signed transaction as it is sent.
	Transaction []byte `json:"transaction,omitempty"`
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
	return validity{lastHeight: e.LastValidBlockHeight, blockhash: e.Blockhash, nonce: e.Nonce, since: e.Slot}
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
	// Op is what failed: "begin", "finish", "unfinished" or "confirmed".
	Op string
	// Signature is the transaction's; zero with "unfinished" and "confirmed".
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
	journalConfirmed  = "confirmed"
)
