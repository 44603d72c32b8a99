package agent

import (
	"errors"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func (l *loop) requestReconcile() {
	select {
	case l.reconcileNow <- struct{}{}:
	default:
	}
}

// reconcile lists the wallet's negotiations, in case an event was missed.
func (l *loop) reconcile() {
	if l.reconciling || l.stopping {
		// The list in progress may be older than this request.
		l.reconcileAgain = true
		return
	}
	l.reconcileAgain = false
	l.lastReconcile = time.Now()
	if l.single.isChosen() {
		if f := l.tracked[l.single.address]; f != nil {
			l.refresh(f)
		}
		return
	}
	l.reconciling = true
	known := make(map[solana.PublicKey]struct{}, len(l.tracked))
	for address := range l.tracked {
		known[address] = struct{}{}
	}
	l.tasks.Go(func() {
		now, err := l.client.Now(l.ctx)
		var found []*haggle.Snapshot
		if err == nil {
			found, err = l.list()
		}
		l.post(func() { l.reconciled(known, now, found, err) })
	})
}

// reconciled processes a list. known holds the negotiations that were tracked when the list began.
func (l *loop) reconciled(
	known map[solana.PublicKey]struct{}, now int64, found []*haggle.Snapshot, err error,
) {
	l.reconciling = false
	if !l.listed {
		l.listed = true
		defer l.offerPlaces()
	}
	if err != nil {
		l.config.Logger.Warn("listing the wallet's negotiations failed; the next attempt follows", "error", err)
		time.AfterFunc(resubscribeAfter, l.requestReconcile)
		return
	}
	if l.reconcileAgain {
		l.requestReconcile()
	}
	l.now = now
	for _, n := range found {
		delete(known, n.Address)
		l.onListed(n)
	}
	for address := range known {
		// It may be closed.
		if f := l.tracked[address]; f != nil {
			l.refresh(f)
		}
	}
}

// list returns the wallet's negotiations. It leaves out later versions, which cannot be decoded.
func (l *loop) list() ([]*haggle.Snapshot, error) {
	var found []*haggle.Snapshot
	for n, err := range l.client.FindNegotiations(l.ctx, haggle.Filter{Party: l.self}) {
		var undecodable *protocol.DecodeError
		if errors.As(err, &undecodable) {
			l.config.Logger.Warn("decoding a negotiation failed", "error", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, n)
	}
	return found, nil
}

// onListed processes a negotiation from a list, and refreshes it if an action is due.
func (l *loop) onListed(n *haggle.Snapshot) {
	if l.isExcluded(n) {
		return
	}
	f := l.tracked[n.Address]
	if f == nil {
		f = &tracked{address: n.Address}
	} else if isBefore(n.Slot, f.slot) || l.fingerprint(n) == f.state {
		return
	}
	if f.reading || f.acting || f.call != nil || f.created != 0 && f.created != n.CreatedAt {
		l.refresh(f)
		return
	}
	l.update(f, n)
	v := l.viewOf(f, n, l.now)
	next := v.plan()
	if l.tracked[n.Address] == nil {
		if next.action == done {
			return
		}
		l.tracked[n.Address] = f
	}
	l.engage(f, v, next.action)
	if next.action != idle {
		l.refresh(f)
		return
	}
	f.wakeAt = next.at
}

// update takes over a snapshot.
func (l *loop) update(f *tracked, n *haggle.Snapshot) {
	f.side, _ = n.SideOf(l.self)
	f.live = f.live || !n.IsOver()
	state, position := l.fingerprint(n), l.positionOf(n)
	if position != f.position {
		f.switchPosition(position)
	}
	f.unpayable = f.unpayable && state == f.state
	f.created, f.mint, f.state, f.position, f.slot = n.CreatedAt, n.TokenMint, state, position, n.Slot
	f.counterpart = n.Party(other(f.side))
	if f.participation == undecided && (hasEngaged(n, f.side) || l.admitsAsBuyer(f, n)) {
		f.participation = engaged
	}
	if n.IsOver() {
		f.result = resultOf(n, f.side)
	}
	if wasOpen := f.open; isOpen(n) {
		f.open = true
	} else if wasOpen {
		l.leaveOpen(f, n.Status)
	}
}

// switchPosition replaces the state of the position by the new position's state. A position can return,
// because of forks or wrong node responses: then the agent keeps the decision.
func (f *tracked) switchPosition(position uint64) {
	left := f.positionState
	f.positionState = positionState{}
	if f.earlier.about == position {
		f.positionState = f.earlier
		f.positionState.about = 0
	}
	if left != (positionState{}) {
		f.earlier = left
		f.earlier.about = f.position
	}
}

// admitsAsBuyer reports whether the agent engages as a buyer without calling Admit.
func (l *loop) admitsAsBuyer(f *tracked, n *haggle.Snapshot) bool {
	return f.side == protocol.OfferSideBuyer && l.config.Admit == nil && l.config.cannotEngage(n, f.side) == nil
}

func other(side protocol.OfferSide) protocol.OfferSide {
	if side == protocol.OfferSideBuyer {
		return protocol.OfferSideSeller
	}
	return protocol.OfferSideBuyer
}

func resultOf(n *haggle.Snapshot, side protocol.OfferSide) *Result {
	result := &Result{
		Negotiation: n.Address, Side: side, Counterpart: n.Party(other(side)), CreatedAt: n.CreatedAt,
		Mint: n.TokenMint, Status: n.Status, Rounds: n.CurrentRound,
	}
	if n.Status == protocol.NegotiationStatusSettled {
		result.Price = n.PaidGross
		result.Fee = n.FeeOn(n.PaidGross)
	}
	return result
}
