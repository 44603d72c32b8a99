package agent

import (
	"fmt"
	"slices"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Turn is the state that a decision is about: a snapshot of a negotiation, and the agent's side of it.
type Turn struct {
	// Negotiation is the snapshot. It is shared: do not change it.
	Negotiation *haggle.Snapshot
	// Side is the agent's side.
	Side protocol.OfferSide
	// History is the list of offers, the oldest first. It has fewer than Negotiation.CurrentRound only if the
	// node has not returned all of them. The standing offer is always among them.
	History []PastOffer
	// Now is the chain's time in Unix seconds.
	Now int64
	// Deadline is the end of the time to answer, in Unix seconds of the chain's clock: the end of the
	// response window or the global deadline, whichever comes first. About milestones it is the end of the
	// buyer's review; for the seller the latest time of the next claim with which all open milestones can
	// still be claimed one after the other, or as many as still can.
	Deadline int64
	// LastCall reports that Decide is not called again before the deadline: Wait lets the negotiation expire,
	// and is invalid if no rounds are left. A seller's OnMilestone is called with LastCall one minute before each
	// time from which on it can claim one milestone fewer.
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
	// Slot is its slot. If zero, the node has not returned its event.
	Slot uint64
}

// CheckHistory returns [ErrOffersMissing] if the node has not returned all offers yet. At the last call it
// returns nil: then a decision without them is better than none.
func (t Turn) CheckHistory() error {
	if known, all := len(t.History), int(t.Negotiation.CurrentRound); known < all && !t.LastCall {
		return fmt.Errorf("%w: %d of %d", ErrOffersMissing, known, all)
	}
	return nil
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

// InRange returns the amount, moved into the range of the next offer. A buyer's range ends at the highest
// price that [Limits].MaxTotal leaves after the decay of the offers so far and of this one. It returns
// [ErrBeyondLimit] if the amount is then beyond the agent's own limit: a seller's least payment is more than
// the escrow can still pay, or a buyer's highest price is below the least offer. Decide can return this
// error: the decision is invalid then.
func (t Turn) InRange(amount uint64) (uint64, error) {
	n := t.Negotiation
	least, most := n.OfferRange()
	decay := n.DecayAfterRound()
	if t.Side == protocol.OfferSideBuyer {
		most = min(most, t.Limits.mostAfter(decay))
	}
	moved := max(min(amount, most), least)
	return moved, t.Limits.check(n, t.Side, moved, decay)
}

// Own returns the agent's latest offer; false if it has made none.
func (t Turn) Own() (PastOffer, bool) {
	for _, offer := range slices.Backward(t.History) {
		if offer.Side == t.Side {
			return offer, true
		}
	}
	return PastOffer{}, false
}
