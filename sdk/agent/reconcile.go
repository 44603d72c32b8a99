package agent

import (
	"errors"
	"hash/maphash"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func (l *loop) askForSweep() {
	select {
	case l.sweepNow <- struct{}{}:
	default:
	}
}

// sweep lists the wallet's negotiations.
func (l *loop) sweep() {
	if l.sweeping || l.stopping {
		// What is being listed may be from before what it is asked for.
		l.sweepAgain = true
		return
	}
	l.sweepAgain = false
	l.lastSweep = time.Now()
	if l.one.isChosen() {
		if f := l.followed[l.one.address]; f != nil {
			l.look(f)
		}
		return
	}
	l.sweeping = true
	known := make(map[solana.PublicKey]struct{}, len(l.followed))
	for address := range l.followed {
		known[address] = struct{}{}
	}
	l.tasks.Go(func() {
		now, err := l.client.Now(l.ctx)
		var found []*haggle.NegotiationAccount
		if err == nil {
			found, err = l.list()
		}
		l.post(func() { l.swept(known, now, found, err) })
	})
}

// swept takes note of what has been listed. known are the negotiations that were when that began.
func (l *loop) swept(known map[solana.PublicKey]struct{}, now int64, found []*haggle.NegotiationAccount, err error) {
	l.sweeping = false
	if err != nil {
		l.config.Logger.Warn("the wallet's negotiations could not be listed", "error", err)
		time.AfterFunc(listenAgain, l.askForSweep)
		return
	}
	if l.sweepAgain {
		l.askForSweep()
	}
	l.now = now
	for _, n := range found {
		delete(known, n.Address)
		l.listed(n)
	}
	for address := range known {
		// It is not there any more.
		if f := l.followed[address]; f != nil {
			l.look(f)
		}
	}
}

// list leaves out what cannot be decoded, which is of a later version.
func (l *loop) list() ([]*haggle.NegotiationAccount, error) {
	var found []*haggle.NegotiationAccount
	for n, err := range l.client.FindNegotiations(l.ctx, haggle.Filter{Agent: l.self}) {
		var undecodable *protocol.DecodeError
		if errors.As(err, &undecodable) {
			l.config.Logger.Warn("a negotiation cannot be read", "error", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, n)
	}
	return found, nil
}

// listed takes note of a negotiation as the list has it, and looks at it if there is something to do.
func (l *loop) listed(n *haggle.NegotiationAccount) {
	if l.isOthers(n) {
		return
	}
	f := l.followed[n.Address]
	if f == nil {
		f = &followed{address: n.Address, index: -1}
	} else if isBefore(n.Slot, f.slot) || l.fingerprint(n) == f.position {
		return
	}
	if f.busy || f.created != 0 && f.created != n.CreatedAt {
		l.look(f)
		return
	}
	l.update(f, n)
	v := l.viewOf(f, n, l.now)
	next := v.plan()
	if l.followed[n.Address] == nil {
		if next.duty == done {
			return
		}
		l.followed[n.Address] = f
	}
	l.engage(f, v, next.duty)
	if next.duty != idle {
		l.look(f)
		return
	}
	l.agenda.wake(f, next.at)
}

// fingerprint tells one state of a negotiation from another; it is not zero.
func (l *loop) fingerprint(n *haggle.NegotiationAccount) uint64 {
	return maphash.Bytes(l.seed, n.Data) | 1
}

// viewOf is a negotiation as the agent looks at it, with what is known of it beside its state.
func (l *loop) viewOf(f *followed, n *haggle.NegotiationAccount, now int64) *view {
	v := &view{NegotiationAccount: n, side: f.side, now: now, margin: l.config.Margin, stance: f.stance}
	if f.answer.position == f.position {
		v.answer = f.answer
	}
	v.unpayable = f.unpayable == f.position && time.Now().Before(f.retryAt)
	return v
}

// update takes over what has been read.
func (l *loop) update(f *followed, n *haggle.NegotiationAccount) {
	f.side, _ = n.SideOf(l.self)
	f.live = f.live || !n.IsOver()
	f.created, f.position, f.slot = n.CreatedAt, l.fingerprint(n), n.Slot
	f.counterpart = n.Party(other(f.side))
	if f.stance == undecided && hasEngaged(n, f.side) {
		f.stance = engaged
	}
	if f.stance == undecided && l.cannotEngage(n, f.side) == "" && l.config.Admit == nil && f.side == protocol.OfferSideBuyer {
		f.stance = engaged
	}
	if n.IsOver() {
		f.result = resultOf(n, f.side)
	}
}

func other(side protocol.OfferSide) protocol.OfferSide {
	if side == protocol.OfferSideBuyer {
		return protocol.OfferSideSeller
	}
	return protocol.OfferSideBuyer
}

func resultOf(n *haggle.NegotiationAccount, side protocol.OfferSide) *Result {
	result := &Result{
		Negotiation: n.Address, Side: side, Counterpart: n.Party(other(side)), Status: n.Status, Rounds: n.CurrentRound,
	}
	if n.Status == protocol.NegotiationStatusSettled {
		result.Price = n.PaidGross
		result.Fee = n.FeeOn(n.PaidGross)
	}
	return result
}
