package haggle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Journal records, beyond the life of the process, which transactions have been sent and what their outcomes
// are. With [Config].Journal each transaction is recorded before it is sent, so that a process that
// starts after a crash resolves it and does not repeat it: see [Client.Recover]. Packages journal/sqlite and
// journal/postgres store one in a database that several processes can use at once; journal/journaltest tests
// others.
//
// Its methods may be called from several goroutines. If several processes can use a journal at once, the
// process that begins an entry holds a lease on it, which it renews until the entry is finished: see
// [JournalEntry].Leased.
type Journal interface {
	// Begin writes an entry, which is durable when Begin returns nil. If it fails, nothing is sent. An entry
	// with the signature of an unfinished one is [ErrInJournal]. In a journal of several processes so is one
	// with the wallet and the key of an unfinished or confirmed one.
	Begin(ctx context.Context, entry JournalEntry) error
	// Finish records the outcome of the transaction with this signature. The first outcome stays; an unknown
	// signature is no error; an outcome that is not final is an error. acknowledged reports that the caller
	// of the action has received the outcome; it is false if only a recovery has. A later call can set it,
	// and none can reset it. [transaction.NotSent] is an error after the end of the process's lease, because
	// another process may have sent the transaction.
	Finish(ctx context.Context, signature solana.Signature, outcome transaction.Outcome, acknowledged bool) error
	// Unfinished returns a wallet's unfinished entries, in the order in which they were begun.
	Unfinished(ctx context.Context, wallet solana.PublicKey) iter.Seq2[JournalEntry, error]
	// Confirmed returns an entry of the wallet that was finished as [transaction.Confirmed]: the entry whose Key
	// is key, or otherwise the oldest one whose Intent is intent and which has not been acknowledged. It
	// returns nil if there is none. A key or an intent that is zero matches nothing. The fields that are only
	// needed to resolve an entry may be missing: Transaction, Blockhash, LastValidBlockHeight, Nonce
	// and Slot.
	Confirmed(ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash) (*JournalEntry, error)
}

// JournalEntry is a transaction that is about to be sent.
type JournalEntry struct {
	// Wallet pays the transaction's fee.
	Wallet solana.PublicKey `json:"wallet"`
	// Action is the instruction's name in the IDL; empty for a transaction without an instruction of this
	// program.
	Action string `json:"action,omitempty"`
	// Negotiation is the negotiation's address; zero if the action is not on one.
	Negotiation solana.PublicKey `json:"negotiation,omitzero"`
	// Key is the idempotency key. A wallet does not execute two actions with one key.
	Key solana.Hash `json:"key,omitzero"`
	// Intent is a hash of the action's content. An action that is built anew after a crash has the same
	// intent.
	Intent solana.Hash `json:"intent,omitzero"`
	// SessionID is the session id of the negotiation that the transaction creates; otherwise zero.
	SessionID uint64 `json:"session_id,omitempty"`
	// Signature is the payer's signature, which identifies the transaction on chain.
	Signature solana.Signature `json:"signature"`
	// Blockhash is the transaction's blockhash: a recent block's, or with Nonce the nonce's value.
	Blockhash solana.Hash `json:"blockhash"`
	// LastValidBlockHeight is the last height of a block that the transaction can be in; zero with Nonce.
	LastValidBlockHeight uint64 `json:"last_valid_block_height,omitempty"`
	// Nonce is the nonce account of a transaction with a durable nonce, which can be executed until that
	// account has another value.
	Nonce solana.PublicKey `json:"nonce,omitzero"`
	// Slot is a slot before which the transaction cannot have been executed; zero if that is not known.
	Slot uint64 `json:"slot,omitempty"`
	// Commitment is the commitment at which the transaction counts as confirmed; if empty, it is the
	// client's.
	Commitment rpc.CommitmentType `json:"commitment,omitempty"`
	// Transaction is the signed transaction as it is sent.
	Transaction []byte `json:"transaction,omitempty"`
	// Begun is the machine's time of Begin.
	Begun time.Time `json:"begun"`
	// Leased reports whether another process waits for the outcome and writes it. Only [Journal].Unfinished
	// sets it. The client then sends nothing that conflicts with the transaction. It resolves the transaction
	// itself when the lease has ended: the other process has closed the journal or has died.
	Leased bool `json:"-"`
}

// Validate returns an error if the entry could not be resolved later. Journals call it in Begin.
func (e *JournalEntry) Validate() error {
	switch {
	case e.Wallet.IsZero():
		return errors.New("haggle: journal entry: wallet not set")
	case e.Signature.IsZero():
		return errors.New("haggle: journal entry: signature not set")
	case len(e.Transaction) == 0:
		return errors.New("haggle: journal entry: transaction not set")
	}
	return nil
}

// validity returns how long the entry's transaction can be executed.
func (e *JournalEntry) validity() send.Validity {
	return send.Validity{LastHeight: e.LastValidBlockHeight, Blockhash: e.Blockhash, Nonce: e.Nonce, Since: e.Slot}
}

var (
	// ErrInJournal: the journal has an unfinished entry with this signature, or an entry with this key.
	ErrInJournal = errors.New("haggle: the transaction or its key is in the journal already")
	// ErrNoJournal: the client has no journal to recover from.
	ErrNoJournal = errors.New("haggle: the client has no journal")
)

// JournalError is a failed read or write of the journal.
type JournalError struct {
	// Op is the failed operation: "begin", "finish", "unfinished" or "confirmed".
	Op string
	// Signature is the transaction's signature; zero with "unfinished" and "confirmed".
	Signature solana.Signature
	// Outcome is the outcome of the transaction: transaction.NotSent unless Op is "finish". Then its entry stays
	// unfinished until it is resolved again.
	Outcome transaction.Outcome
	// Err is the journal's error.
	Err error
	// Failure is the transaction's own error; nil if Op is not "finish" or the transaction has not failed.
	Failure error
}

func (e *JournalError) Error() string {
	if e.Op == journalFinish {
		return fmt.Sprintf("haggle: transaction %s is %s, but the journal cannot record it: %v", e.Signature,
			e.Outcome, e.Err)
	}
	return fmt.Sprintf("haggle: journal: %s: %v (nothing was sent)", e.Op, e.Err)
}

// Unwrap returns the journal's error and the transaction's own.
func (e *JournalError) Unwrap() []error {
	if e.Failure == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Failure}
}

// TransactionOutcome returns Outcome.
func (e *JournalError) TransactionOutcome() transaction.Outcome { return e.Outcome }

const (
	journalBegin      = "begin"
	journalFinish     = "finish"
	journalUnfinished = "unfinished"
	journalConfirmed  = "confirmed"
)
