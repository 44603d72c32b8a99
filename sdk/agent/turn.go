package agent

import (
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Turn is the state that a decision is about: a snapshot of a negotiation, and the agent's side of it.
type Turn struct {
	// Negotiation is the snapshot. It is shared: do not change it.
	Negotiation *haggle.NegotiationAccount
	// Side is the agent's.
	Side protocol.OfferSide
	// History are the offers so far, the oldest first. It has fewer than Negotiation.CurrentRound only if the
	// node does not have all of them any more; the standing offer is always among them.
	History []PastOffer
	// Now is the chain's time in Unix seconds.
	Now int64
	// Deadline is the end of the time to answer, in Unix seconds of the chain's clock: the end of the
	// response window or the global deadline, whichever comes first. About milestones it is the end of the
	// buyer's review; for the seller the latest time of the next claim with which all open milestones can
	// still be claimed one after the other, or as many as still can.
	Deadline int64
	// LastCall reports that Decide is not called again before the deadline: Wait lets the negotiation expire.
	// With no rounds left Wait is then invalid. A seller's Deliver is called with LastCall shortly before
	// each time at which one milestone fewer can be claimed.
	LastCall bool
	// Invalid is the reason why the decision before, on the same state, was invalid; nil if there was none.
	// The function is called once more only.
	Invalid error
	// Limits are the agent's limits in the negotiation's mint: see [Config].Mints.
	Limits Limits
}

// PastOffer is an earlier offer.
type PastOffer struct {
	// Round is its number, from 1.
	Round uint8
	// Side is the side that made it.
	Side protocol.OfferSide
	// Amount is the price, in base units of the mint.
	Amount uint64
	// Escrow is the effective escrow after it, in base units of the mint.
	Escrow uint64
	// At is its time in Unix seconds.
	At int64
	// Slot is its slot; zero if the node does not have its event any more.
	Slot uint64
}

// CanAccept reports whether there is an offer that the agent can accept.
func (t Turn) CanAccept() bool { return t.Negotiation.CanAccept(t.Side) }

// CanOffer reports whether the agent can make an offer.
func (t Turn) CanOffer() bool {
	n := t.Negotiation
	return n.IsBargaining() && n.Turn() == t.Side && n.ZopaStep() == protocol.ZopaStepNone && n.RoundsLeft() > 0
}

// Standing returns the price that the agent can accept, in base units of the mint; zero if there is none.
func (t Turn) Standing() uint64 {
	if !t.CanAccept() {
		return 0
	}
	return t.Negotiation.CurrentOfferAmount
}

// InRange returns the amount, moved into the range of the next offer. It returns [ErrBeyondLimit] if that is
// beyond the agent's own limit: a seller's least payment is more than the escrow can still pay, or a buyer's
// highest price is below the least offer. Decide can return this error: the decision is invalid then.
func (t Turn) InRange(amount uint64) (uint64, error) {
	least, most := t.Negotiation.OfferRange()
	moved := min(max(amount, least), most)
	return moved, t.Limits.check(t.Negotiation, t.Side, moved)
}

// Own returns the agent's latest offer; false if it has made none.
func (t Turn) Own() (PastOffer, bool) { return t.latestOf(t.Side) }

func (t Turn) latestOf(side protocol.OfferSide) (PastOffer, bool) {
	for i := len(t.History) - 1; i >= 0; i-- {
		if t.History[i].Side == side {
			return t.History[i], true
		}
	}
	return PastOffer{}, false
}
