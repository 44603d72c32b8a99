package proof

import (
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
)

// Band is a range of prices in base units of the mint, as policy.Band: a buyer's price counts with the decay of all
// offers until the deal, a seller's before the fee.
type Band struct {
	// Lower and Upper are the lowest and the highest price. Upper is positive.
	Lower uint64 `json:"lower,string"`
	Upper uint64 `json:"upper,string"`
}

// Outside is a move whose price is not in the band.
type Outside struct {
	// Offer is the number of the offer, from 1. Accepted reports that the side accepted it; otherwise it is the
	// side's own.
	Offer    int
	Accepted bool
	// Price is the price in base units, for a buyer with the decay.
	Price uint64
}

// compareBand compares the side's offers and its acceptance with the band of its model.
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
