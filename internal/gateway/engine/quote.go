package engine

import (
	"slices"
	"sort"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// renard lists the preferred numbers in series R10 (ISO 3) from 1 to 10, in thousandths.
var renard = [...]uint64{1000, 1250, 1600, 2000, 2500, 3150, 4000, 5000, 6300, 8000}

// roundUp returns the lowest preferred number at or above a price, in whole micro units. The public list of
// these numbers does not depend on any strategy.
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

// walkAway returns the lowest price that the strategy accepts or asks for: the minimum, rounded up, limited
// to the preferred price. Everything that a client can observe depends on the minimum through this number
// alone. A floor equal to the minimum publishes it, so it needs no rounding.
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
	// opening is the price asked in the first round for otherwise preferred terms, preferred the price
	// accepted then, and least the value of both after all concessions. Nothing is sold for less than
	// walkAway.
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

// levels holds the shares that the publisher has not conceded yet: 1 before any concession, 0 after all of
// them.
type levels struct {
	// opening is the level from the preferred price to the opening, and discount from the least price to the
	// preferred price.
	opening, discount fixed.Number
}

// levels returns the levels used to answer a proposal. A client's further negotiations start with the levels
// of the previous negotiation.
func (q quote) levels(state State, proposal terms.Terms) levels {
	if state.Round == 0 && len(state.Proposals) > 0 {
		return q.after(state.Proposals, false)
	}
	return q.after(append(slices.Clip(state.Proposals), proposal), true)
}

// after returns the levels after the client's proposals in the [Memory]. If open is set, the last proposal is
// not answered yet; otherwise all are answered.
//
// All prices from the preferred price on score the same, so the way from the opening to the preferred price
// is no concession: it follows the style's curve alone. A discount is a concession. If the client went a part
// of the way from the first proposal to the preferred price, the publisher goes the same part of its own way,
// as the Nice Tit for Tat agent in package bidding does with the Nash point, but never further than allowed
// by the style's curve at that time. It takes no concession back.
//
// Time counts proposals. Only the first max_rounds have an effect: further negotiations add no patience. Some
// proposals are no concessions, because they do not bind the client, or bound it already: proposals for
// another volume tier, proposals with terms that the strategy does not accept, and earlier proposals whose
// price reached the acceptable price of their time.
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

// worth returns the proposal's price less the surcharge for its terms, but at least the published floor.
func (q quote) worth(proposal terms.Terms) uint64 {
	return max(proposal.Price-min(q.surcharge(proposal), proposal.Price), q.strategy.Floor())
}

// surcharge returns the amount that non-preferred terms add to a price. It outweighs their loss in the score
// for each minimum that the published floor permits.
func (q quote) surcharge(other terms.Terms) uint64 {
	score := q.strategy.scoreFrom(q.walkAway, other)
	missing := ttlWeight + rpsWeight + purposeWeight - uint64(score.TTL+score.RPS+score.Purposes)
	return (missing*(q.preferred-q.strategy.Floor()) + priceWeight - 1) / priceWeight
}

// discounted returns the price at a level from the least to the preferred price, for otherwise preferred
// terms.
func (q quote) discounted(level fixed.Number) uint64 {
	return max(q.least+part(q.preferred-q.least, level), q.walkAway)
}

// prices returns the price to ask for at levels, given the terms apart from the price, and the lowest price
// to accept.
func (q quote) prices(at levels, other terms.Terms) (ask, accept uint64) {
	accept = q.discounted(at.discount) + q.surcharge(other)
	ask = accept + part(q.opening-q.preferred, at.opening)
	return min(ask, q.strategy.MaxPrice), min(accept, q.strategy.MaxPrice)
}

// lowest returns the lowest price that makes a proposal with these terms acceptable, by score or by reaching
// the acceptable price.
func (q quote) lowest(accept uint64, other terms.Terms) uint64 {
	first := q.walkAway
	if q.refuses(first) {
		first = q.preferred
	}
	count := int(q.preferred-first) + 1
	found := sort.Search(count, func(at int) bool {
		other.Price = first + uint64(at)
		return q.strategy.scoreFrom(q.walkAway, other).Total >= q.strategy.AutoAcceptThreshold
	})
	if found == count {
		return accept
	}
	return min(accept, first+uint64(found))
}

// refuses reports whether the style does not sell at a price, whatever the score is: a style without a
// discount sells only from the preferred price on.
func (q quote) refuses(price uint64) bool { return q.parameters.discount == 0 && price < q.preferred }

// within returns the terms with the nearest values that the strategy accepts, except for the price. If no
// purpose is allowed, they contain the preferred purposes, or all allowed purposes if none are preferred.
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
