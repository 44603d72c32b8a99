package agent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

const (
	// actionTimeout is longer than a transaction takes to land or to expire.
	actionTimeout = 3 * time.Minute
	// actionHold is how long an action holds a worker. Longer actions wait for an outcome: of the action, or
	// of an earlier transaction that blocks it.
	actionHold = 2 * time.Second
	// pendingPause is the pause between attempts to close a negotiation that keeps a payout of the
	// counterparty.
	pendingPause = 10 * time.Minute
)

// sendBuilt starts the action on chain that build returns. When Run ends, an action in progress may take another
// shutdownTimeout.
func (l *loop) sendBuilt(
	f *tracked, v *view, name string, build func(ctx context.Context) (*haggle.Action, error),
) {
	f.acting = true
	attributes := f.attributes("action", name)
	l.actions.add(true, func() {
		release := sync.OnceFunc(func() { l.actions.running-- })
		held := time.AfterFunc(actionHold, func() { l.post(release) })
		defer held.Stop()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), actionTimeout)
		defer cancel()
		stopping := context.AfterFunc(l.ctx, func() { time.AfterFunc(shutdownTimeout, cancel) })
		defer stopping()
		var receipt *haggle.Receipt
		outcome := transaction.NotSent
		action, err := build(ctx)
		if err == nil {
			for _, warning := range action.Warnings {
				l.config.Logger.Warn("the action has a warning", append(attributes, "warning", warning)...)
			}
			receipt, err = action.Do(ctx, l.signer)
			outcome = transaction.OutcomeOf(err)
		}
		l.post(func() {
			release()
			l.onSent(f, v, name, outcome, receipt, err)
		})
	})
}

// send starts an action.
func (l *loop) send(f *tracked, v *view, action *haggle.Action) {
	l.sendBuilt(f, v, action.Name, action.Build)
}

// onSent processes an action's outcome. An unknown outcome, which is the default, leads to no other action: a
// refresh shows whether the action took effect, and otherwise the same action is repeated. It is safe to
// repeat, because it names the state that it is about.
func (l *loop) onSent(
	f *tracked, v *view, name string, outcome transaction.Outcome, receipt *haggle.Receipt, err error,
) {
	f.acting = false
	if outcome == transaction.Confirmed {
		l.done(f, v, name, receipt, err)
		return
	}
	if l.stopping {
		return
	}
	level, unknown := levelOf(err), outcome == transaction.Unknown
	if unknown {
		level = slog.LevelWarn
	}
	l.config.Logger.Log(l.ctx, level, "action failed",
		f.attributes("action", name, "round", v.CurrentRound, "outcome", outcome, "error", err)...)
	if !unknown {
		l.revealFailed(f, name, err)
	}
	switch {
	case f.changed:
		f.failures++
		l.refresh(f)
		return
	case !unknown && isStateChange(err):
		l.retryLater(f)
		// The pause is for an unchanged negotiation only.
		f.retryAt = time.Time{}
		return
	case unknown || isTransient(err):
		l.retryLater(f)
		l.endAfterGracePeriod(f, err)
		return
	}
	if l.isRefused(f, v, err) {
		return
	}
	l.report(f.address, err)
	if v.IsOver() {
		l.finishSingle(f, err)
	}
	switch {
	case errors.Is(err, protocol.ErrPayoutPending) && (!v.isBuyer() || v.ClaimableBuyer == 0):
		// Only the counterparty can fetch the payout, perhaps never.
		f.failures++
		l.refreshAfter(f, jitter(pendingPause))
	case f.decided == nil:
		f.unpayable = true
		l.retryLater(f)
	case v.IsBargaining() && v.isLast():
		l.fallBack(f, v, f.decided.turn)
	default:
		// The decision is kept: it did not cause the failure.
		l.retryLater(f)
	}
}

// isRefused reports whether the program refuses a decision on the state used to make it. It is invalid then.
func (l *loop) isRefused(f *tracked, v *view, err error) bool {
	var refusal *protocol.ProgramError
	if f.decided == nil || !errors.As(err, &refusal) {
		return false
	}
	turn := f.decided.turn
	invalid := &InvalidDecision{Negotiation: f.address, Decision: f.decided.decision, Reason: err}
	if f.fallbacks > 0 {
		l.report(f.address, invalid)
		l.fallBack(f, v, turn)
	} else {
		l.invalid(f, v, turn, invalid)
	}
	return true
}

// done handles an action that is confirmed, now or before. If before, there is a receipt only if it is in the
// journal. The error is about something else than the action.
func (l *loop) done(f *tracked, v *view, name string, receipt *haggle.Receipt, err error) {
	f.failures, f.decided, f.live = 0, nil, true
	var (
		journal *haggle.JournalError
		already *haggle.AlreadyDone
	)
	if errors.As(err, &journal) {
		l.config.Logger.Error("journal write failed", f.attributes("action", name, "error", err)...)
		l.report(f.address, err)
	}
	if errors.As(err, &already) && receipt == nil {
		l.config.Logger.Info("action done before", f.attributes("action", name, "round", v.CurrentRound)...)
		if already.Now == nil {
			// A node that lags would have the action repeated at once.
			l.refreshAfter(f, jitter(firstPause))
			return
		}
		f.notBefore = max(f.notBefore, already.Now.Slot)
		l.refresh(f)
		return
	}
	f.notBefore = max(f.notBefore, receipt.Slot)
	for _, event := range receipt.Events {
		f.note(haggle.EventEnvelope{Slot: receipt.Slot, Negotiation: f.address, Event: event})
	}
	l.config.Logger.Info("action done", f.attributes(
		"action", name, "round", v.CurrentRound, "slot", receipt.Slot, "signature", receipt.Signature)...)
	if l.config.Acted != nil {
		l.notify(func() {
			l.config.Acted(Act{Name: name, Before: v.Snapshot, Side: f.side, Receipt: receipt})
		})
	}
	l.refresh(f)
}

// isStateChange reports whether an action failed because the negotiation or treasury changed, or the time is
// over. A refresh follows.
func isStateChange(err error) bool {
	return isAnyOf(err,
		protocol.ErrStaleState, protocol.ErrInvalidState, protocol.ErrNotYourTurn, protocol.ErrExpired,
		protocol.ErrResponseWindowExpired, protocol.ErrAccountOwnedByWrongProgram, protocol.ErrNoZopa,
		protocol.ErrAccountNotFound, haggle.ErrNotAsExpected, haggle.ErrTreasuryChanged)
}

func isAnyOf(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// isTransient reports whether the same read or action may succeed later: the node did not respond, the
// transaction did not land, or an earlier transaction's outcome is unknown.
func isTransient(err error) bool {
	var (
		unknown *transaction.UnknownOutcomeError
		refused *transaction.NodeError
		network net.Error
		failed  *transaction.Error
	)
	return isAnyOf(err, transaction.ErrExpired, haggle.ErrUnresolved, transaction.ErrBehind, context.DeadlineExceeded,
		context.Canceled, io.EOF, io.ErrUnexpectedEOF) ||
		errors.As(err, &unknown) || errors.As(err, &refused) || errors.As(err, &network) ||
		errors.As(err, &failed) && failed.Reason == "BlockhashNotFound"
}

// levelOf returns the log level of an error.
func levelOf(err error) slog.Level {
	switch {
	case isStateChange(err), errors.Is(err, errNodeBehind):
		return slog.LevelDebug
	case isTransient(err):
		return slog.LevelWarn
	}
	return slog.LevelError
}

func jitter(pause time.Duration) time.Duration { return pause/2 + rand.N(pause) }
