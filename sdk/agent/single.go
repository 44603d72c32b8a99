package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// ErrNoNegotiation: no negotiation was found within [Config].Patience.
var ErrNoNegotiation = errors.New("agent: no negotiation to engage in")

// gracePeriod is how long RunOne retries after transient errors once the negotiation's own time is over.
const gracePeriod = 2 * time.Minute

// RunOne runs a single negotiation to the end and returns the result: the negotiation with the given address,
// or if that is zero the first negotiation of the wallet that the agent engages in. It does nothing in all
// others.
//
// It returns the context's error, [haggle.ErrClientClosed], [ErrNoNegotiation] or a [*StartError]; or a
// transient error that still occurs two minutes after the negotiation's own time is over. It returns a result
// with an error if the negotiation is over and only a last action fails, for example the payout to a frozen
// token account, and with an [*UnverifiedError] if a seller's settlement cannot be verified.
//
// Otherwise it works as Run. To run several negotiations, use Run.
func (r *Runtime) RunOne(ctx context.Context, negotiation solana.PublicKey) (*Result, error) {
	only := &single{address: negotiation, until: time.Now().Add(gracePeriod)}
	err := r.start(ctx, only)
	if only.result != nil {
		return only.result, only.lastErr
	}
	return nil, err
}

// single is the negotiation of RunOne.
type single struct {
	// address is zero until the agent engaged.
	address solana.PublicKey
	// result is nil while the negotiation is open. lastErr is the last action's error, if that failed.
	result  *Result
	lastErr error
	// until is how long transient errors are retried.
	until time.Time
}

// is reports whether RunOne runs the negotiation; false for a nil single.
func (s *single) is(address solana.PublicKey) bool { return s.isChosen() && s.address == address }

func (s *single) isChosen() bool { return s != nil && !s.address.IsZero() }

// errOver ends the loop.
var errOver = errors.New("agent: negotiation over")

// beginSingle refreshes the negotiation of RunOne, or limits the time to find it.
func (l *loop) beginSingle() {
	switch {
	case l.single.isChosen():
		f := &tracked{address: l.single.address, exists: true}
		l.tracked[f.address] = f
		l.refresh(f)
	case l.single == nil:
	case l.config.Patience == 0:
		l.config.Logger.Log(l.ctx, LevelNotice, "waiting", "for", "negotiation")
	default:
		now := time.Now().Unix()
		l.config.Logger.Log(l.ctx, LevelNotice, "waiting", append([]any{"for", "negotiation"},
			untilAttributes(now+int64(l.config.Patience/time.Second), now)...)...)
		tooLong := time.AfterFunc(l.config.Patience, func() {
			l.post(func() {
				if !l.single.isChosen() {
					l.end(ErrNoNegotiation)
				}
			})
		})
		context.AfterFunc(l.ctx, func() { tooLong.Stop() })
	}
}

// isExcluded reports whether the agent does not handle a negotiation.
func (l *loop) isExcluded(n *haggle.Snapshot) bool {
	if _, party := n.SideOf(l.self); !party || l.single.isChosen() {
		return !party || !l.single.is(n.Address)
	}
	if l.config.Concerns == nil {
		return false
	}
	concerns, err := safely(l.ctx, func(context.Context) (bool, error) { return l.config.Concerns(n), nil })
	if err != nil {
		l.config.Logger.Error("Config.Concerns failed", "negotiation", n.Address, "error", err)
	}
	return !concerns
}

// mayBeExcluded reports whether the agent may not handle a closed negotiation.
func (l *loop) mayBeExcluded(f *tracked) bool {
	if l.single.isChosen() {
		return !l.single.is(f.address)
	}
	return l.config.Concerns != nil && f.created == 0
}

// exclude stops tracking a negotiation that the agent does not handle.
func (l *loop) exclude(f *tracked) {
	l.forget(f)
	if l.single.is(f.address) {
		l.end(fmt.Errorf("agent: %s has no part in negotiation %s", l.self, f.address))
	}
}

// engage notes the first negotiation that the agent engages in, for RunOne. The others are excluded on their
// next snapshot.
func (l *loop) engage(f *tracked, v *view, next nextAction) {
	if l.single == nil || l.single.isChosen() || f.participation != engaged || next == done {
		return
	}
	l.single.address = f.address
	l.extendGracePeriod(v)
}

// finishSingle ends the loop if the negotiation ended. lastErr is the last action's error, if that failed.
func (l *loop) finishSingle(f *tracked, lastErr error) {
	if !l.single.is(f.address) || l.single.result != nil {
		return
	}
	result := Result{Negotiation: f.address, Side: f.side, Counterpart: f.counterpart}
	if f.result != nil {
		result = *f.result
	}
	l.single.result, l.single.lastErr = &result, lastErr
	l.end(errOver)
}

// endAfterGracePeriod ends the loop with a transient error once the grace period is over.
func (l *loop) endAfterGracePeriod(f *tracked, err error) {
	if l.single.is(f.address) && time.Now().After(l.single.until) {
		l.end(err)
	}
}

// extendGracePeriod sets the end of the grace period from a snapshot.
func (l *loop) extendGracePeriod(v *view) {
	if !l.single.is(v.Address) {
		return
	}
	over := v.GlobalDeadline
	if v.MilestoneCount() > 0 {
		over = v.ArbitrationDeadline()
	}
	l.single.until = time.Now().Add(time.Duration(max(over-v.now, 0))*time.Second + gracePeriod)
}
