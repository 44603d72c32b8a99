package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/gagliardetto/solana-go"
)

var (
	// ErrPanic is reported when an agent function panicked.
	ErrPanic = errors.New("agent: panic")
	// ErrTooLong is reported when an agent function did not return within [Config].DecisionTime, or before
	// the time to answer was over.
	ErrTooLong = errors.New("agent: function takes too long")
	// ErrOffersMissing: [Turn].History lacks offers, because no node returned them in time. A function that
	// needs all offers returns it: the runtime calls the function again, and does not call [Config].Failed.
	ErrOffersMissing = errors.New("agent: not all offers are known")

	errTimeIsUp     = fmt.Errorf("%w: the time to answer is nearly over", ErrTooLong)
	errOverdueCall  = fmt.Errorf("%w: the call before has not returned", ErrTooLong)
	errStateChanged = errors.New("agent: the negotiation has changed")
)

// call is a pending call of an agent function.
type call struct {
	// cancel ends the call's context. The loop then receives the cause as the call's error, unless the call
	// is closed.
	cancel context.CancelCauseFunc
	// closed reports whether the result is no longer used.
	closed bool
}

// start calls an agent function outside the loop's goroutine, and posts the result. until is the latest time
// for the answer by the chain's clock: the loop then receives an error, even if the function ignores the
// context.
func start[T any](
	l *loop, f *tracked, v *view, until int64,
	function func(ctx context.Context) (T, error), then func(T, error),
) {
	limit, cause := l.config.DecisionTime, ErrTooLong
	if left := time.Duration(max(until-v.clock(), 1)) * time.Second; left <= limit {
		limit, cause = left, errTimeIsUp
	}
	inTime, stop := context.WithTimeoutCause(l.ctx, limit, cause)
	ctx, cancel := context.WithCancelCause(inTime)
	c := &call{cancel: cancel}
	f.call = c
	l.config.Logger.Info("waiting", f.attributes(append([]any{"for", "own decision", "round", v.CurrentRound},
		untilAttributes(v.clock()+int64(limit/time.Second), v.clock())...)...)...)
	f.wakeAt = until
	finish := func(value T, err error) {
		f.call, c.closed = nil, true
		if !l.stopping {
			then(value, err)
		}
	}
	timedOut := context.AfterFunc(ctx, func() {
		l.post(func() {
			if !c.closed {
				var none T
				f.overdueCalls++
				finish(none, context.Cause(ctx))
			}
		})
	})
	l.calls.Go(func() {
		defer stop()
		defer cancel(nil)
		value, err := safely(ctx, function)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		timedOut()
		l.post(func() {
			if c.closed {
				l.onResult(f)
			} else {
				finish(value, err)
			}
		})
	})
}

// withdraw ends a negotiation's pending call, whose result is then not used.
func (f *tracked) withdraw() {
	if f.call == nil {
		return
	}
	f.call.closed = true
	f.overdueCalls++
	f.call.cancel(errStateChanged)
	f.call = nil
}

// awaitsCall reports whether an earlier call still runs although the context ended, and logs that. When the
// call returns, the negotiation is refreshed.
func (l *loop) awaitsCall(f *tracked) bool {
	if f.overdueCalls > 0 {
		l.config.Logger.Warn("waiting for an earlier call of the agent's function to return", f.attributes()...)
	}
	return f.overdueCalls > 0
}

// onResult is called when a call returned and the result is not used. Another call may start now.
func (l *loop) onResult(f *tracked) {
	f.overdueCalls--
	if l.tracked[f.address] == f && f.call == nil {
		l.refresh(f)
	}
}

// safely turns a panic into an error.
func safely[T any](ctx context.Context, function func(ctx context.Context) (T, error)) (value T, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, reason, debug.Stack())
		}
	}()
	return function(ctx)
}

// failed reports an error of the agent's functions.
func (l *loop) failed(f *tracked, err error) {
	if errors.Is(err, ErrOffersMissing) {
		l.config.Logger.Warn("the decision is put off", f.attributes("error", err)...)
		return
	}
	l.config.Logger.Error("the agent's function failed", f.attributes("error", err)...)
	l.report(f.address, err)
}

func (l *loop) report(negotiation solana.PublicKey, err error) {
	if l.config.Failed != nil {
		l.notify(func() { l.config.Failed(negotiation, err) })
	}
}

// notify calls agent notification functions sequentially.
func (l *loop) notify(function func()) {
	_, err := safely(l.ctx, func(context.Context) (struct{}, error) {
		function()
		return struct{}{}, nil
	})
	if err != nil {
		l.config.Logger.Error("a notification function of the agent failed", "error", err)
	}
}
