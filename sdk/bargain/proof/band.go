package proof

import (
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
)

// Band is a range of prices in base units of the mint, as policy.Band: a buyer's price includes the decay for
// all offers until the deal, a seller's price counts before the fee.
type Band struct {
	// Lower and Upper are the lowest and highest price. Upper must be positive.
	Lower uint64 `json:"lower,string"`
	Upper uint64 `json:"upper,string"`
}

// Outside is a move with a price outside the band.
type Outside struct {
	// Offer is the offer number, from 1. Accepted reports whether the side accepted the offer; if not, the
	// side made it.
	Offer    int
	Accepted bool
	// Price is the price in base units, including decay for a buyer.
	Price uint64
}

// compareBand compares the side's offers and acceptance with the model's band.
func (p *Proof) compareBand(side onchain.Side) (Result, error) {
	band := p.Reveal.Model.Band
	if band.Upper == 0 || band.Lower > band.Upper {
		return Result{}, fmt.Errorf("%w: band of %d to %d", ErrStrategy, band.Lower, band.Upper)
	}
	result := Result{Banded: true}
	n := p.Terms.rules().Negotiation()
	compare := func(offer int, accepted bool) {
		price := p.Offers[offer-1].Amount
		if side == onchain.Buyer {
			price += n.Decay()
		}
		if result.Outside == nil && (price < band.Lower || price > band.Upper) {
			result.Outside = &Outside{Offer: offer, Accepted: accepted, Price: price}
		}
	}
	for i, offer := range p.Offers {
		by := n.Turn()
		onchain.Apply(n, by, offer.Amount, 0)
		if by == side {
			result.Offers++
			compare(i+1, false)
		}
	}
	if p.Last != nil && *p.Last == (Last{By: p.Side, Move: "accept"}) {
		result.Ended = true
		compare(len(p.Offers), true)
	}
	return result, nil
}
