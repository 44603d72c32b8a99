package game

import (
	"math"
	"math/bits"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
)

// Proximity is how close a finished negotiation is to the benchmarks. Shares are shares of the surplus, which
// is Value - Cost: the amount to divide before fee and decay. If it is not positive, the shares are 0.
type Proximity struct {
	// Equilibrium is the game's result in the subgame perfect equilibrium.
	Equilibrium Result
	// Nash is the Nash solution's price, ignoring decay: see [Haggle.NashPrice]. HasZone reports whether such
	// a price exists.
	Nash    uint64
	HasZone bool
	// FromEquilibrium and FromNash are the agreed price less these prices, as shares, or 0 if either price is
	// missing.
	FromEquilibrium, FromNash fixed.Number
	// Buyer and Seller are the parties' shares, Fee and Decay the protocol's. If there is an agreement, the
	// shares sum to 1, up to rounding. A party's share is negative if the party has lost.
	Buyer, Seller, Fee, Decay fixed.Number
}

// NashPrice returns the Nash solution's price for linear utilities: the midpoint of the buyer's value and the
// lowest price that covers the seller's cost after the fee, rounded down, or the escrow if lower. For values
// up to the escrow it equals the program's midpoint for these reservation prices. It returns false if no
// price up to the escrow suits both.
func (h Haggle) NashPrice() (price uint64, ok bool) {
	least := onchain.Gross(h.Rules.Negotiation(), h.Cost)
	if least > h.Value || least > h.Rules.Escrow {
		return 0, false
	}
	return min(least+(h.Value-least)/2, h.Rules.Escrow), true
}

// Proximity measures an end of the game.
func (h Haggle) Proximity(r Result) Proximity {
	p := Proximity{Equilibrium: h.Equilibrium()}
	p.Nash, p.HasZone = h.NashPrice()
	if h.Value <= h.Cost {
		return p
	}
	surplus := h.Value - h.Cost
	p.Decay = share(r.Decay, 0, surplus)
	if !r.Agreed {
		p.Buyer = -p.Decay
		return p
	}
	p.Buyer = share(h.Value, sum(r.Price, r.Decay), surplus)
	p.Seller = share(h.net(r.Price), h.Cost, surplus)
	p.Fee = share(r.Price, h.net(r.Price), surplus)
	if p.HasZone {
		p.FromNash = share(r.Price, p.Nash, surplus)
	}
	if p.Equilibrium.Agreed {
		p.FromEquilibrium = share(r.Price, p.Equilibrium.Price, surplus)
	}
	return p
}

// share returns (plus-minus)/whole, rounded towards 0; beyond the range the limit of [fixed.Number].
func share(plus, minus, whole uint64) fixed.Number {
	if plus < minus {
		return -share(minus, plus, whole)
	}
	high, low := bits.Mul64(plus-minus, uint64(fixed.One))
	if high >= whole {
		return fixed.Max
	}
	quotient, _ := bits.Div64(high, low, whole)
	return fixed.Number(min(quotient, math.MaxInt64))
}
