package agent

import (
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Turn is what a decision is made on: a negotiation as the chain had it a moment ago, seen from one side.
type Turn struct {
	// Negotiation is as it has been seen. It is shared: do not change it.
	Negotiation *haggle.NegotiationAccount
	// Side is the agent's.
	Side protocol.OfferSide
	// History are the offers so far, the oldest first. It has fewer than Negotiation.CurrentRound only if the node no longer
	// remembers all; the standing offer is always among them.
	History []PastOffer
	// Now is the chain's time in Unix seconds.
	Now int64
	// Deadline is when the time to answer is over, in Unix seconds of the chain's clock: the end of the response window or the
	// negotiation's own, whichever comes first. About milestones it is the end of the buyer's review, or for the seller the last
	// moment for a claim.
	Deadline int64
	// LastCall says that nothing will be asked again before the deadline: whoever waits now lets the negotiation expire.
	LastCall bool
}

// PastOffer is an offer that has been made.
type PastOffer struct {
	// Round is its number, from 1.
	Round uint8
	// Side made it.
	Side protocol.OfferSide
	// Amount is the price, in base units of the mint.
	Amount uint64
	// Escrow is what the escrow was worth after it, in base units of the mint.
	Escrow uint64
	// At is when it was made, in Unix seconds.
	At int64
	// Slot is when it was made; zero if the node does not remember.
	Slot uint64
}

// CanAccept says whether there is an offer that the agent can accept.
func (t Turn) CanAccept() bool { return t.Negotiation.CanAccept(t.Side) }

// CanOffer says whether the agent can make an offer.
func (t Turn) CanOffer() bool {
	n := t.Negotiation
	return n.IsBargaining() && n.Turn() == t.Side && n.ZopaStep() == protocol.ZopaStepNone && n.RoundsLeft() > 0
}

// Standing is the offer that the agent can accept, in base units of the mint; zero if there is none.
func (t Turn) Standing() uint64 {
	if !t.CanAccept() {
		return 0
	}
	return t.Negotiation.CurrentOfferAmount
}

// InRange is the amount, moved into the range that the next offer has to lie in.
func (t Turn) InRange(amount uint64) uint64 {
	least, most := t.Negotiation.OfferRange()
	return min(max(amount, least), most)
}

// Own is the agent's latest offer; false if it has made none.
func (t Turn) Own() (PastOffer, bool) { return t.latestOf(t.Side) }

func (t Turn) latestOf(side protocol.OfferSide) (PastOffer, bool) {
	for i := len(t.History) - 1; i >= 0; i-- {
		if t.History[i].Side == side {
			return t.History[i], true
		}
	}
	return PastOffer{}, false
}
