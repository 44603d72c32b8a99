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
// simulate it. Its errors are [Action.Do]'s; a transaction that has been executed and has failed has paid its fee.
//
// Since it cannot be told how old the transaction's blockhash is, it waits for up to the whole life of a blockhash, and until the
// node says that this one is no longer valid. A transaction with a durable nonce, which has no such end, is refused.
func (c *Client) Submit(ctx context.Context, transaction *solana.Transaction) (*Receipt, error) {
	if transaction.UsesDurableNonce() {
		return nil, errDurableNonce
	}
	height, err := c.highestBlock(ctx)
	if err != nil {
		return nil, err
	}
	return c.submitWithin(ctx, transaction, validity{lastHeight: height + blockhashLife, blockhash: transaction.Message.RecentBlockhash})
}

// validity says until when a transaction can be executed.
type validity struct {
	// lastHeight is the last height of a block that it can be in.
	lastHeight uint64
	// blockhash is the transaction's if lastHeight is an estimate, which may be too low should the node be behind; otherwise zero.
	blockhash solana.Hash
}

// blockhashLife is how many blocks after its own a blockhash can be used in.
const blockhashLife = 150

var errDurableNonce = errors.New("haggle: a transaction with a durable nonce does not expire, so its outcome cannot be waited for")

// highestBlock is the height of the newest block that the node knows of.
func (c *Client) highestBlock(ctx context.Context) (uint64, error) {
	var height uint64
	for _, commitment := range []rpc.CommitmentType{rpc.CommitmentProcessed, rpc.CommitmentConfirmed} {
		epoch, err := c.rpc.GetEpochInfo(ctx, commitment)
		if err != nil {
			return 0, err
		}
		if epoch == nil {
			return 0, errors.New("haggle: the node does not say how high its newest block is")
		}
		height = max(height, epoch.BlockHeight)
	}
	return height, nil
}

// Outcome looks again what has become of a transaction, and waits until that is certain. It sends nothing.
func (c *Client) Outcome(ctx context.Context, unknown *UnknownOutcome) (*Receipt, error) {
	pending := &pendingTransaction{
		client: c, signature: unknown.Signature, sentAt: unknown.SentAt,
		valid: validity{lastHeight: unknown.LastValidBlockHeight, blockhash: unknown.blockhash},
	}
	return pending.await(ctx)
}

// submit sends a transaction of which it is known until which block height it is valid.
func (c *Client) submit(ctx context.Context, transaction *solana.Transaction, lastValid uint64) (*Receipt, error) {
	return c.submitWithin(ctx, transaction, validity{lastHeight: lastValid})
}

func (c *Client) submitWithin(ctx context.Context, transaction *solana.Transaction, valid validity) (*Receipt, error) {
	if err := transaction.VerifySignatures(); err != nil {
		return nil, fmt.Errorf("haggle: the transaction is not completely signed: %w", err)
	}
	encoded, err := transaction.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("haggle: encode the transaction: %w", err)
	}
	pending := &pendingTransaction{
		client:    c,
		signature: transaction.Signatures[0],
		encoded:   base64.StdEncoding.EncodeToString(encoded),
		invoked:   invokedPrograms(transaction),
		valid:     valid,
		sentAt:    time.Now(),
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err // nothing has been sent
	}
	if err := pending.broadcast(ctx); err != nil {
		if refusal := pending.refusal(err); refusal != nil {
			return nil, refusal
		}
	}
	return pending.await(ctx)
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
	sentAt  time.Time
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
		status, _, err := p.status(ctx)
		if err == nil {
			lastAnswer = time.Now()
			if status != nil && p.reached(status) {
				return p.settle(ctx, status)
			}
		}
		if err == nil && status == nil && time.Since(lastExpiry) >= expiryEvery {
			lastExpiry = time.Now()
			if p.hasExpired(ctx) {
				return nil, fmt.Errorf("%w: %s", ErrTransactionExpired, p.signature)
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
		if err := sleep(ctx, poll); err != nil {
			return nil, p.unknown(err)
		}
		poll = min(poll*2, lastPoll)
	}
}

func (p *pendingTransaction) unknown(cause error) error {
	return &UnknownOutcome{Signature: p.signature, LastValidBlockHeight: p.valid.lastHeight, SentAt: p.sentAt, Cause: cause, blockhash: p.valid.blockhash}
}

