package haggle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/node"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// detailsLimit is how long a node may take to have the details of a transaction that it has confirmed.
const detailsLimit = 15 * time.Second

// settle returns the receipt or the failure of an executed transaction.
func (p *pendingTransaction) settle(
	ctx context.Context, status *rpc.SignatureStatusesResult,
) (*Receipt, error) {
	receipt := &Receipt{Receipt: transaction.Receipt{
		Signature: p.signature, Slot: status.Slot, Elapsed: time.Since(p.sentAt),
	}}
	details, err := p.client.executedAt(ctx, p.signature, p.commitment, detailsLimit)
	if errors.Is(err, errNoDetails) {
		if found := p.detailsAnywhere(ctx); found != nil {
			details, err = found, nil
		}
	}
	if err == nil && details.Slot != status.Slot {
		return nil, p.unknown(fmt.Errorf("node returned the transaction in slot %d and in slot %d",
			status.Slot, details.Slot))
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
			if tx, decodeErr := details.Transaction.GetTransaction(); decodeErr == nil &&
				invoked == nil {
				invoked = invokedPrograms(tx)
			}
		}
		return nil, p.failure(failed, logs, invoked)
	}
	if err != nil {
		return receipt, fmt.Errorf("%w: %s: %w", transaction.ErrDetailsUnavailable, p.signature, err)
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
		return receipt, fmt.Errorf("%w: %s: %w", transaction.ErrDetailsUnavailable, p.signature, err)
	}
	return receipt, nil
}

// detailsAnywhere returns the transaction from any node that has it, even one that is behind; nil if none has
// it.
func (p *pendingTransaction) detailsAnywhere(ctx context.Context) (details *rpc.GetTransactionResult) {
	ctx, cancel := context.WithTimeout(ctx, contradictionTimeout)
	defer cancel()
	p.client.eachNodeIncludingStale(func(node *rpc.Client) (next bool) {
		details, _ = lookUpFrom(ctx, node, p.signature, p.commitment)
		return details == nil && ctx.Err() == nil
	})
	return details
}

// failure returns the error of a transaction that was executed and failed.
func (p *pendingTransaction) failure(raw any, logs []string, invoked []solana.PublicKey) error {
	err := failureError(raw, logs, invoked, p.signature)
	if transaction.OutcomeOf(err) == transaction.Failed {
		return err
	}
	unread := &transaction.Error{Reason: "for a reason that cannot be read", Instruction: -1, Logs: logs,
		Signature: p.signature}
	return fmt.Errorf("%w: %v", unread, err)
}

// errNoDetails: the node knows that a transaction has been executed, and nothing else about it.
var errNoDetails = errors.New("node does not have the transaction")

// executed returns an executed transaction, which a node may have a little later than its status. It returns
// errNoDetails if no node has it within the limit.
func (c *Client) executed(
	ctx context.Context, signature solana.Signature, limit time.Duration,
) (*rpc.GetTransactionResult, error) {
	return c.executedAt(ctx, signature, c.commitment, limit)
}

func (c *Client) executedAt(
	ctx context.Context, signature solana.Signature, commitment rpc.CommitmentType, limit time.Duration,
) (*rpc.GetTransactionResult, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	absent := false
	pause := newPolling()
	for {
		details, err := c.lookUpAt(limited, signature, commitment)
		var refused *node.Error
		if details != nil || errors.As(err, &refused) && !refused.IsBusy() {
			return details, err
		}
		absent = absent || err == nil
		if wait.For(limited, pause.NextBackOff()) == nil {
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

// lookUp requests a transaction once. It returns nil if the node does not have it in a block of the client's
// commitment.
func (c *Client) lookUp(ctx context.Context, signature solana.Signature) (*rpc.GetTransactionResult, error) {
	return c.lookUpAt(ctx, signature, c.commitment)
}

func (c *Client) lookUpAt(
	ctx context.Context, signature solana.Signature, commitment rpc.CommitmentType,
) (*rpc.GetTransactionResult, error) {
	return lookUpFrom(ctx, c.rpc, signature, commitment)
}

func lookUpFrom(
	ctx context.Context, node *rpc.Client, signature solana.Signature, commitment rpc.CommitmentType,
) (*rpc.GetTransactionResult, error) {
	// The logs of a later version of transactions can be read as well.
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

// mentionsProgram reports whether a transaction may have called this program.
func mentionsProgram(details *rpc.GetTransactionResult) bool {
	tx, err := details.Transaction.GetTransaction()
	if err != nil {
		return true
	}
	loaded := details.Meta.LoadedAddresses
	return slices.Contains(tx.Message.AccountKeys, protocol.ProgramID) ||
		slices.Contains(loaded.ReadOnly, protocol.ProgramID) ||
		slices.Contains(loaded.Writable, protocol.ProgramID)
}
