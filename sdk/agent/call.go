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
	// ErrPanic: one of the agent's functions has panicked.
	ErrPanic = errors.New("agent: panic")
	// ErrTooLong: one of the agent's functions has not returned within [Config].DecisionTime, or before the
	// time to answer was over.
	ErrTooLong = errors.New("agent: function takes too long")
	// ErrOffersMissing: [Turn].History lacks offers, because no node has returned them in time. A function that
	// needs all of them returns it: the runtime calls it again, and does not call [Config].Failed.
	ErrOffersMissing = errors.New("agent: not all offers are known")

	errTimeIsUp     = fmt.Errorf("%w: the time to answer is nearly over", ErrTooLong)
	errOverdueCall  = fmt.Errorf("%w: the call before has not returned", ErrTooLong)
	errStateChanged = errors.New("agent: the negotiation has changed")
)

// call is a pending call of one of the agent's functions.
type call struct {
	// cancel ends the call's context. The loop then gets the cause as the call's error, unless the call is
	// closed.
	cancel context.CancelCauseFunc
	// closed reports that the result is not used any more.
	closed bool
}

// start calls one of the agent's functions outside the loop's goroutine, and posts its result. until is the
// latest time for the answer by the chain's clock: the loop gets an error then, even if the function ignores
// its context.
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

// awaitsCall reports whether an earlier call has not returned although its context has ended, and logs that.
// Its return refreshes the negotiation.
func (l *loop) awaitsCall(f *tracked) bool {
	if f.overdueCalls > 0 {
		l.config.Logger.Warn("waiting for an earlier call of the agent's function to return", f.attributes()...)
	}
	return f.overdueCalls > 0
}

// onResult is called when a call has returned whose result is not used. The next call may start now.
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

// notify calls one of the agent's notification functions, one after the other.
func (l *loop) notify(function func()) {
	_, err := safely(l.ctx, func(context.Context) (struct{}, error) {
		function()
		return struct{}{}, nil
	})
	if err != nil {
		l.config.Logger.Error("a notification function of the agent failed", "error", err)
	}
}
