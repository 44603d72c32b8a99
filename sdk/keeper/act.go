package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// farewell is how long an action that is under way may take once Run is to end.
	farewell = 20 * time.Second
	// actionLimit is longer than a transaction takes to land or to expire.
	actionLimit = 3 * time.Minute
)

// do does what a negotiation needs, if it still does.
func (k *Keeper) do(ended context.Context, r *record) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), actionLimit)
	defer cancel()
	hurry := context.AfterFunc(ended, func() { time.AfterFunc(farewell, cancel) })
	defer hurry()
	acted := k.attempt(ctx, r)
	acted.Kind, acted.Negotiation = r.task.kind, r.address
	k.finish(r, acted)
	if acted.Outcome == Done || acted.Outcome == lost {
		// What it needs next may have been heard of while it was busy.
		if err := k.read(ctx, r.address); err != nil {
			k.askForList()
		}
	}
}

// attempt reads the negotiation again, finds out what it would cost to act, and acts.
func (k *Keeper) attempt(ctx context.Context, r *record) Action {
	n, err := k.client.GetNegotiation(ctx, r.address)
	if errors.Is(err, haggle.ErrAccountNotFound) || err == nil && (n.CreatedAt != r.created || taskFor(&n.Negotiation) != r.task) {
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
	cost := costOf(simulated)
	if cost > k.config.MaxFee {
		return Action{Outcome: TooExpensive, Cost: cost, Err: fmt.Errorf("keeper: it costs %d lamports, at most %d", cost, k.config.MaxFee)}
	}
	if k.config.DryRun {
		return Action{Outcome: WouldDo, Cost: cost}
	}
	free, again, err := k.budget.reserve(cost, time.Now())
	switch {
	case err != nil:
		return Action{Outcome: Failed, Cost: cost, Err: err}
	case !free:
		return Action{Outcome: OverBudget, Cost: cost, Again: again, Err: fmt.Errorf("keeper: the day's budget of %d lamports is used up", k.config.DailyBudget)}
	}
	receipt, err := action.Do(ctx, k.signer)
	done := k.done(cost, simulated.Fee, receipt, err)
	if err := k.budget.settle(cost, done.Cost, time.Now()); err != nil {
		k.config.Logger.Error("the budget file says that more has been spent than has been", "error", err)
	}
	return done
}

// done says what has come of an action, and what it has cost: a transaction that fails on chain pays its fee, and creates nothing.
func (k *Keeper) done(cost, fee uint64, receipt *haggle.Receipt, err error) Action {
	if err == nil || errors.Is(err, haggle.ErrDetailsUnavailable) {
		return Action{Outcome: Done, Cost: cost, Receipt: receipt}
	}
	failed := Action{Outcome: outcomeOf(err), Err: err}
	switch haggle.OutcomeOf(err) {
	case haggle.OutcomeFailed:
		failed.Cost = fee
	case haggle.OutcomeUnknown:
		// It may still be executed.
		failed.Cost = cost
	case haggle.OutcomeConfirmed:
		// Something is wrong beside that, such as with the journal; if it was done before, that has been paid for.
		if !errors.Is(err, haggle.ErrAlreadyDone) {
			failed.Cost = cost
		}
	}
	return failed
}

// costOf is what the payer would lose: the fee, and the rent of accounts that are created.
func costOf(run *haggle.DryRun) uint64 {
	cost := run.Fee
	for _, change := range run.Changes {
		if change.LamportsBefore == 0 {
			cost += rentOf(change)
		}
	}
	return cost
}

// rentOf is what whoever creates an account puts into it. Wrapped SOL that it holds besides, which are lamports too, comes from elsewhere.
func rentOf(created haggle.BalanceChange) uint64 {
	if created.Tokens == nil {
		return created.LamportsAfter
	}
	if _, wraps := haggle.WrappedSOLProgram(created.Tokens.Mint); !wraps {
		return created.LamportsAfter
	}
	return created.LamportsAfter - min(created.LamportsAfter, created.Tokens.After)
}

func (k *Keeper) action(ctx context.Context, what task, n *haggle.NegotiationAccount) (*haggle.Action, error) {
	switch what.kind {
	case Expire:
		return k.client.Expire(ctx, haggle.ExpireRequest{Payer: k.self, Seen: n})
	case Release:
		return k.client.ReleaseMilestone(ctx, haggle.ReleaseMilestoneRequest{Releaser: k.self, Seen: n, Index: what.index})
	case Settle:
		return k.client.SettleDeadline(ctx, haggle.SettleDeadlineRequest{Payer: k.self, Seen: n})
	}
	return k.client.CloseNegotiation(ctx, haggle.CloseRequest{Closer: k.self, Seen: n})
}

// outcomeOf says what an error means. Somebody else being faster shows in many ways: the state is another one, or there is no account
// any more, neither the negotiation's nor its vault's.
func outcomeOf(err error) Outcome {
	if errors.Is(err, protocol.ErrPayoutPending) {
		return Pending
	}
	for _, sooner := range []error{
		protocol.ErrInvalidState, protocol.ErrStaleState, haggle.ErrAlreadyDone, haggle.ErrAccountNotFound, protocol.ErrAccountOwnedByWrongProgram,
	} {
		if errors.Is(err, sooner) {
			return lost
		}
	}
	return Failed
}

// finish tells what has come of it, and says when to try again.
func (k *Keeper) finish(r *record, acted Action) {
	k.telling.Lock()
	defer k.telling.Unlock()
	now := time.Now()
	r.busy = false
	log := k.config.Logger.With("action", acted.Kind, "negotiation", acted.Negotiation, "outcome", acted.Outcome, "lamports", acted.Cost)
	switch acted.Outcome {
	case lost:
		// Unless it needs something else by now.
		r.notBefore = now.Add(min(k.config.ScanEvery, deafEvery))
		log.Debug("somebody else was faster", "error", acted.Err)
		return
	case Done:
		r.task = task{}
		log.Info("done", "signature", acted.Receipt.Signature, "slot", acted.Receipt.Slot)
	case WouldDo:
		r.told = true
		log.Info("would do")
	default:
		first, last := firstPause, lastPause
		if acted.Outcome == Pending || acted.Outcome == TooExpensive {
			first, last = firstPendingPause, lastPendingPause
		}
		if acted.Again.IsZero() {
			acted.Again = now.Add(min(first<<min(r.failures, 20), last))
		}
		r.failures++
		r.notBefore = acted.Again
		log.Warn("put off", "error", acted.Err, "again", acted.Again)
	}
	if k.config.Acted != nil {
		k.config.Acted(acted)
	}
}
