package haggle

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/node"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

const (
	// rebroadcastEvery is the interval at which a transaction is sent again, because leaders drop
	// transactions under load, and at which its expiry is checked.
	rebroadcastEvery = 2 * time.Second
	// unreachableLimit is how long all nodes may fail to answer until the outcome counts as unknown. A
	// blockhash lives for about a minute.
	unreachableLimit = 2 * time.Minute
	// outcomeLimit is how long the client waits for an outcome: much longer than a blockhash lives, and than
	// a block takes to be finalized.
	outcomeLimit = 10 * time.Minute
)

// Submit sends a signed transaction, and repeats the send until it is confirmed or has expired. It does not
// simulate it. Its errors are those of [Action.Do]; a transaction that was executed and failed has paid its
// fee.
//
// With a journal, the transaction is recorded there with the idempotency key of its action, which follows
// from the transaction itself. If another transaction with this key is confirmed, Submit sends nothing and
// returns [*AlreadyDone]; if it is this transaction itself, Submit returns its receipt. As in Do, only
// unresolved transactions with the same key or on the same negotiation delay it.
//
// For a transaction that this client did not build, Submit waits longer than any blockhash lives, or with a
// durable nonce until the nonce account has another value. If that account has another value already, the
// transaction is not sent, and Submit returns its outcome. A transaction that may be older than the blocks
// that the nodes keep may have been executed long ago: its outcome is then an [*transaction.UnknownOutcomeError], which a node
// with a complete history can resolve.
func (c *Client) Submit(ctx context.Context, tx *solana.Transaction) (receipt *Receipt, err error) {
	ctx, end := c.beginAction(ctx, "submit", solana.PublicKey{})
	defer func() { end(err) }()
	if len(tx.Signatures) == 0 || len(tx.Message.AccountKeys) == 0 {
		return nil, fmt.Errorf("%w: transaction has no signature", transaction.ErrMissingSigner)
	}
	c.orient(ctx)
	draft, err := c.drafted(tx)
	if err != nil {
		return nil, err
	}
	done, err := c.resolveConflicts(ctx, draft.conflicts())
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
	if draft.valid == nil {
		if draft.valid, err = c.validityOf(ctx, tx); err != nil {
			return nil, err
		}
	}
	if !draft.valid.nonce.IsZero() {
		now := *draft.valid
		if unused, err := c.notExecutedBefore(ctx, tx.Signatures[0], &now); err == nil && !unused {
			// It can no longer be executed. An entry in the journal could stay unfinished until a node with a
			// complete history is available.
			return c.pending(draft, nil).await(ctx)
		}
	}
	return c.send(ctx, draft)
}

// outgoing is a transaction to send, with its description.
type outgoing struct {
	transaction *solana.Transaction
	// valid is nil if it is not known how long the transaction is valid.
	valid      *validity
	commitment rpc.CommitmentType

	// The following fields are zero for a transaction without an instruction of this program.
	action      string
	negotiation solana.PublicKey
	sessionID   uint64
	key, intent solana.Hash
}

// Payer pays the fee.
func (o *outgoing) Payer() solana.PublicKey { return o.transaction.Message.AccountKeys[0] }

func (o *outgoing) conflicts() conflicts {
	return conflicts{
		wallet: o.Payer(), key: o.key, intent: o.intent, negotiation: o.negotiation,
		signature: o.transaction.Signatures[0],
	}
}

// entry returns the journal's entry for the transaction.
func (o *outgoing) entry(encoded []byte) JournalEntry {
	return JournalEntry{
		Wallet:               o.Payer(),
		Action:               o.action,
		Negotiation:          o.negotiation,
		SessionID:            o.sessionID,
		Key:                  o.key,
		Intent:               o.intent,
		Signature:            o.transaction.Signatures[0],
		Blockhash:            o.transaction.Message.RecentBlockhash,
		LastValidBlockHeight: o.valid.lastHeight,
		Nonce:                o.valid.nonce,
		Slot:                 o.valid.since,
		Commitment:           o.commitment,
		Transaction:          encoded,
		Begun:                time.Now().Round(0).UTC(),
	}
}

// send sends a signed transaction, after it is in the journal if there is one.
func (c *Client) send(ctx context.Context, draft *outgoing) (receipt *Receipt, err error) {
	defer func() { c.observers.report(ctx, draft.transaction, transaction.OutcomeOf(err)) }()
	if err := draft.transaction.VerifySignatures(); err != nil {
		return nil, unsent(fmt.Errorf("haggle: transaction not completely signed: %w", err))
	}
	encoded, err := draft.transaction.MarshalBinary()
	if err != nil {
		return nil, unsent(fmt.Errorf("haggle: encode the transaction: %w", err))
	}
	if err := context.Cause(ctx); err != nil {
		return nil, unsent(err)
	}
	pending := c.pending(draft, encoded)
	if c.inFlight == nil {
		return pending.send(ctx)
	}
	if err := c.inFlight.begin(ctx, draft.entry(encoded)); err != nil {
		return nil, err
	}
	defer c.inFlight.remove(pending.signature)
	receipt, err = pending.send(ctx)
	err = c.inFlight.end(ctx, pending.signature, err, true)
	if !transaction.OutcomeOf(err).IsFinal() {
		c.resolveInBackground(draft.Payer())
	}
	return receipt, err
}

// pendingTransaction is a transaction whose outcome is not known yet.
type pendingTransaction struct {
	client    *Client
	signature solana.Signature
	// encoded is the transaction, in base 64; empty if it must not be sent.
	encoded string
	// invoked are the programs that its instructions call; nil if they are not known.
	invoked []solana.PublicKey
	valid   validity
	// commitment is the commitment at which the transaction counts as confirmed.
	commitment rpc.CommitmentType
	sentAt     time.Time
}

