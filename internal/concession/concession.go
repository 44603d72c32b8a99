// Package concession is the simplest way to bargain: from an opening price, a party concedes in equal steps
// to its reservation price, its last offer. Beyond that price no deal is better than a deal.
package concession

import "math/bits"

// Linear is a party's plan. Prices are base units of the mint; a buyer's rise and a seller's fall.
type Linear struct {
	Opening     uint64
	Reservation uint64
	// Offers is the number of offers that the party can make. A single offer has the reservation price.
	Offers uint64
}

// Price returns the price of the party's offer with this index, the first being 0; after the last it is the
// reservation price. Steps that do not come out even are rounded towards the opening.
func (l Linear) Price(index uint64) uint64 {
	if index+1 >= l.Offers {
		return l.Reservation
	}
	if l.Opening <= l.Reservation {
		return l.Opening + share(l.Reservation-l.Opening, index, l.Offers-1)
	}
	return l.Opening - share(l.Opening-l.Reservation, index, l.Offers-1)
}

// share returns floor(amount * part / whole) for part < whole, exactly.
func share(amount, part, whole uint64) uint64 {
	high, low := bits.Mul64(amount, part)
	quotient, _ := bits.Div64(high, low, whole)
	return quotient
}
