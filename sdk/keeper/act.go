package keeper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

const (
	// shutdownTimeout is the time limit for actions in flight once Run's context has ended.
	shutdownTimeout = 20 * time.Second
	// actionLimit is longer than a transaction takes to land or to expire.
	actionLimit = 3 * time.Minute
	// settleLimit is the time limit for recording the real cost.
	settleLimit = 5 * time.Second
)

// do carries out a negotiation's task.
func (k *Keeper) do(ended context.Context, r *record) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), actionLimit)
	defer cancel()
	stop := context.AfterFunc(ended, func() { time.AfterFunc(shutdownTimeout, cancel) })
	defer stop()
	acted := k.attempt(ctx, r)
	acted.Kind, acted.Negotiation = r.task.kind, r.address
	k.finish(r, acted)
	if acted.Outcome == Done || acted.Outcome == lost {
		// A hint for the next task may have come while the record was busy.
		if err := k.read(ctx, r.address); err != nil {
			k.requestScan()
		}
	}
}

// attempt reads the negotiation again, simulates the action, reserves the highest possible cost and sends the
// action.
func (k *Keeper) attempt(ctx context.Context, r *record) Action {
	n, err := k.client.Negotiation(r.address).Snapshot(ctx)
	if errors.Is(err, protocol.ErrAccountNotFound) || err == nil && (n.CreatedAt != r.created || taskFor(&n.Negotiation) != r.task || n.Time < r.task.due) {
		return Action{Outcome: lost}
	}
	if err != nil {
		return Action{Outcome: Failed, Err: err}
	}
	action, err := k.action(ctx, r.task, n)
	if err != nil {
		return Action{Outcome: outcomeOf(err), Err: err}
	}
	simulated, err := action.Simulate(ctx)
	if err != nil {
		return Action{Outcome: outcomeOf(err), Err: err}
	}
	// The simulated fee limits the transaction's fee.
	most := sum(simulated.Fee, simulated.Rent)
	if most > k.config.MaxFee {
		return Action{Outcome: TooExpensive, Cost: most, Err: fmt.Errorf("keeper: cost limit exceeded: %d lamports, at most %d are allowed", most, k.config.MaxFee)}
	}
	if k.config.DryRun {
		return k.wouldDo(ctx, simulated, most)
	}
	l := k.laneOf(r.task)
	expense, retryIn, err := k.config.Store.ReserveExpense(ctx, l.budget, most)
	switch {
	case err != nil:
		return Action{Outcome: Failed, Cost: most, Err: fmt.Errorf("keeper: %w", err)}
	case expense == "":
		return Action{
			Outcome: OverBudget, Cost: most, Again: time.Now().Add(retryIn),
			Err: fmt.Errorf("keeper: daily budget for %s used up: %d lamports", l.name, l.budget.Limit),
		}
	}
	// Other fees may rise until the transaction is made; this transaction's fee stays within the reserved
	// amount. Do then sends no second transaction, which would need a separate reservation.
	receipt, err := action.With(haggle.WithMaxPriorityFee(simulated.PriorityFee)).Do(ctx, k.signer)
	done := k.done(ctx, most, simulated.Fee, receipt, err)
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	if err := k.config.Store.SettleExpense(settling, expense, done.Cost); err != nil {
		k.config.Logger.Error("returning a reserved amount to the budget failed", "error", err)
	}
	return done
}

func (k *Keeper) wouldDo(ctx context.Context, simulated *haggle.DryRun, most uint64) Action {
	if k.config.Check != nil {
		if err := k.config.Check(ctx, simulated); err != nil {
			return Action{Outcome: Failed, Cost: most, Err: err}
		}
	}
	return Action{Outcome: WouldDo, Cost: most}
}

