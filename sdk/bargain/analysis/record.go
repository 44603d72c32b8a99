// Package analysis describes how two parties negotiated, from their recorded offers: the kinds of their
// steps, their concessions, the strategy that fits best, and which party conceded more. It analyses simulated
// sessions and negotiations on chain alike.
//
// It uses floats, because the numbers are statistics for people. No package that chooses offers imports it; a
// test in package bargain checks this.
package analysis

import (
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// Offer is a recorded offer.
type Offer struct {
	// By is the offering party, 0 or 1.
	By int
	// Time is the offer's relative time; the deadline is 1.
	Time float64
	// Utilities holds the offer's worth to both parties.
	Utilities [2]float64
	// AtLimit reports whether the rules allowed the party to demand no more.
	AtLimit bool
}

// Record is a negotiation of two parties.
type Record struct {
	// Offers lists all offers, the oldest first.
	Offers []Offer
	// Agreed reports whether the parties agreed; Agreement then holds the utilities.
	Agreed    bool
	Agreement [2]float64
}

// ErrRecord reports a record unfit for analysis.
var ErrRecord = errors.New("analysis: invalid record")

// FromResult returns a simulated session's record. The utilities are undiscounted.
func FromResult(result bargain.Result, parties [2]*bargain.Preferences) Record {
	utilities := func(o bargain.Outcome) [2]float64 {
		return [2]float64{parties[0].Of(o).Float(), parties[1].Of(o).Float()}
	}
	r := Record{Agreed: result.Ending == bargain.EndingAgreement}
	if r.Agreed {
		r.Agreement = utilities(result.Agreement)
	}
	for _, offer := range result.History {
		r.Offers = append(r.Offers, Offer{
			By: offer.By, Time: offer.Time.Float(), Utilities: utilities(offer.Outcome),
		})
	}
	return r
}

// Prices is a negotiation over a price on chain. The buyer is party 0, the seller party 1.
type Prices struct {
	// Escrow is the buyer's deposit, in base units of the mint, and MaxRounds the number of offers.
	Escrow    uint64
	MaxRounds int
	// Offers lists the offered prices, in base units. The buyer begins, then the parties alternate.
	Offers []uint64
	// Ranges lists, per offer, the lowest and highest price allowed by the rules. If nil, they are not known.
	Ranges [][2]uint64
	// Agreed reports whether the parties agreed at Price.
	Agreed bool
	Price  uint64
}

// Record returns the record with utilities between 0 and 1: the price relative to the escrow for the seller,
// and the rest for the buyer. An offer's time counts only the side's own offers: 0 for the first and 1 for
// the last possible offer, as in package onchain. It returns [ErrRecord] if a price exceeds the escrow or
// there are more offers than rounds or ranges.
func (p Prices) Record() (Record, error) {
	switch {
	case p.Escrow == 0:
		return Record{}, fmt.Errorf("%w: no escrow", ErrRecord)
	case len(p.Offers) > p.MaxRounds:
		return Record{}, fmt.Errorf("%w: %d offers in %d rounds", ErrRecord, len(p.Offers), p.MaxRounds)
	case p.Ranges != nil && len(p.Ranges) < len(p.Offers):
		return Record{}, fmt.Errorf("%w: %d offers with %d ranges", ErrRecord, len(p.Offers), len(p.Ranges))
	}
	utilities := func(price uint64) [2]float64 {
		share := float64(price) / float64(p.Escrow)
		return [2]float64{1 - share, share}
	}
	r := Record{Agreed: p.Agreed}
	if p.Agreed {
		r.Agreement = utilities(p.Price)
	}
	for round, price := range p.Offers {
		if price > p.Escrow {
			return Record{}, fmt.Errorf("%w: offer %d is above the escrow", ErrRecord, round+1)
		}
		side := round % 2
		last := max((p.MaxRounds+1-side)/2-1, 1)
		offer := Offer{By: side, Time: min(float64(round/2)/float64(last), 1), Utilities: utilities(price)}
		if p.Ranges != nil {
			best := utilities(p.Ranges[round][side])[side]
			offer.AtLimit = offer.Utilities[side] >= best-equal
		}
		r.Offers = append(r.Offers, offer)
	}
	return r, nil
}
