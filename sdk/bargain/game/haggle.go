package game

import (
	"math"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
)

// The sides, as in package onchain. The buyer makes the first offer.
const (
	Buyer  = 0
	Seller = 1
)

// Haggle is the game defined by Haggle's rules if both parties know the agreement's worth to the opponent.
// All amounts are base units of the mint.
//
// After k offers the buyer has lost k rounds of decay, regardless of agreement. An agreement is worth Value -
// price - decay to the buyer and price - fee - Cost to the seller; no agreement is worth -decay and 0, or,
// with a bond, b - decay and -b, where b is the bond's part that pays the decay for the seller's offers. So
// if there is no bond, delay costs the buyer only, except that the highest price, the effective escrow,
// falls. With a bond, every side pays for its own offers, and both limits fall by b: agreement costs the
// buyer more, and no agreement costs the seller more. This is not Rubinstein's discount, where delay costs
// both. A side that wants no agreement rejects: expiry costs at least as much. Times and milestones are not
// part of the game.
type Haggle struct {
	Rules onchain.Rules
	// Value is the value of the service to the buyer. Cost is the seller's: the least amount after the fee
	// that the seller accepts.
	Value, Cost uint64
}

// Result is an end of the game.
type Result struct {
	// Agreed reports whether the parties agree at Price.
	Agreed bool
	Price  uint64
	// Offers is the number of offers that were made. Decay is their cost to the buyer.
	Offers int
	Decay  uint64
	// FromBond is the buyer's share of the seller's bond if there is no agreement.
	FromBond uint64
}

// Node is a side's turn after a number of offers.
type Node struct {
	// Side is the side to move.
	Side int
	// Limit is the worst price that it accepts: a buyer's highest, a seller's lowest. An indifferent side
	// accepts.
	Limit uint64
	// AcceptsNone reports whether the buyer accepts no price, not even 0: the bond pays more than an
	// agreement.
	AcceptsNone bool
	// Move is the side's move if it does not accept: [bargain.MoveOffer] at Price, or [bargain.MoveEnd].
	Move  bargain.Move
	Price uint64
	// Result is the game's result after this move.
	Result Result
}

// Accepts reports whether the side accepts a price.
func (n *Node) Accepts(price uint64) bool {
	if n.Side == Buyer {
		return price <= n.Limit && !n.AcceptsNone
	}
	return price >= n.Limit
}

// Solve returns the subgame perfect equilibrium: the nodes after 0 offers up to the maximum. Past moves do
// not affect a node, except that the standing offer can be accepted.
//
// An indifferent side agrees rather than ends the session, and ends it rather than continues. Of several
// prices that leave the seller the same after the rounded fee, it demands the lowest.
func (h Haggle) Solve() []Node {
	nodes := make([]Node, int(h.Rules.MaxRounds)+1)
	ends := make([]Result, len(nodes))
	ranges := make([][2]uint64, len(nodes))
	n := h.Rules.Negotiation()
	for offers := range nodes {
		ends[offers] = Result{Offers: offers, Decay: n.Decay(), FromBond: n.BondAfterRejection(n.Turn())}
		ranges[offers][0], ranges[offers][1] = n.OfferRange()
		onchain.Apply(n, n.Turn(), 0, 0)
	}
	for offers := len(nodes) - 1; offers >= 0; offers-- {
		node := &nodes[offers]
		node.Side = offers % 2
		node.Move, node.Result = bargain.MoveEnd, ends[offers]
		if offers+1 < len(nodes) {
			h.offer(node, &nodes[offers+1], ranges[offers][0], ranges[offers][1], ends[offers+1].Decay)
		}
		node.Limit, node.AcceptsNone = h.limit(node, ends[offers].Decay)
	}
	return nodes
}

// Equilibrium returns the end of the game if both sides play the equilibrium.
func (h Haggle) Equilibrium() Result { return h.Solve()[0].Result }

// offer replaces the node's move, ending the session, if an offer is better: either an offer that the next
// node accepts, or a refused offer followed by the next node's move.
func (h Haggle) offer(node, next *Node, least, most, decay uint64) {
	price, refused, canAgree, canDelay := uint64(0), uint64(0), false, false
	if node.Side == Buyer {
		price, refused = max(next.Limit, least), least
		canAgree, canDelay = price <= most, least < next.Limit
	} else {
		price, refused = min(next.Limit, most), most
		canAgree, canDelay = price >= least && !next.AcceptsNone, most > next.Limit || next.AcceptsNone
		for canAgree && price > least && h.net(price-1) == h.net(price) {
			price--
		}
	}
	agreement := Result{Agreed: true, Price: price, Offers: node.Result.Offers + 1, Decay: decay}
	if canAgree && h.Compare(node.Side, agreement, node.Result) >= 0 {
		node.Move, node.Price, node.Result = bargain.MoveOffer, price, agreement
	}
	if canDelay && h.Compare(node.Side, next.Result, node.Result) > 0 {
		node.Move, node.Price, node.Result = bargain.MoveOffer, refused, next.Result
	}
}

// limit returns the worst price that is as good as a node's result if it is accepted now, or that there is none.
func (h Haggle) limit(node *Node, decay uint64) (price uint64, none bool) {
	later, reservation := node.Result, h.Cost
	switch {
	case later.Agreed && node.Side == Seller:
		reservation = h.net(later.Price)
	case later.Agreed:
		reservation = later.Price + later.Decay - decay
	case node.Side == Buyer:
		reservation = sum(h.Value, later.Decay-decay)
	}
	price, ok := h.Rules.Limit(onchain.Side(node.Side), reservation, later.FromBond)
	return price, !ok
}

// Compare compares two ends by their value to a side: 1 if the first is better, -1 if it is worse, 0 if they
// are equal.
func (h Haggle) Compare(side int, a, b Result) int {
	better, worse := h.costs(b, a), h.costs(a, b)
	if side == Seller {
		better, worse = h.keeps(a), h.keeps(b)
	}
	switch {
	case better > worse:
		return 1
	case better < worse:
		return -1
	}
	return 0
}

// costs returns the buyer's cost under the first result. If only other is an agreement, the cost includes the
// missed value. Price plus decay never exceeds the escrow.
func (h Haggle) costs(of, other Result) uint64 {
	switch {
	case of.Agreed:
		return of.Price + of.Decay
	case other.Agreed:
		return sum(h.Value, of.Decay-of.FromBond)
	}
	return of.Decay - of.FromBond
}

// keeps returns the seller's holdings under a result: the bond, plus the price less the fee, or the saved
// cost.
func (h Haggle) keeps(r Result) uint64 {
	if r.Agreed {
		return sum(h.net(r.Price), h.Rules.Bond)
	}
	return sum(h.Cost, h.Rules.Bond-r.FromBond)
}

func (h Haggle) net(price uint64) uint64 { return price - h.Rules.Negotiation().FeeOn(price) }

// sum returns a+b, limited to 2^64-1. All other amounts stay within the escrow, so a larger service value
// makes no difference.
func sum(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}
