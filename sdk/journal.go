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

// JournalStore stores, beyond the life of the process, which transactions have been sent and what their
// outcomes are. With [Config].Journal each transaction is recorded before it is sent, so a process restarted
// after a crash resolves it and does not repeat it: see [Client.Recover]. Packages store/sqlite and
// store/postgres store the entries in a database that several processes can use at once; store/journaltest
// tests other stores.
type JournalStore interface {
	// OpenJournal returns a separate view for a client, with separate leases. It does no input or output.
	// [Client.Close] closes the view.
	OpenJournal() Journal
}

// Journal is a client's view of a [JournalStore]. It is safe for concurrent use.
//
// An entry authorizes the transaction to be sent only after two durable steps, Begin and Authorize. The
// client that begins an entry holds a lease on the entry. The store renews the leases on authorized entries
// while the process lives, until the entry is finished or the client is closed. Clients that share a store or
// a database see each other's entries as leased: see [JournalEntry].Leased.
type Journal interface {
	// Begin writes an entry that authorizes nothing yet; the entry is durable when Begin returns nil. It
	// returns [ErrInJournal] if an unfinished entry uses the same signature, or an unfinished or confirmed
	// entry uses the same wallet and key. If another error is returned, the entry may have been written.
	Begin(ctx context.Context, entry JournalEntry) error
	// Authorize makes an entry begun by this client authorize the transaction, durably when it returns nil.
	// It fails if the entry is finished or the client no longer holds the lease. If it returns an error, the
	// entry may be authorized.
	Authorize(ctx context.Context, signature solana.Signature) error
	// Revoke durably finishes an unauthorized entry as [transaction.NotSent], if this client holds the lease
	// or the lease expired. If it returns nil, the journal authorizes no client to send the transaction: the
	// entry is revoked, is unknown, or was already finished as NotSent. It returns an error if the entry is
	// authorized, if another client holds the lease, or if another outcome is recorded.
	Revoke(ctx context.Context, signature solana.Signature) error
	// Finish records the transaction's outcome. The first outcome stays; an unknown signature is no error; an
	// outcome other than a final outcome is an error. acknowledged reports whether the action's caller
	// received the outcome; it is false if a recovery alone received it. A later call can set it, and none
	// can reset it. No client but the lease holder can record [transaction.NotSent]; for others it is an
	// error, because another client may have sent the transaction, and so it is if another outcome is
	// recorded.
	Finish(ctx context.Context, signature solana.Signature, outcome transaction.Outcome, acknowledged bool) error
	// Unfinished returns a wallet's unfinished entries, in the order of their beginning. It durably ends the
	// leases whose time is over, so that their holders can no longer authorize the entries.
	Unfinished(ctx context.Context, wallet solana.PublicKey) iter.Seq2[JournalEntry, error]
	// Confirmed returns an entry of the wallet finished as [transaction.Confirmed]: the entry whose Key is
	// key, or otherwise the oldest unacknowledged entry whose Intent is intent. It returns nil if there is
	// none. A key or an intent that is zero matches nothing. The fields that are only needed to resolve an
	// entry may be missing: Transaction, Blockhash, LastValidBlockHeight, Nonce and Slot.
	Confirmed(ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash) (*JournalEntry, error)
	// Close ends the client's leases. Begin and Authorize then fail; all other methods work until the store
	// is closed. A second call does nothing.
	Close() error
}

