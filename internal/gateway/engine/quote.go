package engine

import (
	"slices"
	"sort"

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

// walkAway returns the lowest price that the strategy accepts or asks for: the minimum, rounded up, but no more
// than the preferred price. All that a client can observe depends on the minimum through this number alone.
// A floor equal to the minimum publishes it, so it needs no rounding.
func (s *Strategy) walkAway(preferred uint64) uint64 {
	if s.Floor() == s.MinPrice {
		return s.MinPrice
	}
	return min(roundUp(s.MinPrice), preferred)
}

// quote is the publisher's side for a number of prepaid fetches. Only walkAway depends on the minimum.
type quote struct {
	strategy   *Strategy
	parameters parameters
	// opening is the price asked in the first round for preferred other terms, preferred the price accepted in it,
	// and least the price of both after all concessions. None is sold below walkAway.
	opening, preferred, least, walkAway uint64
}

func (s *Strategy) quote(prepaid uint64) quote {
	q := quote{strategy: s, parameters: s.Style.parameters(), preferred: s.preferredPrice(prepaid)}
	q.opening = q.preferred + part(s.MaxPrice-q.preferred, q.parameters.opening)
	q.least = q.preferred - part(q.preferred, q.parameters.discount)
	q.walkAway = s.walkAway(q.preferred)
	return q
}

// part returns a share of a price, rounded half up.
func part(price uint64, share fixed.Number) uint64 { return uint64(fixed.Number(price).Mul(share)) }

// levels are the shares that the publisher has not conceded yet: 1 before any concession, 0 after all of them.
type levels struct {
	// opening is the level between the preferred price and the opening, and discount the level between the least
	// price and the preferred one.
	opening, discount fixed.Number
}

// levels returns the levels at which a proposal is answered. A further negotiation of a client starts with the
// levels of its last one.
func (q quote) levels(state State, proposal terms.Terms) levels {
	if state.Round == 0 && len(state.Proposals) > 0 {
		return q.after(state.Proposals, false)
	}
	return q.after(append(slices.Clip(state.Proposals), proposal), true)
}

// after returns the levels after the client's proposals in the [Memory]. If open is set, the last proposal has no
// answer yet; otherwise all have one.
//
// Prices from the preferred one on have the same score, so the way from the opening to the preferred price is no
// concession: it follows the style's curve alone. A discount is a concession. If the client has gone a part of the
// way from its first proposal to the preferred price, the publisher goes the same part of its own way, as the Nice
// Tit for Tat agent of package bidding does with the Nash point, but not further than the style's curve allows at
// that time. It takes no concession back.
//
// The time is the number of proposals, of which the first max_rounds have an effect: a further negotiation adds no
// patience. These proposals are no concessions, because they do not bind the client, or have bound it already:
// those for another volume tier, those with terms that the strategy does not accept, and earlier ones whose price
// reached the acceptable price of their time.
func (q quote) after(proposals []terms.Terms, open bool) levels {
	level, first, known := fixed.One, uint64(0), false
	if patience := int(q.strategy.MaxRounds); len(proposals) > patience {
		proposals, open = proposals[:patience], false
	}
	for index, proposal := range proposals {
		if q.strategy.preferredPrice(proposal.PrepaidFetches) != q.preferred ||
			!proposal.Matches(q.strategy.within(proposal)) {
			continue
		}
		worth := q.worth(proposal)
		if !known {
			first, known = worth, true
		}
		conceded := min(level, max(q.aspiration(index), fixed.One-q.conceded(first, worth)))
		if (open && index == len(proposals)-1) || worth < q.discounted(conceded) {
			level = conceded
		}
	}
	return levels{q.aspiration(len(proposals) - 1), level}
}

// aspiration returns the level of the style's curve at a proposal, from 0.
func (q quote) aspiration(index int) fixed.Number {
	var time fixed.Number
	if last := q.strategy.MaxRounds; last > 1 {
		time = fixed.Ratio(int64(index), int64(last)-1)
	}
	return q.parameters.aspiration.Level(time)
}

// conceded returns the part of the way from the worth of the first proposal to the preferred price.
func (q quote) conceded(first, worth uint64) fixed.Number {
	switch {
	case worth <= first:
		return 0
	case worth >= q.preferred:
		return fixed.One
	}
	return fixed.Ratio(int64(worth-first), int64(q.preferred-first))
}

// worth returns the price of a proposal less the surcharge of its other terms, but at least the published floor.
func (q quote) worth(proposal terms.Terms) uint64 {
	return max(proposal.Price-min(q.surcharge(proposal), proposal.Price), q.strategy.Floor())
}

// surcharge returns the amount that terms other than the preferred ones add to a price: a price that outweighs
// their loss in the score for each minimum that the published floor permits.
func (q quote) surcharge(other terms.Terms) uint64 {
	score := q.strategy.scoreFrom(q.walkAway, other)
	missing := ttlWeight + rpsWeight + purposeWeight - uint64(score.TTL+score.RPS+score.Purposes)
	return (missing*(q.preferred-q.strategy.Floor()) + priceWeight - 1) / priceWeight
}

// discounted returns the price at a level between the least and the preferred price, for preferred other terms.
func (q quote) discounted(level fixed.Number) uint64 {
	return max(q.least+part(q.preferred-q.least, level), q.walkAway)
}

// prices returns the price to ask for at levels for other terms, and the lowest price to accept.
func (q quote) prices(at levels, other terms.Terms) (ask, accept uint64) {
	accept = q.discounted(at.discount) + q.surcharge(other)
	ask = accept + part(q.opening-q.preferred, at.opening)
	return min(ask, q.strategy.MaxPrice), min(accept, q.strategy.MaxPrice)
}

// lowest returns the lowest price at which a proposal with these other terms is accepted, by its score or because it
// reaches the acceptable price.
func (a quote) lowest(accept uint64, other terms.Terms) uint64 {
	first := a.walkAway
	if a.refuses(first) {
		first = a.preferred
	}
	count := int(a.preferred-first) + 1
	found := sort.Search(count, func(at int) bool {
		other.Price = first + uint64(at)
		return a.strategy.scoreFrom(a.walkAway, other).Total >= a.strategy.AutoAcceptThreshold
	})
	if found == count {
		return accept
	}
	return min(accept, first+uint64(found))
}

// refuses reports whether the style does not sell at a price, whatever its score is: a style without a discount
// sells only from the preferred price on.
func (q quote) refuses(price uint64) bool { return q.parameters.discount == 0 && price < q.preferred }

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
