package bidding

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// NiceTitForTat is the bidding of the Nice Tit for Tat agent: it cooperates first. If the opponent has
// conceded a share of the way to the Nash point, it concedes the same share of its own way. Utilities are
// relative to the party's range over all outcomes. If no opponent model is set, it assumes that the Nash
// point is worth 0.7 to the party. The Nash point maximizes the product of the party's gain over the
// reservation value and the model's utility, among up to 1,024 outcomes, evenly spread over the domain.
//
// Source: Baarslag, Hindriks, Jonker: A Tit for Tat Negotiation Strategy for Real-Time Bilateral Negotiations
// (2013); the constants come from GENIUS 10.4 and NegMAS 0.16.
type NiceTitForTat struct{}

// Bidder implements [bargain.Bidding].
func (NiceTitForTat) Bidder(seat bargain.Seat, model bargain.Model) bargain.Bidder {
	p := seat.Preferences
	if _, _, ok := p.Range(); !ok {
		return none{}
	}
	worst, best := p.Bounds()
	n := &nice{seat: seat, model: model, best: best, width: best - worst, bestReceived: bargain.NoOutcome}
	n.reservation = n.relative(p.Reservation())
	return n
}

type nice struct {
	seat         bargain.Seat
	model        bargain.Model
	best, width  fixed.Number
	reservation  fixed.Number
	first, most  fixed.Number // of the offers received
	bestReceived bargain.Outcome
	observed     int
	reason       string
}

func (n *nice) Sent(bargain.Outcome) string { return n.reason }

// relative returns u relative to the utility range over all outcomes.
func (n *nice) relative(u fixed.Number) fixed.Number {
	if n.width <= 0 {
		return fixed.One
	}
	return fixed.One - (n.best-u).Div(n.width).Clamp(0, fixed.One)
}

func (n *nice) Next(state *bargain.State) bargain.Outcome {
	p := n.seat.Preferences
	n.observe(state)
	nash := n.nash()
	target := fixed.One
	if way := nash - n.first; n.bestReceived != bargain.NoOutcome && way > 0 {
		factor := (n.most - n.first).Div(way).Clamp(0, fixed.One)
		target -= factor.Mul(fixed.One - nash)
	}
	if gap := target - nash; gap > 0 {
		target -= n.bonus(state.Time).Mul(gap)
	}
	least, most, _ := p.Range()
	wanted := (n.best - (fixed.One - target).Mul(n.width)).Clamp(least, most)
	o := choose(p, PickModel, wanted, n.seat.Random, n.model)
	// An offer that is worse than the best one received would be a gift.
	if n.bestReceived != bargain.NoOutcome && p.Of(n.bestReceived) >= max(p.Of(o), p.Reservation()) {
		n.reason = "best offer received: the target is not above it"
		return n.bestReceived
	}
	n.reason = "as far towards the Nash point as the other side has come"
	return o
}

func (n *nice) observe(state *bargain.State) {
	for ; n.observed < len(state.History); n.observed++ {
		offer := state.History[n.observed]
		if offer.By == n.seat.Self {
			continue
		}
		u := n.relative(n.seat.Preferences.Of(offer.Outcome))
		if n.bestReceived == bargain.NoOutcome {
			n.first = u
		}
		if n.bestReceived == bargain.NoOutcome || u > n.most {
			n.most, n.bestReceived = u, offer.Outcome
		}
	}
}

// nash returns the party's relative utility for the estimated Nash point, times 1.4 - 0.6 (1 - first offer),
// from 0.5 to 1. If there is no offer yet, the best outcome counts as the first offer.
func (n *nice) nash() fixed.Number {
	const points = 1024
	p := n.seat.Preferences
	own := fixed.One / 10 * 7
	if n.model != nil && n.bestReceived != bargain.NoOutcome {
		size := p.Domain().Size()
		step := max(size/points, 1)
		product := fixed.Number(-1)
		for at := uint64(0); at < size; at += step {
			o := bargain.Outcome(at)
			u := n.relative(p.Of(o))
			if value := (u - n.reservation).Mul(n.model.Of(o)); u >= n.reservation && value > product {
				product, own = value, u
			}
			if at > size-step {
				break
			}
		}
	}
	gap := fixed.Number(0)
	if n.bestReceived != bargain.NoOutcome {
		gap = fixed.One - n.first
	}
	own = own.Mul(fixed.One/10*14 - gap.Scale(6, 10))
	return own.Clamp(max(fixed.One/2, n.reservation), fixed.One)
}

// bonus returns the part of the remaining way to the Nash point that is conceded without reciprocity: 0.5 -
// 0.4 times the discount factor, and towards the deadline up to all.
func (n *nice) bonus(t fixed.Number) fixed.Number {
	discount := n.seat.Preferences.Discount().Factor
	if discount == 0 {
		discount = fixed.One
	}
	start := fixed.One / 100 * 91
	if n.seat.Preferences.Domain().Size() > 3_000 {
		start = fixed.One / 100 * 85
	}
	return max(fixed.One/2-discount.Scale(4, 10), (20*(t-start)).Clamp(0, fixed.One))
}
