package haggle

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// rebroadcastEvery is how often a transaction is sent again that has not been executed: leaders drop what they cannot take.
	rebroadcastEvery = 2 * time.Second
	// The node is asked often at first, because a local chain confirms in milliseconds, and then less and less.
	firstPoll = 10 * time.Millisecond
	lastPoll  = 500 * time.Millisecond
	// expiryEvery is how often the node is asked whether the transaction can still be executed.
	expiryEvery = 2 * time.Second
	// silenceLimit is how long a node may fail to answer at all before the outcome is called unknown. A blockhash lives for about
	// a minute.
	silenceLimit = 2 * time.Minute
	// outcomeLimit is how long the outcome is waited for at all: much longer than a blockhash lives, and than a block takes to be
	// finalized.
	outcomeLimit = 10 * time.Minute
	// detailsLimit is how long a node may take to have the details of a transaction that it has confirmed.
	detailsLimit = 15 * time.Second
)

// Submit sends a signed transaction, and sends it again until it is confirmed or cannot be executed any more. It does not
// simulate it. Its errors are [Action.Do]'s; a transaction that has been executed and has failed has paid its fee. With a journal
// it is written there, and what its payer has left unfinished is resolved first; if the transaction itself is among that, the
// answer is what has become of it.
//
// Since it cannot be told how old the transaction's blockhash is, it waits for up to the whole life of a blockhash, and until the
// node says that this one is no longer valid. A transaction with a durable nonce is waited for until the nonce account has another
// value; if that has one already, the transaction is not sent, and the answer is what has become of it.
//
// A transaction that may be older than the blocks that the nodes keep can have been executed long ago without their knowing: that is
// an [*UnknownOutcome] then, which a node that keeps all blocks can resolve. So it is if no node knows the blockhash.
func (c *Client) Submit(ctx context.Context, transaction *solana.Transaction) (receipt *Receipt, err error) {
	ctx, end := c.beginAction(ctx, "submit", solana.PublicKey{})
	defer func() { end(err) }()
	if len(transaction.Signatures) == 0 || len(transaction.Message.AccountKeys) == 0 {
		return nil, fmt.Errorf("%w: nobody has signed the transaction", ErrMissingSigner)
	}
	c.orient(ctx)
	recovered, err := c.clear(ctx, transaction.Message.AccountKeys[0])
	if err != nil {
		return nil, err
	}
	for _, one := range recovered {
		if one.Entry.Signature == transaction.Signatures[0] {
			return one.Receipt, one.Err
		}
	}
	valid, err := c.validityOf(ctx, transaction)
	if err != nil {
		return nil, err
	}
	if valid.since == 0 && !valid.nonce.IsZero() {
		// Nothing can come of it any more. In the journal it would keep the wallet waiting for a node that remembers.
		used := &pendingTransaction{
			client: c, signature: transaction.Signatures[0], invoked: invokedPrograms(transaction), valid: valid,
			commitment: c.commitment, sentAt: time.Now(),
		}
		return used.await(ctx)
	}
	return c.send(ctx, &outgoing{transaction: transaction, valid: valid, commitment: c.commitment})
}

// outgoing is a signed transaction, and what there is to say about it.
type outgoing struct {
	transaction *solana.Transaction
	valid       validity
	commitment  rpc.CommitmentType

	// The following is empty for a transaction that is no action's.
	action      string
	negotiation solana.PublicKey
	expects     Precondition
	intent      solana.Hash
}

// entry is what the journal is to remember.
func (o *outgoing) entry(encoded []byte) JournalEntry {
	return JournalEntry{
		Wallet:               o.transaction.Message.AccountKeys[0],
		Action:               o.action,
		Negotiation:          o.negotiation,
		Expects:              o.expects,
		Intent:               o.intent,
		Signature:            o.transaction.Signatures[0],
		Blockhash:            o.transaction.Message.RecentBlockhash,
		LastValidBlockHeight: o.valid.lastHeight,
		Estimated:            o.valid.nonce.IsZero() && !o.valid.blockhash.IsZero(),
		Nonce:                o.valid.nonce,
		Slot:                 o.valid.since,
		Commitment:           o.commitment,
		Transaction:          encoded,
		Begun:                time.Now().Round(0).UTC(),
	}
}

