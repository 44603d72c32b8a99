package policy

import "github.com/haggle-protocol/haggle/sdk/protocol"

// isAfterReveal reports whether an earlier instruction of the message reveals the wallet's price in the
// negotiation.
func (r *reading) isAfterReveal(v *protocol.AcceptOffer) bool {
	return r.revealed != nil && r.revealed.Negotiation == v.Negotiation && r.revealed.CreatedAt == v.CreatedAt
}

// offerBefore returns the current offer when an acceptance is executed: if the same message reveals a price,
// the midpoint.
func (r *reading) offerBefore(v *protocol.AcceptOffer, n *protocol.Negotiation) uint64 {
	if !r.isAfterReveal(v) {
		return n.CurrentOfferAmount
	}
	midpoint, _ := n.Midpoint(r.revealed.Price)
	return midpoint
}

// isMidpoint reports whether the wallet, as the seller, reveals an allowed price and accepts the midpoint in
// the same message. The midpoint is at least the allowed price, and the chain rejects the message if the
// acceptance names another amount.
func (r *reading) isMidpoint(v *protocol.AcceptOffer, side protocol.OfferSide) bool {
	return side == protocol.OfferSideSeller && r.isAfterReveal(v) && r.isOwed(r.revealed) &&
		v.ExpectedRound == 0 && v.ExpectedAmount >= r.revealed.Price
}
