package agent

import (
	"fmt"
	"slices"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Turn is the state that a decision is about: a negotiation snapshot, and the agent's side of it.
type Turn struct {
	// Negotiation is the snapshot. It is shared: do not change it.
	Negotiation *haggle.Snapshot
	// Side is the agent's side.
	Side protocol.OfferSide
	// History is the list of offers, the oldest first. It is shorter than Negotiation.CurrentRound only if
	// the node did not return all offers. The standing offer is always included.
	History []PastOffer
	// Now is the chain's time in Unix seconds.
	Now int64
	// Deadline is the end of the time to answer, in Unix seconds of the chain's clock: the end of the
	// response window or the global deadline, whichever comes first. About milestones it is the end of the
	// buyer's review; for the seller the latest time for the next claim such that all open milestones can
	// still be claimed sequentially, or as many as still can.
	Deadline int64
	// LastCall reports whether Decide is not called again in time: Wait lets the negotiation expire, and is
	// invalid if no rounds are left. A seller's OnMilestone is called with LastCall one minute before each
	// time when fewer milestones could be claimed.
	LastCall bool
	// Invalid is the reason why the decision before, on the same state, was invalid; nil if there was none.
	// The function is called once more only.
	Invalid error
	// Limits holds the agent's limits in the negotiation's mint: see [Config].Mints.
	Limits Limits
}

// PastOffer is an earlier offer.
type PastOffer struct {
	// Round is the offer's number, from 1.
	Round uint8
	// Side is the side that made it.
	Side protocol.OfferSide
	// Amount is the price, in the mint's base units.
	Amount uint64
	// Escrow is the effective escrow after the offer, in the mint's base units.
	Escrow uint64
	// At is the offer's time in Unix seconds.
	At int64
	// Slot is the offer's slot. If zero, the node did not return the event.
	Slot uint64
}

// CheckHistory returns [ErrOffersMissing] if the node did not return all offers yet. On the last call it
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

// Standing returns the price that the agent can accept, in the mint's base units; zero if there is none.
func (t Turn) Standing() uint64 {
	if !t.CanAccept() {
		return 0
	}
	return t.Negotiation.CurrentOfferAmount
}

// InRange returns the amount, moved into the range for the next offer. A buyer's range ends at the highest
// price that [Limits].MaxTotal leaves after the decay of all offers, including this offer. It returns
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

// Own returns the agent's latest offer; false if there is none.
func (t Turn) Own() (PastOffer, bool) {
	for _, offer := range slices.Backward(t.History) {
		if offer.Side == t.Side {
			return offer, true
		}
	}
	return PastOffer{}, false
}
