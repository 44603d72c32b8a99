package engine

import (
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// renard are the preferred numbers of the series R10 (ISO 3) between 1 and 10, in thousandths.
var renard = [...]uint64{1000, 1250, 1600, 2000, 2500, 3150, 4000, 5000, 6300, 8000}

// roundUp returns the lowest preferred number that is not below a price, in whole micro units. The public
// list of these numbers does not depend on any strategy.
func roundUp(price uint64) uint64 {
	if price == 0 {
		return 0
	}
	for scale := uint64(1); ; scale *= 10 {
		for _, number := range renard {
			if rounded := (number*scale + 999) / 1000; rounded >= price {
				return rounded
			}
		}
	}
}

// target returns the lowest price that the strategy accepts or asks for: the minimum, rounded up, but no more
// than the preferred price. All that a client can observe depends on the minimum through this number alone.
// A floor equal to the minimum publishes it, so it needs no rounding.
func (s *Strategy) target(preferred uint64) uint64 {
	if s.Floor() == s.MinPrice {
		return s.MinPrice
	}
	return min(roundUp(s.MinPrice), preferred)
}

// asking is the publisher's side for a number of prepaid fetches. Only the target depends on the minimum.
type asking struct {
	strategy   *Strategy
	parameters parameters
	// opening is the price asked in the first round for preferred other terms.
	opening, preferred, target uint64
}

func (s *Strategy) asking(prepaid uint64) asking {
	a := asking{strategy: s, parameters: s.Style.parameters(), preferred: s.preferredPrice(prepaid)}
	a.target = s.target(a.preferred)
	if share := a.parameters.opening; share >= 0 {
		a.opening = a.preferred + part(s.MaxPrice-a.preferred, share)
	} else {
		a.opening = a.preferred - part(a.preferred-a.target, -share)
	}
	return a
}

// part returns a share of a price, rounded half up.
func part(price uint64, share fixed.Number) uint64 { return uint64(fixed.Number(price).Mul(share)) }

// price returns the price that is asked in a round, from 1, for preferred other terms. It falls from the
// opening to the target, which it reaches in the last round. If there is only one round, it is the opening.
func (a asking) price(round uint32) uint64 {
	var time fixed.Number
	if last := a.strategy.MaxRounds; last > 1 {
		time = fixed.Ratio(int64(round)-1, int64(last)-1)
	}
	return a.target + part(a.opening-a.target, a.parameters.concession.Level(time))
}

// surcharge returns the amount that terms other than the preferred ones add to a price: the price that
// outweighs their loss in the score.
func (a asking) surcharge(other terms.Terms) uint64 {
	score := a.strategy.scoreFrom(a.target, other)
	missing := ttlWeight + rpsWeight + purposeWeight - uint64(score.TTL+score.RPS+score.Purposes)
	return (missing*(a.preferred-a.target) + priceWeight - 1) / priceWeight
}

// prices returns the price to ask for in a round for other terms, and the lowest price to accept.
func (a asking) prices(round uint32, other terms.Terms) (ask, accept uint64) {
	price, surcharge := a.price(round), a.surcharge(other)
	willing := price - part(price-a.target, a.parameters.willingness)
	return min(price+surcharge, a.strategy.MaxPrice), min(willing+surcharge, a.strategy.MaxPrice)
}

// within returns the terms with the nearest values that the strategy accepts, except for the price. If no
// purpose is allowed, they have the preferred ones, or all allowed ones if none are preferred.
func (s *Strategy) within(t terms.Terms) terms.Terms {
	t.TTLSeconds = min(max(t.TTLSeconds, s.MinTTLSeconds), s.MaxTTLSeconds)
	t.BurstRPS = min(max(t.BurstRPS, s.MinBurstRPS), s.MaxBurstRPS)
	purposes := common(t.Purposes, s.AllowedPurposes)
	if len(purposes) == 0 {
		purposes = s.PreferredPurposes
	}
	if len(purposes) == 0 {
		purposes = s.AllowedPurposes
	}
	t.Purposes = purposes
	return t.Normal()
}
