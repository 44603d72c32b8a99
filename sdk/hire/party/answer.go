package party

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
)

// The reason codes of the runtime's own rejections.
const (
	// CodeUnavailable: the agent did not decide in time.
	CodeUnavailable = "unavailable"
	// CodeLimits: the agent's decisions were beyond the agent's own limits.
	CodeLimits = "limits"
	// CodePrice: the agent cannot read the price, or does not deal in this asset.
	CodePrice = "bad_price"
	// CodeUnsettleable: the terms cannot be settled on chain. The note explains it.
	CodeUnsettleable = "unsettleable"
)

// mostInvalid limits the invalid moves per state. Then the runtime rejects.
const mostInvalid = 2

// answer answers the latest message.
func (t *tracked) answer(ctx context.Context) error {
	c := &t.conversation
	switch {
	case c.latest.Payload().Type() == hire.TypeInquiry:
		if t.runtime.capability == nil {
			return nil
		}
		return t.send(ctx, t.runtime.capability(c.reply()))
	case c.refusal != nil:
		return t.send(ctx, &hire.Reject{Reply: c.reply(), Code: CodePrice})
	}
	if err := t.identify(ctx); err != nil {
		return err
	}
	if c.state.Phase == hire.PhaseContracted {
		return t.confirm(ctx)
	}
	payload, changed := t.decision(ctx)
	if changed || ctx.Err() != nil {
		return nil
	}
	return t.send(ctx, payload)
}

// confirm signs the second acceptance: the counterpart has accepted the agent's own offer. If the terms are
// no longer settleable, confirm sends nothing, and the deal is abandoned: the protocol allows no rejection
// after acceptance.
func (t *tracked) confirm(ctx context.Context) error {
	c := &t.conversation
	if c.withheld = c.settleable(c.state.Terms, time.Now()); c.withheld != nil {
		t.runtime.report(c.id, fmt.Errorf("party: not accepted: %w", c.withheld))
		return nil
	}
	return t.send(ctx, &hire.Accept{Reply: c.reply(), Terms: c.state.Terms})
}

// decision returns the agent's decision as a payload, or a rejection if the agent does not decide in time. changed
// reports whether news arrived first.
func (t *tracked) decision(ctx context.Context) (_ hire.Payload, changed bool) {
	c, r := &t.conversation, t.runtime
	due := c.state.Due
	limited, cancel := context.WithDeadline(ctx, due.Add(-min(r.Margin, time.Until(due)/2)))
	defer cancel()
	var invalid error
	for count, failures := 0, 0; count < mostInvalid; {
		turn := c.turn(r.Limits, time.Now(), invalid)
		move, err, changed := t.call(limited, turn)
		if changed || ctx.Err() != nil {
			return nil, changed
		}
		if limited.Err() != nil {
			break
		}
		if err != nil {
			r.report(c.id, err)
			pause(limited, min(firstPause<<min(failures, 10), lastPause))
			failures++
			continue
		}
		payload, err := payloadOf(c, turn, move, time.Now())
		if err == nil {
			return payload, false
		}
		invalid = &InvalidMove{Move: move, Reason: err}
		r.report(c.id, invalid)
		count++
	}
	reject := &hire.Reject{Reply: c.reply(), Code: CodeLimits}
	terms := new(escrow.TermsError)
	switch {
	case limited.Err() != nil:
		reject.Code = CodeUnavailable
	case errors.As(invalid, &terms):
		reject.Code, reject.Note = CodeUnsettleable, hire.NewText(terms.Error())
	}
	return reject, false
}

func payloadOf(c *conversation, turn Turn, move Move, now time.Time) (hire.Payload, error) {
	if move == nil {
		return nil, errNoMove
	}
	return move.payload(c, turn, now)
}

// call calls the agent's function. changed reports whether news arrived during the call.
func (t *tracked) call(ctx context.Context, turn Turn) (move Move, err error, changed bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type decided struct {
		move Move
		err  error
	}
	done := make(chan decided, 1)
	go func() {
		var result decided
		defer func() { done <- result }()
		result.move, result.err = safely(ctx, turn, t.runtime.decide)
	}()
	for !changed && ctx.Err() == nil {
		select {
		case <-t.changed:
			// The signal may be old: step may already have processed the message.
			changed = t.hasNews()
		case <-ctx.Done():
		case result := <-done:
			return result.move, result.err, false
		}
	}
	cancel()
	return nil, context.Cause(ctx), changed
}

// safely calls f, and returns a panic as an error.
func safely[In, Out any](ctx context.Context, in In, f func(context.Context, In) (Out, error)) (out Out, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = errors.Join(err, fmt.Errorf("party: panic: %v\n%s", value, debug.Stack()))
		}
	}()
	return f(ctx, in)
}
