package player

import (
	"slices"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
)

// A player's gain from a package is that of its own legs. A purchase of a token at a price is worth the same as the
// sale of the other token at the rest of a set's price, so that all own legs count as sales, and their mean price is
// the package's utility. Of packages with the same mean price, the player offers one with few changes to the standing
// package: other members have agreed to it.

// asSale returns the price of a player's own leg, or of the other token if it buys.
func asSale(leg arena.Leg, self string) arena.Price {
	if leg.Buyer == self {
		return arena.MinPrice + arena.MaxPrice - leg.Price
	}
	return leg.Price
}

// isOwn reports whether a player is a party of a leg.
func isOwn(leg arena.Leg, self string) bool { return leg.Buyer == self || leg.Seller == self }

// sideOf returns the side of a player's own leg.
func sideOf(leg arena.Leg, self string) arena.Side {
	if leg.Buyer == self {
		return arena.Buy
	}
	return arena.Sell
}

// total returns the quantity of a player's own legs, and the sum of their prices as sales.
func total(legs []arena.Leg, self string) (quantity arena.Quantity, sum uint64) {
	for _, leg := range legs {
		if isOwn(leg, self) {
			quantity += leg.Quantity
			sum += uint64(asSale(leg, self)) * uint64(leg.Quantity)
		}
	}
	return quantity, sum
}

// meanPrice returns the mean price of a player's own legs as sales, weighted by quantity and rounded down.
func meanPrice(legs []arena.Leg, self string) arena.Price {
	quantity, sum := total(legs, self)
	if quantity == 0 {
		return arena.MinPrice
	}
	return arena.Price(sum / uint64(quantity))
}

// hasLimits reports whether the player is a party of a package, and has a limit for each of its own legs.
func (p *Player) hasLimits(legs []arena.Leg, desk *trader.Desk) bool {
	own := 0
	for _, leg := range legs {
		if !isOwn(leg, desk.Self) {
			continue
		}
		if _, possible := p.limit(sideOf(leg, desk.Self), leg.Token, desk.View.Price); !possible {
			return false
		}
		own++
	}
	return own > 0
}

// atLimits returns a package with the player's limits, and with its first prices, as the prices of its own legs.
func (p *Player) atLimits(legs []arena.Leg, desk *trader.Desk) (limits, openings []arena.Leg) {
	limits, openings = slices.Clone(legs), slices.Clone(legs)
	for i, leg := range legs {
		if isOwn(leg, desk.Self) {
			side := sideOf(leg, desk.Self)
			limit, _ := p.limit(side, leg.Token, desk.View.Price)
			limits[i].Price, openings[i].Price = limit, opening(side, limit)
		}
	}
	return limits, openings
}

// isWithinLimits reports whether each own leg of a package has at least the player's limit, and the trader's limits
// permit all of them together.
func (p *Player) isWithinLimits(legs []arena.Leg, turn *trader.Turn) bool {
	limits, _ := p.atLimits(legs, &turn.Desk)
	for i, leg := range legs {
		if isOwn(leg, turn.Self) && asSale(leg, turn.Self) < asSale(limits[i], turn.Self) {
			return false
		}
	}
	return turn.Permits(legs, turn.Chat.Number) == nil
}

// fit returns a package with at least a mean price for the player and within its limits. It changes the player's own
// legs only: their prices by as few ticks each as possible, and their quantities if they are more than the player
// trades or its money allows. It returns nil if there is no such package.
func (p *Player) fit(base []arena.Leg, mean arena.Price, turn *trader.Turn) []arena.Leg {
	for most := p.personality.Size; most > 0; most-- {
		legs := slices.Clone(base)
		for i := range legs {
			if isOwn(legs[i], turn.Self) {
				legs[i].Quantity = min(legs[i].Quantity, most)
			}
		}
		p.raise(legs, mean, &turn.Desk)
		if p.isWithinLimits(legs, turn) {
			return legs
		}
	}
	return nil
}

// raise raises the prices of the player's own legs as sales to its limits, and then all of them in turn by a tick until
// they have the mean price.
func (p *Player) raise(legs []arena.Leg, mean arena.Price, desk *trader.Desk) {
	limits, _ := p.atLimits(legs, desk)
	for i := range legs {
		if isOwn(legs[i], desk.Self) && asSale(legs[i], desk.Self) < asSale(limits[i], desk.Self) {
			legs[i].Price = limits[i].Price
		}
	}
	for i := 0; meanPrice(legs, desk.Self) < mean; i = (i + 1) % len(legs) {
		switch leg := &legs[i]; {
		case !isOwn(*leg, desk.Self) || asSale(*leg, desk.Self) == arena.MaxPrice:
		case leg.Buyer == desk.Self:
			leg.Price--
		default:
			leg.Price++
		}
	}
}