// send sends a signed transaction, after it is in the journal if there is one.
func (c *Client) send(ctx context.Context, draft *outgoing) (*Receipt, error) {
	transaction := draft.transaction
	if err := transaction.VerifySignatures(); err != nil {
		return nil, unsent{fmt.Errorf("haggle: the transaction is not completely signed: %w", err)}
	}
	encoded, err := transaction.MarshalBinary()
	if err != nil {
		return nil, unsent{fmt.Errorf("haggle: encode the transaction: %w", err)}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, unsent{err}
	}
	pending := &pendingTransaction{
		client:     c,
		signature:  transaction.Signatures[0],
		encoded:    base64.StdEncoding.EncodeToString(encoded),
		invoked:    invokedPrograms(transaction),
		valid:      draft.valid,
		blockhash:  transaction.Message.RecentBlockhash,
		commitment: draft.commitment,
		sentAt:     time.Now(),
	}
	if c.book == nil {
		return pending.send(ctx)
	}
	if err := c.book.begin(ctx, draft.entry(encoded)); err != nil {
		return nil, err
	}
	receipt, err := pending.send(ctx)
	return receipt, c.book.end(ctx, pending.signature, err)
}

// pendingTransaction is a transaction whose outcome is not known yet.
type pendingTransaction struct {
	client    *Client
	signature solana.Signature
	// encoded is the transaction, in base 64; empty if it is only watched.
	encoded string
	// invoked are the programs that its instructions call; nil if they are not known.
	invoked []solana.PublicKey
	valid   validity
	// blockhash is the transaction's; zero if it is not known.
	blockhash solana.Hash
	// commitment is at which it is done.
	commitment rpc.CommitmentType
	sentAt     time.Time
}