// JournalEntry is a transaction that is about to be sent.
type JournalEntry struct {
	// Wallet pays the transaction's fee.
	Wallet solana.PublicKey `json:"wallet"`
	// Action is the instruction's name in the IDL; empty for a transaction without an instruction of this
	// program.
	Action string `json:"action,omitempty"`
	// Negotiation is the negotiation's address; zero if the action is not about a negotiation.
	Negotiation solana.PublicKey `json:"negotiation,omitzero"`
	// Key is the idempotency key. A wallet does not execute two actions with one key.
	Key solana.Hash `json:"key,omitzero"`
	// Intent is a hash of the action's content; a creation's intent covers only the wallet, the name and the
	// negotiation. If an action is built again after a crash, the intent is the same.
	Intent solana.Hash `json:"intent,omitzero"`
	// SessionID is the session id of the negotiation that the transaction creates; otherwise zero.
	SessionID uint64 `json:"session_id,omitempty"`
	// Signature is the payer's signature, which identifies the transaction on chain.
	Signature solana.Signature `json:"signature"`
	// Blockhash is the transaction's blockhash: a recent block's, or the nonce's value if Nonce is set.
	Blockhash solana.Hash `json:"blockhash"`
	// LastValidBlockHeight is the greatest height of blocks that can include the transaction; zero with
	// Nonce.
	LastValidBlockHeight uint64 `json:"last_valid_block_height,omitempty"`
	// Nonce is the nonce account used by the transaction, if any. The transaction can be executed until that
	// account's value changes.
	Nonce solana.PublicKey `json:"nonce,omitzero"`
	// Slot is a lower bound for the slot that can include the transaction; zero if it is not known.
	Slot uint64 `json:"slot,omitempty"`
	// Commitment is the commitment required to count the transaction as confirmed; if empty, the client's is
	// used.
	Commitment rpc.CommitmentType `json:"commitment,omitempty"`
	// Transaction is the signed transaction as it is sent.
	Transaction []byte `json:"transaction,omitempty"`
	// Begun is the machine's time of Begin.
	Begun time.Time `json:"begun"`
	// Authorized reports whether the entry authorizes the transaction to be sent. [Journal].Unfinished alone
	// sets it. If it is false, the client never sends the transaction, but revokes the entry.
	Authorized bool `json:"-"`
	// Leased reports whether another client waits for the outcome and writes it. [Journal].Unfinished alone
	// sets it. The client then sends nothing that conflicts with the transaction. It resolves the transaction
	// itself when the lease ended: the leasing client is closed, or its process died.
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
	// ErrInJournal: the journal contains an unfinished entry for this signature, or an entry for this key.
	ErrInJournal = errors.New("haggle: the transaction or its key is in the journal already")
	// ErrNoJournal: the client cannot recover, because it uses no journal.
	ErrNoJournal = errors.New("haggle: the client has no journal")
)

// JournalError is a failed read or write of the journal.
type JournalError struct {
	// Op is the failed operation: "begin", "authorize", "revoke", "finish", "unfinished" or "confirmed".
	Op string
	// Signature is the transaction's signature; zero with the last two.
	Signature solana.Signature
	// Outcome is the outcome of the transaction. With "begin" and "authorize" it is transaction.NotSent if
	// the journal proves that no process can send the transaction, otherwise transaction.Unknown: this client
	// did not send it, but another client may. With "finish" the entry stays unfinished until a further
	// attempt resolves it.
	Outcome transaction.Outcome
	// Err is the journal's error.
	Err error
	// Failure is the transaction's own error: with "finish" the failure, otherwise nil or an
	// [*transaction.UnknownOutcomeError] for [Client.Outcome].
	Failure error
}

func (e *JournalError) Error() string {
	switch {
	case e.Op == journalFinish:
		return fmt.Sprintf("haggle: transaction %s is %s, but the journal cannot record it: %v", e.Signature,
			e.Outcome, e.Err)
	case e.Outcome == transaction.NotSent:
		return fmt.Sprintf("haggle: journal: %s: %v (nothing was sent)", e.Op, e.Err)
	}
	return fmt.Sprintf("haggle: journal: %s: %v (outcome of transaction %s is %s: another client may send it)",
		e.Op, e.Err, e.Signature, e.Outcome)
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
	journalAuthorize  = "authorize"
	journalRevoke     = "revoke"
	journalFinish     = "finish"
	journalUnfinished = "unfinished"
	journalConfirmed  = "confirmed"
)
