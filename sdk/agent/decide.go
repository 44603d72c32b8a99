package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

var (
	// ErrPanic: one of the agent's functions has panicked.
	ErrPanic = errors.New("agent: panic")
	// ErrTooLong: one of the agent's functions has not returned within [Config].DecisionTime, or before the last call.
	ErrTooLong = errors.New("agent: the function takes too long")

	errTimeIsUp = fmt.Errorf("%w: the time to answer is nearly over", ErrTooLong)
	errAbsorbed = fmt.Errorf("%w: it has not returned from the call before", ErrTooLong)
	errMovedOn  = errors.New("agent: the negotiation has moved on")
)

// Pauses between two questions to Admit that it has answered with an error.
const (
	firstAdmission = 30 * time.Second
	lastAdmission  = 15 * time.Minute
)

// ask calls one of the agent's functions beside the loop, which gets an answer in time, whatever the function does.
func ask[T any](l *loop, f *followed, limit time.Duration, function func(ctx context.Context) (T, error), then func(T, error)) {
	f.busy = true
	inTime, stop := context.WithTimeoutCause(l.ctx, limit, ErrTooLong)
	ctx, withdraw := context.WithCancelCause(inTime)
	f.withdraw = withdraw
	answered := false // the loop's
	answer := func(value T, err error) {
		f.busy, f.withdraw, answered = false, nil, true
		if !l.stopping {
			then(value, err)
		}
	}
	timedOut := context.AfterFunc(ctx, func() {
		l.post(func() {
			if !answered {
				var none T
				f.absorbed++
				answer(none, context.Cause(ctx))
			}
		})
	})
	l.questions.Go(func() {
		defer stop()
		defer withdraw(nil)
		value, err := safely(ctx, function)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		timedOut()
		l.post(func() {
			if answered {
				l.returned(f)
			} else {
				answer(value, err)
			}
		})
	})
}

// returned is told that one of the agent's functions has returned after its time. It may be asked again now.
func (l *loop) returned(f *followed) {
	f.absorbed--
	if !f.busy && l.followed[f.address] == f && f.failures > 0 {
		l.look(f)
	}
}

// safely makes an error of a panic.
func safely[T any](ctx context.Context, function func(ctx context.Context) (T, error)) (value T, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, reason, debug.Stack())
		}
	}()
	return function(ctx)
}

// timeFor is how long the agent may be asked: until the last call, or if this is it, for half of what is left.
func (l *loop) timeFor(v *view, last bool) time.Duration {
	left := v.lastCallAt() - v.now
	if last {
		left = (v.TurnDeadline - v.now + 1) / 2
	}
	return min(l.config.DecisionTime, time.Duration(max(left, 1))*time.Second)
}

func (l *loop) turn(f *followed, v *view, last bool) Turn {
	deadline := v.TurnDeadline
	if _, reviewed := v.UnderReview(); v.IsAgreed() && !reviewed {
		// A claim needs its whole review window.
		deadline = v.MilestoneDeadline - v.ReviewWindow()
	}
	return Turn{
		Negotiation: v.NegotiationAccount, Side: f.side, History: slices.Clone(f.offers), Now: v.now,
		Deadline: deadline, LastCall: last,
	}
}

// decide asks for a decision, unless there is one that is still to be carried out.
func (l *loop) decide(f *followed, v *view, last bool) {
	if f.decided != nil && f.decided.position == f.position {
		l.carryOut(f, v, f.decided)
		return
	}
	turn := l.turn(f, v, last)
	if f.absorbed > 0 {
		l.undecided(f, v, turn, errAbsorbed)
		return
	}
	ask(l, f, l.timeFor(v, last),
		func(ctx context.Context) (Decision, error) { return l.config.Decide(ctx, turn) },
		func(decision Decision, err error) { l.decidedOn(f, v, turn, decision, err) })
}

func (l *loop) decidedOn(f *followed, v *view, turn Turn, decision Decision, err error) {
	if f.changed || errors.Is(err, errMovedOn) {
		l.look(f)
		return
	}
	if err == nil {
		err = validate(turn, decision)
	}
	if err != nil {
		l.undecided(f, v, turn, err)
		return
	}
	if wait, waits := decision.(Wait); waits {
		f.failures = 0
		f.answer = answer{position: f.position, until: wait.Until, last: turn.LastCall}
		l.agenda.wake(f, l.viewOf(f, v.NegotiationAccount, v.now).plan().at)
		return
	}
	f.decided = &decided{turn: turn, decision: decision, position: f.position}
	l.carryOut(f, v, f.decided)
}

// undecided is told that there is no decision that could be carried out. At the last call that leaves Fallback.
func (l *loop) undecided(f *followed, v *view, turn Turn, err error) {
	l.failed(f, err)
	if !turn.LastCall {
		if errors.Is(err, errTimeIsUp) {
			l.look(f)
			return
		}
		l.putOff(f)
		l.agenda.wake(f, v.lastCallAt())
		return
	}
	l.fallBack(f, v, turn)
}

