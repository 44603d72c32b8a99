package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func (l *loop) turn(f *tracked, v *view, last bool) Turn {
	deadline := v.TurnDeadline
	if _, reviewed := v.UnderReview(); v.IsAgreed() && !reviewed {
		deadline = v.claimDeadline()
	}
	return Turn{
		Negotiation: v.Snapshot, Side: f.side, History: slices.Clone(f.offers), Now: v.clock(),
		Deadline: deadline, LastCall: last, Invalid: v.answer.reason, Limits: l.config.Mints[v.TokenMint],
	}
}

// decide calls Decide, unless a decision on this position waits to be carried out.
func (l *loop) decide(f *tracked, v *view, last bool) {
	if l.carryOut(f, v) {
		return
	}
	turn := l.turn(f, v, last)
	if l.awaitsCall(f) {
		if !last {
			f.wakeAt = v.lastCallAt()
			return
		}
		l.failed(f, errOverdueCall)
		l.fallBack(f, v, turn)
		return
	}
	start(l, f, v, v.answerBy(),
		func(ctx context.Context) (Decision, error) { return l.config.Decide(ctx, turn) },
		func(decision Decision, err error) { l.decidedOn(f, v, turn, decision, err) })
}

// carryOut carries out an earlier decision on this position. It returns false if there is none.
func (l *loop) carryOut(f *tracked, v *view) bool {
	if f.decided == nil {
		return false
	}
	l.do(f, v, f.decided.turn, f.decided.decision)
	return true
}

// decidedOn processes a decision returned by Decide. If the position changed, the call was already withdrawn.
// Snapshots that do not change the position do not matter.
func (l *loop) decidedOn(f *tracked, v *view, turn Turn, decision Decision, err error) {
	if err == nil {
		err = validate(turn, decision)
	} else if errors.Is(err, ErrBeyondLimit) {
		err = &InvalidDecision{Negotiation: f.address, Reason: err}
	}
	if !l.answered(f, v, turn, decision, err) {
		l.undecided(f, v, turn, err)
	}
}

// answered processes a result of Decide or OnMilestone. It returns false if it is an error.
func (l *loop) answered(f *tracked, v *view, turn Turn, decision any, err error) bool {
	invalid := new(InvalidDecision)
	switch wait, waits := decision.(Wait); {
	case errors.As(err, &invalid):
		l.invalid(f, v, turn, invalid)
	case err != nil:
		return false
	case waits:
		l.onWait(f, v, turn, wait)
	default:
		l.setDecided(f, v, turn, decision)
	}
	return true
}

// setDecided carries out a decision, and keeps it as long as that fails with transient errors.
func (l *loop) setDecided(f *tracked, v *view, turn Turn, decision any) {
	f.decided = &decided{turn: turn, decision: decision}
	l.do(f, v, turn, decision)
}

// onWait records a Wait of Decide or OnMilestone, and plans the next call.
func (l *loop) onWait(f *tracked, v *view, turn Turn, wait Wait) {
	f.failures = 0
	f.answer = answer{waits: true, until: wait.Until, last: turn.LastCall, at: turn.Now}
	// The time of the last call may have come meanwhile.
	next := l.viewNow(f, v)
	l.execute(f, next, next.plan())
}

// invalid records and reports a decision or a milestone move that cannot be carried out. The function is
// called once more at this position, with the reason. If the second decision is invalid too, the fallback
// follows at the time of the last call. If the second move is invalid too, nothing follows: a milestone that
// the buyer does not dispute is released.
func (l *loop) invalid(f *tracked, v *view, turn Turn, invalid *InvalidDecision) {
	f.decided = nil
	f.answer = answer{at: turn.Now, invalid: f.answer.invalid + 1, reason: invalid}
	l.config.Logger.Error("invalid decision", f.attributes("error", invalid, "final", f.answer.isExhausted())...)
	l.report(f.address, invalid)
	next := l.viewNow(f, v)
	switch {
	case f.answer.isExhausted():
		l.execute(f, next, next.plan())
	case v.IsAgreed():
		l.deliver(f, next, turn.LastCall)
	default:
		l.decide(f, next, next.isLast())
	}
}