// done returns a sent action's result and cost. If the cost cannot be read, it is the reserved amount. If the
// action failed on chain, it is the simulated fee.
func (k *Keeper) done(ctx context.Context, reserved, fee uint64, receipt *haggle.Receipt, err error) Action {
	if err == nil || errors.Is(err, transaction.ErrDetailsUnavailable) {
		return Action{Outcome: Done, Cost: k.spent(ctx, receipt.Signature, reserved), Receipt: receipt}
	}
	failed := Action{Outcome: outcomeOf(err), Err: err}
	switch transaction.OutcomeOf(err) {
	case transaction.Failed:
		failed.Cost = fee
	case transaction.Unknown:
		// It may still be executed.
		failed.Cost = reserved
	case transaction.Confirmed:
		// Another error, such as the journal's, can accompany it. An earlier execution was already paid for.
		if !errors.Is(err, haggle.ErrAlreadyDone) {
			failed.Cost = reserved
		}
	}
	return failed
}

// spent returns an executed transaction's cost: the lamports lost by the payer, the transaction's first
// account, but not less than the fee. If the loss is unreadable, it returns the highest possible cost.
func (k *Keeper) spent(ctx context.Context, signature solana.Signature, most uint64) uint64 {
	newest := uint64(math.MaxUint8)
	executed, err := k.client.RPC().GetTransaction(ctx, signature, &rpc.GetTransactionOpts{
		Encoding: solana.EncodingBase64, Commitment: rpc.CommitmentConfirmed, MaxSupportedTransactionVersion: &newest,
	})
	if err != nil || executed == nil || executed.Meta == nil || len(executed.Meta.PreBalances) == 0 ||
		len(executed.Meta.PreBalances) != len(executed.Meta.PostBalances) {
		k.config.Logger.Debug("reading a transaction's cost failed", "signature", signature, "error", err)
		return most
	}
	before, after := executed.Meta.PreBalances[0], executed.Meta.PostBalances[0]
	return max(executed.Meta.Fee, before-min(before, after))
}

func (k *Keeper) action(ctx context.Context, next task, n *haggle.Snapshot) (*haggle.Action, error) {
	switch next.kind {
	case Expire:
		return k.client.At(n).Expire(k.self).Build(ctx)
	case Release:
		return k.client.At(n).ReleaseMilestone(k.self, next.index).Build(ctx)
	case Settle:
		return k.client.At(n).SettleDeadline(k.self).Build(ctx)
	}
	return k.client.At(n).Close(k.self).Build(ctx)
}

// outcomeOf returns an error's outcome. If a faster sender acted, the state differs, or the negotiation or
// the vault is missing.
func outcomeOf(err error) Outcome {
	if errors.Is(err, protocol.ErrPayoutPending) {
		return Pending
	}
	earlier := []error{
		protocol.ErrInvalidState, protocol.ErrStaleState, haggle.ErrAlreadyDone, protocol.ErrAccountNotFound,
		protocol.ErrAccountOwnedByWrongProgram,
	}
	if slices.ContainsFunc(earlier, func(earlier error) bool { return errors.Is(err, earlier) }) {
		return lost
	}
	return Failed
}

// finish reports an action's result, and sets the time of the next attempt.
func (k *Keeper) finish(r *record, acted Action) {
	k.lock.Lock()
	defer k.lock.Unlock()
	now := time.Now()
	r.busy = false
	log := k.config.Logger.With("action", acted.Kind, "negotiation", acted.Negotiation, "outcome", acted.Outcome, "lamports", acted.Cost)
	switch acted.Outcome {
	case lost:
		r.notBefore = now.Add(min(k.config.ScanEvery, scanEveryUnconnected))
		log.Debug("another sender was faster", "error", acted.Err)
		return
	case Done:
		r.task, r.backoff = task{}, nil
		log.Info("action done", "signature", acted.Receipt.Signature, "slot", acted.Receipt.Slot)
	case WouldDo:
		r.reported = true
		log.Info("dry run: action not sent")
	default:
		if r.backoff == nil {
			r.backoff = retryPause(acted.Outcome)
		}
		if acted.Again.IsZero() {
			acted.Again = now.Add(r.backoff.NextBackOff())
		}
		r.notBefore = acted.Again
		log.Warn("action postponed", "error", acted.Err, "again", acted.Again)
	}
	if k.config.Acted != nil {
		k.config.Acted(acted)
	}
}