// fallBack resorts to Fallback, once at a position; otherwise it lets the time pass. A rejection that would
// forfeit the bond is no fallback: the negotiation expires, and the bond is returned.
func (l *loop) fallBack(f *followed, v *view, turn Turn) {
	fallback := l.config.Fallback
	if _, rejects := fallback.(Reject); rejects && f.side == protocol.OfferSideSeller && v.RejectionForfeitsBond() {
		fallback = nil
	}
	if fallback != nil && f.fellBack != f.position {
		f.fellBack = f.position
		err := validate(turn, fallback)
		if err == nil {
			f.decided = &decided{turn: turn, decision: fallback, position: f.position}
			l.carryOut(f, v, f.decided)
			return
		}
		l.failed(f, err)
	}
	f.answer = answer{position: f.position, last: true}
	l.agenda.wake(f, v.TurnDeadline)
}

// carryOut acts on what Decide has seen.
func (l *loop) carryOut(f *followed, v *view, what *decided) {
	seen := what.turn.Negotiation
	switch decision := what.decision.(type) {
	case Offer:
		l.act(f, v, "submit_offer", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.Offer(ctx, decision.request(what.turn))
		})
	case Accept:
		l.act(f, v, "accept_offer", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.Accept(ctx, haggle.AcceptRequest{Acceptor: l.self, Seen: seen})
		})
	case Reject:
		l.act(f, v, "reject_negotiation", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.Reject(ctx, haggle.RejectRequest{Rejector: l.self, Seen: seen})
		})
	}
}

// seal takes the agent's step of the comparison of reservation prices.
func (l *loop) seal(f *followed, v *view) {
	if f.absorbed > 0 {
		l.failed(f, errAbsorbed)
		l.putOff(f)
		return
	}
	seen := v.NegotiationAccount
	ask(l, f, min(l.config.DecisionTime, time.Duration(max(v.TurnDeadline-v.now, 1))*time.Second),
		func(ctx context.Context) (*haggle.SealedPrice, error) {
			if l.config.Seal == nil {
				return nil, &Refusal{Negotiation: seen.Address, Reason: "it compares prices under seal, and Config.Seal is nil"}
			}
			return l.config.Seal(ctx, seen)
		},
		func(sealed *haggle.SealedPrice, err error) {
			switch {
			case f.changed || errors.Is(err, errMovedOn):
				l.look(f)
			case err != nil:
				l.failed(f, err)
				l.putOff(f)
			case v.ZopaStep().IsCommit():
				l.act(f, v, "submit_zopa_commitment", func(ctx context.Context) (*haggle.Action, error) {
					return l.client.CommitZopa(ctx, haggle.CommitZopaRequest{Sealed: sealed, Seen: seen})
				})
			default:
				l.act(f, v, "reveal_zopa_price", func(ctx context.Context) (*haggle.Action, error) {
					return l.client.RevealZopa(ctx, haggle.RevealZopaRequest{Sealed: sealed, Seen: seen})
				})
			}
		})
}

// deliver asks about milestones.
func (l *loop) deliver(f *followed, v *view, last bool) {
	if l.config.Deliver == nil {
		return
	}
	turn := l.turn(f, v, last)
	if f.absorbed > 0 {
		l.failed(f, errAbsorbed)
		l.putOff(f)
		return
	}
	limit := l.config.DecisionTime
	if f.side == protocol.OfferSideBuyer {
		limit = l.timeFor(v, last)
	}
	ask(l, f, limit,
		func(ctx context.Context) (MilestoneMove, error) { return l.config.Deliver(ctx, turn) },
		func(move MilestoneMove, err error) { l.delivered(f, v, turn, move, err) })
}

func (l *loop) delivered(f *followed, v *view, turn Turn, move MilestoneMove, err error) {
	if f.changed || errors.Is(err, errMovedOn) {
		l.look(f)
		return
	}
	if err == nil {
		err = validateMilestone(turn, move)
	}
	if err != nil {
		l.failed(f, err)
		if turn.LastCall {
			f.answer = answer{position: f.position, last: true}
		}
		l.putOff(f)
		return
	}
	seen := v.NegotiationAccount
	switch move := move.(type) {
	case Wait:
		f.failures = 0
		f.answer = answer{position: f.position, until: move.Until, last: turn.LastCall}
		l.agenda.wake(f, l.viewOf(f, seen, v.now).plan().at)
	case ClaimMilestone:
		l.act(f, v, "claim_milestone", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.ClaimMilestone(ctx, haggle.ClaimMilestoneRequest{Seller: l.self, Seen: seen, Index: move.Index, Evidence: move.Evidence})
		})
	case ReleaseMilestone:
		l.act(f, v, "release_milestone", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.ReleaseMilestone(ctx, haggle.ReleaseMilestoneRequest{Releaser: l.self, Seen: seen, Index: move.Index})
		})
	case DisputeMilestone:
		l.act(f, v, "dispute_milestone", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.DisputeMilestone(ctx, haggle.DisputeMilestoneRequest{Buyer: l.self, Seen: seen, Index: move.Index, Evidence: move.Evidence})
		})
	}
}

// failed tells of something that has gone wrong and is put off.
func (l *loop) failed(f *followed, err error) {
	l.config.Logger.Error("the agent fails, and is asked again", f.attributes("error", err)...)
	l.report(f.address, err)
}

func (l *loop) report(negotiation solana.PublicKey, err error) {
	if l.config.Failed != nil {
		l.tell(func() { l.config.Failed(negotiation, err) })
	}
}

// tell calls one of the agent's functions that only listen, in order with the others.
func (l *loop) tell(function func()) {
	if _, err := safely(l.ctx, func(context.Context) (struct{}, error) { function(); return struct{}{}, nil }); err != nil {
		l.config.Logger.Error("a function of the agent's that is told of something fails", "error", err)
	}
}