// undecided handles an error of Decide, which is called again later. If that was the last call, or if there
// is no time for another call, the fallback remains.
func (l *loop) undecided(f *tracked, v *view, turn Turn, err error) {
	l.failed(f, err)
	if turn.LastCall || errors.Is(err, errTimeIsUp) {
		l.fallBack(f, v, turn)
		return
	}
	l.retryLater(f)
	f.wakeAt = v.lastCallAt()
}

// fallBack carries out the next possible fallback: Config.Fallback, then Reject. If a rejection would forfeit
// the bond, the negotiation expires instead, and the bond is returned.
func (l *loop) fallBack(f *tracked, v *view, turn Turn) {
	f.decided = nil
	turn.LastCall = true
	fallbacks := []Decision{l.config.Fallback, Reject{}}
	for f.fallbacks < len(fallbacks) {
		decision := fallbacks[f.fallbacks]
		f.fallbacks++
		if decision == nil {
			continue
		}
		if _, rejects := decision.(Reject); rejects && !v.isBuyer() && v.RejectionForfeitsBond() {
			l.config.Logger.Warn("no rejection as the fallback: it would forfeit the bond", f.attributes()...)
			continue
		}
		if err := validate(turn, decision); err != nil {
			l.config.Logger.Error("invalid fallback", f.attributes("error", err)...)
			l.report(f.address, err)
			continue
		}
		l.config.Logger.Warn("no valid decision in time: carrying out the fallback",
			f.attributes(append(l.moveAttributes(turn, decision), "round", v.CurrentRound)...)...)
		l.setDecided(f, v, turn, decision)
		return
	}
	l.config.Logger.Error("no fallback is possible: the negotiation will expire",
		f.attributes(untilAttributes(v.TurnDeadline, v.clock())...)...)
	f.answer = answer{last: true}
	f.wakeAt = v.TurnDeadline
}

// do starts the action for a decision or a milestone move, on the snapshot used to make it.
func (l *loop) do(f *tracked, v *view, turn Turn, decision any) {
	deal := l.client.At(turn.Negotiation)
	switch decision := decision.(type) {
	case Offer:
		l.send(f, v, deal.SubmitOffer(l.self, decision.offer()))
	case Accept:
		l.send(f, v, deal.AcceptOffer(l.self, turn.Negotiation.CurrentOfferAmount))
	case Reject:
		l.send(f, v, deal.Reject(l.self))
	case ClaimMilestone:
		l.send(f, v, deal.ClaimMilestone(l.self, decision.Index, decision.Evidence))
	case ReleaseMilestone:
		l.send(f, v, deal.ReleaseMilestone(l.self, decision.Index))
	case DisputeMilestone:
		l.send(f, v, deal.DisputeMilestone(l.self, decision.Index, decision.Evidence))
	}
}

// seal takes the agent's step of the comparison of reservation prices.
func (l *loop) seal(f *tracked, v *view) {
	if l.awaitsCall(f) {
		return
	}
	n := v.Snapshot
	start(l, f, v, v.answerBy(),
		func(ctx context.Context) (*protocol.SealedPrice, error) {
			if l.config.Seal == nil {
				return nil, &Refusal{Negotiation: n.Address, Reason: errNoSeal.Error()}
			}
			return l.config.Seal(ctx, n)
		},
		func(sealed *protocol.SealedPrice, err error) {
			if err == nil {
				err = l.checkSealed(f, v, sealed)
			}
			switch {
			case err != nil:
				l.failed(f, err)
				l.retryLater(f)
				f.wakeAt = v.TurnDeadline
			case v.ZopaStep().IsCommit():
				l.send(f, v, l.client.At(n).CommitZopa(sealed))
			default:
				l.send(f, v, l.reveal(f, v, sealed))
			}
		})
}

// checkSealed keeps the agent from committing to a reservation price beyond the agent's limit.
func (l *loop) checkSealed(f *tracked, v *view, sealed *protocol.SealedPrice) error {
	switch {
	case sealed == nil:
		return errors.New("agent: Config.Seal returned neither a price nor an error")
	case !v.ZopaStep().IsCommit():
		return nil // it is committed already
	}
	return l.config.Mints[v.TokenMint].check(v.Snapshot, f.side, sealed.Price(), v.Decay())
}