// status is nil for a transaction that the node does not know. The slot is how far the node had come.
func (p *pendingTransaction) status(ctx context.Context) (*rpc.SignatureStatusesResult, uint64, error) {
	statuses, err := p.client.rpc.GetSignatureStatuses(ctx, true, p.signature)
	if err != nil {
		return nil, 0, err
	}
	if len(statuses.Value) != 1 {
		return nil, 0, fmt.Errorf("haggle: the node answers with %d statuses instead of 1", len(statuses.Value))
	}
	return statuses.Value[0], statuses.Context.Slot, nil
}

func (p *pendingTransaction) reached(status *rpc.SignatureStatusesResult) bool {
	if p.client.commitment == rpc.CommitmentFinalized {
		return status.ConfirmationStatus == rpc.ConfirmationStatusFinalized
	}
	return status.ConfirmationStatus == rpc.ConfirmationStatusConfirmed || status.ConfirmationStatus == rpc.ConfirmationStatusFinalized
}

// hasExpired says whether the transaction can no longer be executed, and has not been. The order matters: only a node that has
// come at least as far as the one that said that the blockhash is too old can say that the transaction is not in a block.
func (p *pendingTransaction) hasExpired(ctx context.Context) bool {
	epoch, err := p.client.rpc.GetEpochInfo(ctx, p.client.commitment)
	if err != nil || epoch == nil || epoch.BlockHeight <= p.valid.lastHeight {
		return false
	}
	reached := epoch.AbsoluteSlot
	if !p.valid.blockhash.IsZero() {
		answer, err := p.client.rpc.IsBlockhashValid(ctx, p.valid.blockhash, rpc.CommitmentProcessed)
		if err != nil || answer == nil || answer.Value || answer.Context.Slot < reached {
			return false
		}
		reached = answer.Context.Slot
	}
	status, slot, err := p.status(ctx)
	return err == nil && status == nil && slot >= reached
}

// settle fetches what a transaction has done that has been executed for good.
func (p *pendingTransaction) settle(ctx context.Context, status *rpc.SignatureStatusesResult) (*Receipt, error) {
	receipt := &Receipt{Signature: p.signature, Slot: status.Slot, Elapsed: time.Since(p.sentAt)}
	details, err := p.client.executed(ctx, p.signature, detailsLimit)
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
		return nil, failureError(failed, logs, invoked, p.signature)
	}
	if err != nil {
		return receipt, fmt.Errorf("%w: %s: %w", ErrDetailsUnavailable, p.signature, err)
	}
	receipt.Logs = details.Meta.LogMessages
	receipt.Fee = details.Meta.Fee
	if details.Meta.ComputeUnitsConsumed != nil {
		receipt.ComputeUnits = *details.Meta.ComputeUnitsConsumed
	}
	if details.BlockTime != nil {
		receipt.BlockTime = int64(*details.BlockTime)
	}
	if receipt.Events, err = ParseLogs(receipt.Logs); err != nil {
		return receipt, fmt.Errorf("%w: %s: %w", ErrDetailsUnavailable, p.signature, err)
	}
	return receipt, nil
}

// errNoDetails: the node knows that a transaction has been executed, and nothing else about it.
var errNoDetails = errors.New("the node does not have the transaction")

// executed fetches a transaction that has been executed, which a node may have a little later than its status. A node that has
// nothing but that within the limit is errNoDetails.
func (c *Client) executed(ctx context.Context, signature solana.Signature, limit time.Duration) (*rpc.GetTransactionResult, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	absent := false
	for poll := firstPoll; ; poll = min(poll*2, lastPoll) {
		details, err := c.lookUp(limited, signature)
		var refused *NodeError
		if details != nil || errors.As(err, &refused) && !refused.busy() {
			return details, err
		}
		absent = absent || err == nil
		if sleep(limited, poll) == nil {
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
	// Of a version that is not known yet the logs can be read all the same.
	newest := uint64(math.MaxUint8)
	details, err := c.rpc.GetTransaction(ctx, signature, &rpc.GetTransactionOpts{
		Encoding:                       solana.EncodingBase64,
		Commitment:                     c.commitment,
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
	return slices.Contains(transaction.Message.AccountKeys, ProgramID) ||
		slices.Contains(loaded.ReadOnly, ProgramID) || slices.Contains(loaded.Writable, ProgramID)
}