func (c *Client) pending(draft *outgoing, encoded []byte) *pendingTransaction {
	return &pendingTransaction{
		client: c, signature: draft.transaction.Signatures[0],
		encoded: base64.StdEncoding.EncodeToString(encoded),
		invoked: invokedPrograms(draft.transaction), valid: *draft.valid, commitment: draft.commitment,
		sentAt: time.Now(),
	}
}

// send broadcasts the transaction for the first time and waits for its outcome.
func (p *pendingTransaction) send(ctx context.Context) (*Receipt, error) {
	// The cause of an ended context may be a node's answer to another request.
	if err := p.broadcast(ctx); err != nil && ctx.Err() == nil {
		if refusal := p.refusal(err); refusal != nil {
			return nil, unsent(refusal)
		}
	}
	return p.await(ctx)
}

func (p *pendingTransaction) broadcast(ctx context.Context) error {
	var never uint
	_, err := p.client.rpc.SendEncodedTransactionWithOpts(ctx, p.encoded, rpc.TransactionOpts{
		SkipPreflight:       true, // it has been simulated
		PreflightCommitment: p.client.commitment,
		MaxRetries:          &never, // the client sends it again itself
	})
	return err
}

// refusal returns the error of a first broadcast if certainly no node has forwarded the transaction. It
// returns nil if a node may have forwarded it or already knows it, if the request was repeated, and for every
// answer that a server between the client and the node can have given.
func (p *pendingTransaction) refusal(err error) error {
	var answered *node.Error
	if !errors.As(err, &answered) || answered.Repeated || answered.IsBusy() || !rpcpool.MeansNotForwarded(answered) {
		return nil
	}
	data, _ := answered.Data.(map[string]any)
	if data == nil || data["err"] == nil {
		if strings.Contains(answered.Message, "already been processed") {
			return nil
		}
		return err
	}
	if data["err"] == "AlreadyProcessed" {
		return nil
	}
	var logs []string
	lines, _ := data["logs"].([]any)
	for _, line := range lines {
		logs = append(logs, fmt.Sprint(line))
	}
	return failureError(data["err"], logs, p.invoked, solana.Signature{})
}

// await waits until the outcome is certain.
func (p *pendingTransaction) await(ctx context.Context) (*Receipt, error) {
	updates := p.client.statuses.watch(p.signature)
	defer p.client.statuses.unwatch(p.signature, updates)
	rebroadcasts := time.NewTicker(rebroadcastEvery)
	defer rebroadcasts.Stop()
	began := time.Now()
	lastAnswer, lastErr := began, error(nil)
	// The poller searches the recent transactions only. A transaction that was sent earlier may be older.
	old, check, rebroadcast := began.Sub(p.sentAt) > recentStatuses, false, false
	for {
		if check {
			check = false
			expired, status, err := p.hasExpired(ctx)
			switch {
			case err != nil:
				return nil, p.unknown(err)
			case expired:
				return nil, fmt.Errorf("%w: %s", transaction.ErrExpired, p.signature)
			case status != nil && p.reached(status):
				return p.settle(ctx, status)
			}
		}
		if rebroadcast {
			rebroadcast = false
			// The answer does not matter: a node may have forwarded the transaction before.
			_ = p.broadcast(ctx)
		}
		if time.Since(began) > outcomeLimit {
			return nil, p.unknown(errors.New("neither executed nor expired"))
		}
		if time.Since(lastAnswer) > unreachableLimit {
			return nil, p.unknown(lastErr)
		}
		select {
		case <-ctx.Done():
			return nil, p.unknown(context.Cause(ctx))
		case update := <-updates:
			if lastErr = update.err; lastErr != nil {
				if errors.Is(lastErr, ErrClientClosed) {
					return nil, p.unknown(lastErr)
				}
				continue
			}
			lastAnswer = time.Now()
			if update.status != nil && p.reached(update.status) {
				return p.settle(ctx, update.status)
			}
			check, old = old && update.status == nil, false
		case <-rebroadcasts.C:
			check, rebroadcast = p.client.statuses.mayHaveExpired(ctx, p), p.encoded != ""
		}
	}
}

func (p *pendingTransaction) unknown(cause error) error {
	return &transaction.UnknownOutcomeError{
		Signature: p.signature, LastValidBlockHeight: p.valid.lastHeight, Blockhash: p.valid.blockhash,
		Nonce: p.valid.nonce,
		Slot:  p.valid.since, SentAt: p.sentAt, Cause: cause,
	}
}

func (p *pendingTransaction) reached(status *rpc.SignatureStatusesResult) bool {
	if p.commitment == rpc.CommitmentFinalized {
		return status.ConfirmationStatus == rpc.ConfirmationStatusFinalized
	}
	return status.ConfirmationStatus == rpc.ConfirmationStatusConfirmed ||
		status.ConfirmationStatus == rpc.ConfirmationStatusFinalized
}

// Outcome waits until the outcome of a transaction is certain. It sends nothing.
func (c *Client) Outcome(ctx context.Context, unknown *transaction.UnknownOutcomeError) (*Receipt, error) {
	c.orient(ctx)
	return c.pendingUnknown(unknown).await(ctx)
}

func (c *Client) pendingUnknown(unknown *transaction.UnknownOutcomeError) *pendingTransaction {
	return &pendingTransaction{
		client: c, signature: unknown.Signature, sentAt: unknown.SentAt, commitment: c.commitment,
		valid: validity{
			lastHeight: unknown.LastValidBlockHeight, blockhash: unknown.Blockhash, nonce: unknown.Nonce,
			since: unknown.Slot,
		},
	}
}
