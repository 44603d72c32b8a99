package haggle

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Submit sends a signed transaction, and resends it until confirmation or expiry. It does not simulate it. It
// returns the errors of [Action.Do]; if the transaction was executed and failed, the fee was paid.
//
// With a journal, the transaction is recorded there with the action's idempotency key, which follows from the
// transaction itself. If another transaction that uses this key is confirmed, Submit sends nothing and
// returns [*AlreadyDone]; if it is this transaction itself, Submit returns the receipt. As in Do, only
// unresolved transactions that share the key or the negotiation delay it.
//
// For a transaction that this client did not build, Submit waits longer than any blockhash lives, or, if it
// uses a durable nonce, until the nonce account's value changes. If that value already differs, the
// transaction is not sent, and Submit returns the outcome. A transaction that may be older than the blocks
// that the nodes keep could have been executed long ago: the outcome is then an
// [*transaction.UnknownOutcomeError], to be resolved by a node with a complete history.
func (c *Client) Submit(ctx context.Context, tx *solana.Transaction) (receipt *Receipt, err error) {
	ctx, end := c.beginAction(ctx, "submit", solana.PublicKey{})
	defer func() { end(err) }()
	if len(tx.Signatures) == 0 || len(tx.Message.AccountKeys) == 0 {
		return nil, fmt.Errorf("%w: transaction has no signature", transaction.ErrMissingSigner)
	}
	c.syncSlot(ctx)
	prepared, err := c.preparedFor(tx)
	if err != nil {
		return nil, err
	}
	done, err := c.resolveConflicts(ctx, prepared.conflicts())
	if err != nil {
		return nil, err
	}
	if done != nil {
		receipt, err := c.receiptOf(ctx, done)
		if err == nil && done.Entry.Signature != tx.Signatures[0] {
			err = &AlreadyDone{Action: done.Entry.Action, Negotiation: done.Entry.Negotiation,
				Receipt: receipt}
		}
		return receipt, err
	}
	if prepared.valid == nil {
		if prepared.valid, err = c.sender.ValidityOf(ctx, tx); err != nil {
			return nil, err
		}
	}
	if !prepared.valid.Nonce.IsZero() {
		now := *prepared.valid
		if unused, err := c.sender.NotExecutedBefore(ctx, tx.Signatures[0], &now); err == nil && !unused {
			// It can no longer be executed. An entry in the journal could stay unfinished until a node with a
			// complete history is available.
			return withEvents(c.pending(prepared, nil).Await(ctx))
		}
	}
	return c.send(ctx, prepared)
}

// preparedTx is a transaction to send, with a description.
type preparedTx struct {
	transaction *solana.Transaction
	// valid is nil if it is not known how long the transaction is valid.
	valid      *send.Validity
	commitment rpc.CommitmentType

	// The following fields are zero for a transaction without an instruction of this program.
	action      string
	negotiation solana.PublicKey
	sessionID   uint64
	key, intent solana.Hash
}

// Payer pays the fee.
func (o *preparedTx) Payer() solana.PublicKey { return o.transaction.Message.AccountKeys[0] }

func (o *preparedTx) conflicts() conflicts {
	return conflicts{
		wallet: o.Payer(), key: o.key, intent: o.intent, negotiation: o.negotiation,
		signature: o.transaction.Signatures[0],
	}
}

// entry returns the journal's entry for the transaction.
func (o *preparedTx) entry(encoded []byte) JournalEntry {
	return JournalEntry{
		Wallet:               o.Payer(),
		Action:               o.action,
		Negotiation:          o.negotiation,
		SessionID:            o.sessionID,
		Key:                  o.key,
		Intent:               o.intent,
		Signature:            o.transaction.Signatures[0],
		Blockhash:            o.transaction.Message.RecentBlockhash,
		LastValidBlockHeight: o.valid.LastHeight,
		Nonce:                o.valid.Nonce,
		Slot:                 o.valid.Since,
		Commitment:           o.commitment,
		Transaction:          encoded,
		Begun:                time.Now().Round(0).UTC(),
	}
}

// send sends a signed transaction. If there is a journal, the transaction is recorded and authorized there
// first.
func (c *Client) send(ctx context.Context, prepared *preparedTx) (receipt *Receipt, err error) {
	if err := prepared.transaction.VerifySignatures(); err != nil {
		return nil, unsent(fmt.Errorf("haggle: transaction not completely signed: %w", err))
	}
	encoded, err := prepared.transaction.MarshalBinary()
	if err != nil {
		return nil, unsent(fmt.Errorf("haggle: encode the transaction: %w", err))
	}
	if err := context.Cause(ctx); err != nil {
		return nil, unsent(err)
	}
	pending := c.pending(prepared, encoded)
	if c.inFlight == nil {
		receipt, err = withEvents(pending.Send(ctx))
		c.settled(ctx, prepared.transaction, receipt, err)
		return receipt, err
	}
	if err := c.inFlight.begin(ctx, prepared.entry(encoded)); err != nil {
		var failed *JournalError
		if errors.As(err, &failed) && failed.Outcome == transaction.Unknown {
			failed.Failure = pending.Unknown(failed.Err)
			c.resolveInBackground(prepared.Payer())
		}
		return nil, err
	}
	defer c.inFlight.remove(pending.Signature)
	receipt, err = withEvents(pending.Send(ctx))
	c.settled(ctx, prepared.transaction, receipt, err)
	err = c.inFlight.end(ctx, pending.Signature, err, true)
	if !transaction.OutcomeOf(err).IsFinal() {
		c.resolveInBackground(prepared.Payer())
	}
	return receipt, err
}

// pending returns a transaction to send or to wait for. encoded is nil if it must not be sent.
func (c *Client) pending(prepared *preparedTx, encoded []byte) *send.Pending {
	return c.sender.Pending(send.Pending{
		Signature: prepared.transaction.Signatures[0], Encoded: base64.StdEncoding.EncodeToString(encoded),
		Invoked: send.InvokedPrograms(prepared.transaction), Valid: *prepared.valid, Commitment: prepared.commitment,
		SentAt: time.Now(),
	})
}

// Outcome waits until a transaction's outcome is certain. It sends nothing. If this client recently proved
// the outcome, Outcome returns it at once and requests nothing.
func (c *Client) Outcome(ctx context.Context, unknown *transaction.UnknownOutcomeError) (*Receipt, error) {
	if proven, ok := c.settlements.Get(unknown.Signature); ok {
		return proven.receipt, proven.err
	}
	c.syncSlot(ctx)
	return withEvents(c.pendingUnknown(unknown).Await(ctx))
}

func (c *Client) pendingUnknown(unknown *transaction.UnknownOutcomeError) *send.Pending {
	return c.sender.Pending(send.Pending{
		Signature: unknown.Signature, SentAt: unknown.SentAt, Commitment: c.commitment,
		Valid: send.Validity{
			LastHeight: unknown.LastValidBlockHeight, Blockhash: unknown.Blockhash, Nonce: unknown.Nonce,
			Since: unknown.Slot,
		},
	})
}
