package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk"
)

// ErrNoNegotiation: there has been no negotiation to engage in for [Config].Patience.
var ErrNoNegotiation = errors.New("agent: there is no negotiation to engage in")

// silence is how long RunOne bears what passes, such as a node that does not answer, once the negotiation's own time is over.
const silence = 2 * time.Minute

// RunOne runs one negotiation to its end, and answers with how that was: the one at the address, or if that is zero the first one of
// the wallet's that the agent engages in. It leaves all others to whoever else acts for the wallet.
//
// An error is the context's, [haggle.ErrClientClosed], or [ErrNoNegotiation]; or what keeps going wrong two minutes after the
// negotiation's own time is over, when nothing can come of it any more. There is a result beside the error if the negotiation is
// over, and only what is left of it cannot be done: to deliver a payout, for example, to a party whose token account is frozen.
//
// Otherwise it is as Run. An agent that is to run more than one negotiation does so with Run.
func (r *Runtime) RunOne(ctx context.Context, negotiation solana.PublicKey) (*Result, error) {
	one := &single{address: negotiation, until: time.Now().Add(silence)}
	err := r.start(ctx, one)
	if one.result != nil {
		return one.result, one.left
	}
	return nil, err
}

// single is the negotiation that RunOne is about.
type single struct {
	// address is zero as long as the agent has not engaged in any.
	address solana.PublicKey
	// result is how it has ended; nil while it has not. left is why not all that is left of it can be done.
	result *Result
	left   error
	// until is how long failures that pass are borne.
	until time.Time
}

// is says whether a negotiation is the one; there is none if single is nil.
func (s *single) is(address solana.PublicKey) bool { return s.isChosen() && s.address == address }

func (s *single) isChosen() bool { return s != nil && !s.address.IsZero() }

// errOver ends the loop.
var errOver = errors.New("agent: the negotiation is over")

// beginOne has the one negotiation looked at, or limits the time for one to be found.
func (l *loop) beginOne() {
	switch {
	case l.one.isChosen():
		f := &followed{address: l.one.address, index: -1, exists: true}
		l.followed[f.address] = f
		l.look(f)
	case l.one != nil && l.config.Patience > 0:
		tooLong := time.AfterFunc(l.config.Patience, func() {
			l.post(func() {
				if !l.one.isChosen() {
					l.end(ErrNoNegotiation)
				}
			})
		})
		context.AfterFunc(l.ctx, func() { tooLong.Stop() })
	}
}

// isOthers says whether a negotiation is left to whoever else acts for the wallet.
func (l *loop) isOthers(n *haggle.NegotiationAccount) bool {
	if _, party := n.SideOf(l.self); !party || l.one.isChosen() {
		return !party || !l.one.is(n.Address)
	}
	if l.config.Concerns == nil {
		return false
	}
	concerns, err := safely(l.ctx, func(context.Context) (bool, error) { return l.config.Concerns(n), nil })
	if err != nil {
		l.config.Logger.Error("Config.Concerns fails", "negotiation", n.Address, "error", err)
	}
	return !concerns
}

// mayBeOthers is for a negotiation that is there no more.
func (l *loop) mayBeOthers(f *followed) bool {
	if l.one.isChosen() {
		return !l.one.is(f.address)
	}
	return l.config.Concerns != nil && f.created == 0
}

// leave forgets a negotiation that is others'.
func (l *loop) leave(f *followed) {
	l.forget(f)
	if l.one.is(f.address) {
		l.end(fmt.Errorf("agent: %s has no part in negotiation %s", l.self, f.address))
	}
}

// engage notes what the agent engages in, if that is to be one negotiation. The others are forgotten at the next look.
func (l *loop) engage(f *followed, v *view, next duty) {
	if l.one == nil || l.one.isChosen() || f.stance != engaged || next == done {
		return
	}
	l.one.address = f.address
	l.heard(v)
}

// finishOne ends the loop if the one negotiation has ended. left is why not all that is left of it can be done.
func (l *loop) finishOne(f *followed, left error) {
	if !l.one.is(f.address) || l.one.result != nil {
		return
	}
	result := Result{Negotiation: f.address, Side: f.side, Counterpart: f.counterpart}
	if f.result != nil {
		result = *f.result
	}
	l.one.result, l.one.left = &result, left
	l.end(errOver)
}

// bear ends the loop with an error that would pass, if there is no more time for that.
func (l *loop) bear(f *followed, err error) {
	if l.one.is(f.address) && time.Now().After(l.one.until) {
		l.end(err)
	}
}

// heard says that a negotiation has been read: failures are borne until its own time is over, and a little longer.
func (l *loop) heard(v *view) {
	if !l.one.is(v.Address) {
		return
	}
	over := v.GlobalDeadline
	if v.MilestoneCount() > 0 {
		over = v.ArbitrationDeadline()
	}
	l.one.until = time.Now().Add(time.Duration(max(over-v.now, 0))*time.Second + silence)
}
