package player

import (
	"slices"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
)

// A player gains from a package through own legs only. Buying YES at a price is worth the same as selling NO
// at the set price minus that price, and vice versa, so all own legs count as sales, and their mean price is
// the package's utility. Among packages with the same mean price, the player offers a package with few
// changes to the standing package: other members have agreed to it.

// asSale returns the own leg's price, or the opposite token's price if the player buys.
func asSale(leg arena.Leg, self string) arena.Price {
	if leg.Buyer == self {
		return arena.MinPrice + arena.MaxPrice - leg.Price
	}
	return leg.Price
}

// isOwn reports whether the player is a party to the leg.
func isOwn(leg arena.Leg, self string) bool { return leg.Buyer == self || leg.Seller == self }

// sideOf returns the player's side in an own leg.
func sideOf(leg arena.Leg, self string) arena.Side {
	if leg.Buyer == self {
		return arena.Buy
	}
	return arena.Sell
}

// total returns the own legs' quantity, and the sum of their prices as sales.
func total(legs []arena.Leg, self string) (quantity arena.Quantity, sum uint64) {
	for _, leg := range legs {
		if isOwn(leg, self) {
			quantity += leg.Quantity
			sum += uint64(asSale(leg, self)) * uint64(leg.Quantity)
		}
	}
	return quantity, sum
}

// meanPrice returns the own legs' mean price as sales, weighted by quantity and rounded down.
func meanPrice(legs []arena.Leg, self string) arena.Price {
	quantity, sum := total(legs, self)
	if quantity == 0 {
		return arena.MinPrice
	}
	return arena.Price(sum / uint64(quantity))
}

// hasLimits reports whether the player is a party to the package, with limits for all own legs.
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

// atLimits returns the package twice, pricing own legs at the player's limits and at the first prices.
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

// isWithinLimits reports whether all own legs in the package satisfy the player's limit, and the trader's
// limits permit all own legs together.
func (p *Player) isWithinLimits(legs []arena.Leg, turn *trader.Turn) bool {
	limits, _ := p.atLimits(legs, &turn.Desk)
	for i, leg := range legs {
		if isOwn(leg, turn.Self) && asSale(leg, turn.Self) < asSale(limits[i], turn.Self) {
			return false
		}
	}
	return turn.Permits(legs, turn.Chat.Number) == nil
}

// fit returns a package that reaches the mean price for the player, within all limits. It changes the
// player's own legs only: their prices by as few ticks each as possible, and their quantities if above the
// player's trade size or money. It returns nil if no such package exists.
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

// raise raises the own legs' prices as sales to the player's limits, and then each in turn by a tick until
// the mean price is reached.
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
