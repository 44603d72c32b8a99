package send

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// DetailsLimit is how long a node may take to provide a confirmed transaction's details.
const DetailsLimit = 15 * time.Second

// Settle returns the receipt or the failure of an executed transaction.
func (p *Pending) Settle(
	ctx context.Context, status *rpc.SignatureStatusesResult,
) (*transaction.Receipt, error) {
	receipt := &transaction.Receipt{
		Signature: p.Signature, Slot: status.Slot, Elapsed: time.Since(p.SentAt),
	}
	details, err := Executed(ctx, p.sender.RPC, p.Signature, p.Commitment, DetailsLimit)
	if errors.Is(err, transaction.ErrNotFound) {
		if found := p.detailsAnywhere(ctx); found != nil {
			details, err = found, nil
		}
	}
	if err == nil && details.Slot != status.Slot {
		return nil, p.Unknown(fmt.Errorf("node returned the transaction in slot %d and in slot %d",
			status.Slot, details.Slot))
	}
	failed := status.Err
	if failed == nil && err == nil {
		failed = details.Meta.Err
	}
	if failed != nil {
		var logs []string
		invoked := p.Invoked
		if err == nil {
			logs = details.Meta.LogMessages
			if tx, decodeErr := details.Transaction.GetTransaction(); decodeErr == nil &&
				invoked == nil {
				invoked = InvokedPrograms(tx)
			}
		}
		return nil, p.failure(failed, logs, invoked)
	}
	if err != nil {
		return receipt, fmt.Errorf("%w: %s: %w", transaction.ErrDetailsUnavailable, p.Signature, err)
	}
	receipt.Logs = details.Meta.LogMessages
	receipt.Fee = details.Meta.Fee
	receipt.Payments = PaymentsOf(details)
	if details.Meta.ComputeUnitsConsumed != nil {
		receipt.ComputeUnits = *details.Meta.ComputeUnitsConsumed
	}
	if details.BlockTime != nil {
		receipt.BlockTime = int64(*details.BlockTime)
	}
	return receipt, nil
}

// detailsAnywhere returns the transaction from any node, even if that node is behind; nil if none returns it.
func (p *Pending) detailsAnywhere(ctx context.Context) (details *rpc.GetTransactionResult) {
	ctx, cancel := context.WithTimeout(ctx, contradictionTimeout)
	defer cancel()
	p.sender.eachNodeIncludingStale(func(node *rpc.Client) (next bool) {
		details, _ = LookUp(ctx, node, p.Signature, p.Commitment)
		return details == nil && ctx.Err() == nil
	})
	return details
}

// failure returns the error of a transaction that was executed and failed.
func (p *Pending) failure(raw any, logs []string, invoked []solana.PublicKey) error {
	err := FailureError(raw, logs, invoked, p.Signature, p.sender.Explain)
	if transaction.OutcomeOf(err) == transaction.Failed {
		return err
	}
	unread := &transaction.Error{Reason: "for a reason that cannot be read", Instruction: -1, Logs: logs,
		Signature: p.Signature}
	return fmt.Errorf("%w: %v", unread, err)
}

// Executed returns an executed transaction, which a node may provide a little later than the status. It
// returns [transaction.ErrNotFound] if no node provides it within the limit.
func Executed(
	ctx context.Context, from *rpc.Client, signature solana.Signature, commitment rpc.CommitmentType,
	limit time.Duration,
) (*rpc.GetTransactionResult, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	absent := false
	pause := newPolling()
	for {
		details, err := LookUp(limited, from, signature, commitment)
		var refused *transaction.NodeError
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
			err = transaction.ErrNotFound
		}
		return nil, err
	}
}

// LookUp requests a transaction once. It returns nil if the node does not have it in a block of the
// commitment.
func LookUp(
	ctx context.Context, from *rpc.Client, signature solana.Signature, commitment rpc.CommitmentType,
) (*rpc.GetTransactionResult, error) {
	// Logs of later transaction versions can be read as well.
	newest := uint64(math.MaxUint8)
	details, err := from.GetTransaction(ctx, signature, &rpc.GetTransactionOpts{
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