// send broadcasts the transaction for the first time and waits for it.
func (p *pendingTransaction) send(ctx context.Context) (*Receipt, error) {
	// What a context has ended with may look like a node's answer, and be that to another request.
	if err := p.broadcast(ctx); err != nil && ctx.Err() == nil {
		if refusal := p.refusal(err); refusal != nil {
			return nil, unsent{refusal}
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

// refusal is the error of a first broadcast after which nothing can come of the transaction: the node has answered that it does
// not forward it. It is nil when the node may have forwarded it all the same, or already knows it; so it is after a repetition,
// because the attempt before may have been forwarded, and for all that a server between here and the node can have answered.
func (p *pendingTransaction) refusal(err error) error {
	var answered *NodeError
	if !errors.As(err, &answered) || answered.repeated || answered.busy() || !answered.meansNotForwarded() {
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

// await polls until the outcome is certain.
func (p *pendingTransaction) await(ctx context.Context) (*Receipt, error) {
	poll := firstPoll
	began := time.Now()
	lastBroadcast, lastExpiry, lastAnswer := began, began, began
	for {
		status, _, err := statusAt(ctx, p.client.rpc, p.signature)
		if err == nil {
			lastAnswer = time.Now()
			if status != nil && p.reached(status) {
				return p.settle(ctx, status)
			}
		}
		if err == nil && status == nil && time.Since(lastExpiry) >= expiryEvery {
			lastExpiry = time.Now()
			expired, status, err := p.hasExpired(ctx)
			switch {
			case err != nil:
				return nil, p.unknown(err)
			case expired:
				return nil, fmt.Errorf("%w: %s", ErrTransactionExpired, p.signature)
			case status != nil && p.reached(status):
				// Another node knows it than the one that is asked first.
				return p.settle(ctx, status)
			}
		}
		if time.Since(lastAnswer) > silenceLimit {
			return nil, p.unknown(err)
		}
		if time.Since(began) > outcomeLimit {
			return nil, p.unknown(errors.New("neither executed nor expired"))
		}
		if p.encoded != "" && time.Since(lastBroadcast) >= rebroadcastEvery {
			lastBroadcast = time.Now()
			// Whatever the node answers now, it may have forwarded the transaction before.
			_ = p.broadcast(ctx)
		}
		if err := wait.For(ctx, poll); err != nil {
			return nil, p.unknown(err)
		}
		poll = min(poll*2, lastPoll)
	}
}

func (p *pendingTransaction) unknown(cause error) error {
	return &UnknownOutcome{
		Signature: p.signature, LastValidBlockHeight: p.valid.lastHeight, Blockhash: p.valid.blockhash, Nonce: p.valid.nonce,
		Slot: p.valid.since, SentAt: p.sentAt, Cause: cause,
	}
}

// statusAt is nil for a transaction that the node does not know. The slot is how far the node had come.
func statusAt(ctx context.Context, node *rpc.Client, signature solana.Signature) (*rpc.SignatureStatusesResult, uint64, error) {
	statuses, err := node.GetSignatureStatuses(ctx, true, signature)
	if err != nil {
		return nil, 0, err
	}
	if len(statuses.Value) != 1 {
		return nil, 0, malformed("the node answers with %d statuses instead of 1", len(statuses.Value))
	}
	return statuses.Value[0], statuses.Context.Slot, nil
}

func (p *pendingTransaction) reached(status *rpc.SignatureStatusesResult) bool {
	if p.commitment == rpc.CommitmentFinalized {
		return status.ConfirmationStatus == rpc.ConfirmationStatusFinalized
	}
	return status.ConfirmationStatus == rpc.ConfirmationStatusConfirmed || status.ConfirmationStatus == rpc.ConfirmationStatusFinalized
}

// settle fetches what a transaction has done that has been executed for good.
func (p *pendingTransaction) settle(ctx context.Context, status *rpc.SignatureStatusesResult) (*Receipt, error) {
	receipt := &Receipt{Signature: p.signature, Slot: status.Slot, Elapsed: time.Since(p.sentAt)}
	details, err := p.client.executedAt(ctx, p.signature, p.commitment, detailsLimit)
	if errors.Is(err, errNoDetails) {
		if found := p.detailsAnywhere(ctx); found != nil {
			details, err = found, nil
		}
	}
	if err == nil && details.Slot != status.Slot {
		return nil, p.unknown(fmt.Errorf("the node has the transaction in slot %d and in slot %d", status.Slot, details.Slot))
	}
	failed := status.Err
	if failed == nil && err == nil {
		failed = details.Meta.Err
	}
	if failed != nil {
		var logs []string
		invoked := p.invoked
		if err == nil {
			logs = details.Meta.LogMessages
			if transaction, decodeErr := details.Transaction.GetTransaction(); decodeErr == nil && invoked == nil {
				invoked = invokedPrograms(transaction)
			}
		}
		return nil, p.failure(failed, logs, invoked)
	}
	if errors.Is(err, errNoDetails) && p.isDenied(ctx) {
		return nil, p.unknown(errDenied)
	}
	if err != nil {
		return receipt, fmt.Errorf("%w: %s: %w", ErrDetailsUnavailable, p.signature, err)
	}
	receipt.Logs = details.Meta.LogMessages
	receipt.Fee = details.Meta.Fee
	receipt.Payments = paymentsOf(details)
	if details.Meta.ComputeUnitsConsumed != nil {
		receipt.ComputeUnits = *details.Meta.ComputeUnitsConsumed
	}
	if details.BlockTime != nil {
		receipt.BlockTime = int64(*details.BlockTime)
	}
	if receipt.Events, err = protocol.ParseLogs(receipt.Logs); err != nil {
		return receipt, fmt.Errorf("%w: %s: %w", ErrDetailsUnavailable, p.signature, err)
	}
	return receipt, nil
}

// detailsAnywhere is the transaction at a node that has it, however far behind that seems to be; nil if none does.
func (p *pendingTransaction) detailsAnywhere(ctx context.Context) (details *rpc.GetTransactionResult) {
	limited, cancel := context.WithTimeout(ctx, secondOpinionLimit)
	defer cancel()
	p.client.eachNodeHoweverOld(func(node *rpc.Client) (goOn bool) {
		details, _ = lookUpFrom(limited, node, p.signature, p.commitment)
		return details == nil && limited.Err() == nil
	})
	return details
}

// errDenied: a node says that a transaction has been executed, which none has, and another one says that it does not know it.
var errDenied = errors.New("one node says that it has been executed, and another one does not know it; none has it")

// isDenied says whether a node does not know a transaction. One that only needs time has had that.
func (p *pendingTransaction) isDenied(ctx context.Context) (denied bool) {
	limited, cancel := context.WithTimeout(ctx, secondOpinionLimit)
	defer cancel()
	p.client.eachNodeHoweverOld(func(node *rpc.Client) (goOn bool) {
		status, _, err := statusAt(limited, node, p.signature)
		denied = denied || err == nil && status == nil
		return !denied && limited.Err() == nil
	})
	return denied
}

// failure is the error of a transaction that has been executed and has failed.
func (p *pendingTransaction) failure(raw any, logs []string, invoked []solana.PublicKey) error {
	err := failureError(raw, logs, invoked, p.signature)
	if OutcomeOf(err) == OutcomeFailed {
		return err
	}
	unread := &TransactionError{Reason: "for a reason that cannot be read", Instruction: -1, Logs: logs, Signature: p.signature}
	return fmt.Errorf("%w: %v", unread, err)
}

// errNoDetails: the node knows that a transaction has been executed, and nothing else about it.
var errNoDetails = errors.New("the node does not have the transaction")

// executed fetches a transaction that has been executed, which a node may have a little later than its status. A node that has
// nothing but that within the limit is errNoDetails.
func (c *Client) executed(ctx context.Context, signature solana.Signature, limit time.Duration) (*rpc.GetTransactionResult, error) {
	return c.executedAt(ctx, signature, c.commitment, limit)
}

func (c *Client) executedAt(ctx context.Context, signature solana.Signature, commitment rpc.CommitmentType, limit time.Duration) (*rpc.GetTransactionResult, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	absent := false
	for poll := firstPoll; ; poll = min(poll*2, lastPoll) {
		details, err := c.lookUpAt(limited, signature, commitment)
		var refused *NodeError
		if details != nil || errors.As(err, &refused) && !refused.busy() {
			return details, err
		}
		absent = absent || err == nil
		if wait.For(limited, poll) == nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if absent {
			err = errNoDetails
		}
		return nil, err
	}
}

// lookUp asks for a transaction once. It is nil if the node does not have it in a block of the client's commitment.
func (c *Client) lookUp(ctx context.Context, signature solana.Signature) (*rpc.GetTransactionResult, error) {
	return c.lookUpAt(ctx, signature, c.commitment)
}

func (c *Client) lookUpAt(ctx context.Context, signature solana.Signature, commitment rpc.CommitmentType) (*rpc.GetTransactionResult, error) {
	return lookUpFrom(ctx, c.rpc, signature, commitment)
}

func lookUpFrom(ctx context.Context, node *rpc.Client, signature solana.Signature, commitment rpc.CommitmentType) (*rpc.GetTransactionResult, error) {
	// Of a version that is not known yet the logs can be read all the same.
	newest := uint64(math.MaxUint8)
	details, err := node.GetTransaction(ctx, signature, &rpc.GetTransactionOpts{
		Encoding:                       solana.EncodingBase64,
		Commitment:                     commitment,
		MaxSupportedTransactionVersion: &newest,
	})
	if errors.Is(err, rpc.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if details.Meta == nil || details.Transaction == nil {
		return nil, nil
	}
	return details, nil
}

// mentionsProgram says whether this program may have had a part in a transaction.
func mentionsProgram(details *rpc.GetTransactionResult) bool {
	transaction, err := details.Transaction.GetTransaction()
	if err != nil {
		return true
	}
	loaded := details.Meta.LoadedAddresses
	return slices.Contains(transaction.Message.AccountKeys, protocol.ProgramID) ||
		slices.Contains(loaded.ReadOnly, protocol.ProgramID) || slices.Contains(loaded.Writable, protocol.ProgramID)
}
