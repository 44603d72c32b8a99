package llm

import (
	"math"
	"sort"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// bps is 100 percent in basis points.
const bps = 10_000

// band contains the offers that a model may make at a turn: utilities from floor to ceiling, prices from
// least to most.
type band struct {
	preferences *bargain.Preferences
	// floor is not below the reservation value.
	floor, ceiling fixed.Number
	// Prices are in base units.
	least, most uint64
	// price is the index of the price issue, or -1.
	price int
}

// newBand returns the band around the strategy's target, and false without a rational target.
func newBand(a *bargain.Assessment, slackBps, leadBps uint16) (b band, ok bool) {
	b = band{
		preferences: a.Preferences, least: a.State.Least, most: a.State.Most, price: priceOf(a.Preferences.Domain()),
	}
	lowest, highest, rational := a.Preferences.Range()
	if !rational || a.Target == bargain.NoOutcome {
		return b, false
	}
	target, span := a.Preferences.Of(a.Target), highest-lowest
	b.floor = max(target-span.Scale(int64(slackBps), bps), a.Preferences.Reservation())
	b.ceiling = max(min(target+span.Scale(int64(leadBps), bps), highest), b.floor)
	return b, target >= a.Preferences.Reservation()
}

// priceOf returns the index of a domain's first price issue, or -1.
func priceOf(domain *bargain.Domain) int {
	for at := range domain.Len() {
		if domain.Issue(at).Kind == bargain.KindPrice {
			return at
		}
	}
	return -1
}

// has reports whether the band contains an outcome.
func (b *band) has(o bargain.Outcome) bool {
	domain := b.preferences.Domain()
	if !domain.Has(o) {
		return false
	}
	if b.price >= 0 {
		if amount := domain.Issue(b.price).Amount(domain.Value(o, b.price)); amount < b.least || amount > b.most {
			return false
		}
	}
	u := b.preferences.Of(o)
	return u >= b.floor && u <= b.ceiling
}

// The corrections of offers.
const (
	correctedUp    = "raised to the least utility of the band"
	correctedDown  = "lowered to the highest utility of the band"
	correctedRange = "moved into the range of prices"
)

// correct moves an outcome into the band by the smallest change of price, and returns the correction: empty
// for outcomes inside. It returns [bargain.NoOutcome] if no price fits.
func (b *band) correct(o bargain.Outcome) (bargain.Outcome, string) {
	domain := b.preferences.Domain()
	if !domain.Has(o) {
		return bargain.NoOutcome, ""
	}
	if b.has(o) {
		return o, ""
	}
	if b.price < 0 {
		return bargain.NoOutcome, ""
	}
	index, found := b.nearest(o, domain.Value(o, b.price))
	if !found {
		return bargain.NoOutcome, ""
	}
	correction := correctedRange
	switch u := b.preferences.Of(o); {
	case u < b.floor:
		correction = correctedUp
	case u > b.ceiling:
		correction = correctedDown
	}
	return domain.With(o, b.price, index), correction
}

// scanned bounds the search of utilities without a known direction, in prices.
const scanned = 10_000

// nearest returns the price nearest to index that brings an outcome into the band.
func (b *band) nearest(o bargain.Outcome, index uint64) (uint64, bool) {
	first, last, ok := b.interval(o)
	if ok {
		return max(first, min(index, last)), true
	}
	count := b.preferences.Domain().Issue(b.price).Count
	if b.direction() != 0 || count > scanned {
		return 0, false
	}
	for distance := range count {
		if index >= distance && b.hasPrice(o, index-distance) {
			return index - distance, true
		}
		if index+distance < count && b.hasPrice(o, index+distance) {
			return index + distance, true
		}
	}
	return 0, false
}

func (b *band) hasPrice(o bargain.Outcome, index uint64) bool {
	return b.has(b.preferences.Domain().With(o, b.price, index))
}

// direction returns 1 if utilities rise with the price, -1 if they fall, and 0 if unknown.
func (b *band) direction() int {
	if additive, is := b.preferences.Utility().(bargain.Additive); is && b.price >= 0 {
		return additive.Direction(b.price)
	}
	return 0
}

// interval returns the first and last index of prices that bring an outcome into the band. It returns false
// if none does, or the direction is unknown.
func (b *band) interval(o bargain.Outcome) (first, last uint64, ok bool) {
	direction := b.direction()
	if direction == 0 {
		return 0, 0, false
	}
	domain := b.preferences.Domain()
	issue := domain.Issue(b.price)
	of := func(index uint64) fixed.Number { return b.preferences.Of(domain.With(o, b.price, index)) }
	// from returns the first price that meets a condition; all higher ones must meet it, too.
	from := func(holds func(index uint64) bool) uint64 {
		return uint64(sort.Search(int(min(issue.Count, math.MaxInt)), func(at int) bool { return holds(uint64(at)) }))
	}
	first = from(func(at uint64) bool { return issue.Amount(at) >= b.least })
	after := from(func(at uint64) bool { return issue.Amount(at) > b.most })
	if direction > 0 {
		first = max(first, from(func(at uint64) bool { return of(at) >= b.floor }))
		after = min(after, from(func(at uint64) bool { return of(at) > b.ceiling }))
	} else {
		first = max(first, from(func(at uint64) bool { return of(at) <= b.ceiling }))
		after = min(after, from(func(at uint64) bool { return of(at) < b.floor }))
	}
	return first, after - min(after, 1), first < after
}
