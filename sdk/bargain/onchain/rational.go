package onchain

import (
	"sort"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Informed is a strategy that itself considers the rules. A [Player] makes such moves unchanged.
type Informed interface {
	bargain.Strategy
	// Informed marks the strategy.
	Informed()
}

// rational plays a strategy that ignores offer costs, and replaces the moves that lose money under the rules.
// Strategies from the literature assume games with free offers, and can pass up the final offer.
//
//   - In the final turn it accepts any offer at least as good as no agreement.
//   - It accepts offers at least as good as agreement at its own next offer, less this offer's decay.
//   - It makes no offer with an expected cost above the possible gain, assuming that the opponent is as likely
//     to refuse as to accept. It moves the price to where the offer is worth the cost. If there is no such
//     price, it accepts the standing offer or ends the negotiation.
//
// A bond moves the limits: see [Rules.Limit]. The strategy receives no acceptable offer beyond the limit.
// Turns depend on the rounds, not on the clock, so replays always give the same move.
type rational struct {
	strategy bargain.Strategy
	rules    Rules
	// step is [Player].Step.
	step uint64
}

// Start implements [bargain.Strategy].
func (r rational) Start(seat bargain.Seat) bargain.Negotiator {
	p := &rationalParty{
		rules: r.rules, side: Side(seat.Self), preferences: seat.Preferences,
		domain: seat.Preferences.Domain(), n: r.rules.Negotiation(),
	}
	for at := p.domain.Len() - 1; at >= 0; at-- {
		if p.domain.Issue(at).Kind == bargain.KindPrice {
			p.price = at
		}
	}
	seat.Step = p.step(r.step, seat.Steps)
	p.Negotiator = r.strategy.Start(seat)
	for range int(p.side) { // the buyer opens
		Apply(p.n, p.n.Turn(), 0, 0)
	}
	return p
}

// step returns the utility difference between consecutive offers for strategies that concede rank by rank:
// the difference for the given price step. If the price step is zero, it uses half the way from the best
// price to the limit, divided by the steps between all offers, but no less than the decay for an offer and a
// reply. Two sides that both concede half the way meet.
func (p *rationalParty) step(price uint64, offers int) fixed.Number {
	if _, _, ok := p.preferences.Range(); !ok {
		return 0
	}
	_, best := p.preferences.Extremes()
	if price == 0 {
		limit, _ := p.limit(best, 0, 0)
		way := max(limit, p.amount(best)) - min(limit, p.amount(best))
		price = max(way/2/uint64(max(offers-1, 1)), p.n.DecayAfter(2))
	}
	return p.preferences.Of(best) - p.preferences.Of(p.worse(best, price))
}

type rationalParty struct {
	bargain.Negotiator
	rules       Rules
	side        Side
	preferences *bargain.Preferences
	domain      *bargain.Domain
	// price is the price issue's number.
	price int
	// n describes the negotiation at the party's next turn. Costs do not depend on prices.
	n *protocol.Negotiation
	// state is passed to the strategy.
	state bargain.State
}

// Respond implements [bargain.Negotiator]. A course calls it once at each turn of the party.
func (p *rationalParty) Respond(state *bargain.State) bargain.Action {
	fromBond, cost := p.n.BondForDelay(), p.costs()
	p.state = *state
	if state.By == int(p.side) || state.Offer != bargain.NoOutcome && !p.isWorth(state.Offer, fromBond) {
		p.state.Offer, p.state.By = bargain.NoOutcome, -1
	}
	canAccept, standing := p.state.Offer != bargain.NoOutcome, p.state.Offer
	action := p.Negotiator.Respond(&p.state)
	ends := action.Move == bargain.MoveEnd || action.Move == bargain.MoveOffer && !p.isRational(action.Outcome)
	switch {
	case action.Move == bargain.MoveAccept:
		return action
	case canAccept && state.Last:
		return bargain.Accept("at least as good as no agreement, at the last turn")
	case canAccept && ends:
		return bargain.Accept("at least as good as no agreement, which is the alternative")
	case ends || !cost.canOffer:
		return action
	}
	offer, beyond, ok := p.worthItsCost(state, action.Outcome, fromBond, cost)
	switch {
	case canAccept && !ok:
		return bargain.Accept("at least as good as no agreement, and a further offer costs more than it can gain")
	case !ok:
		return bargain.End("a further offer costs more than it can gain")
	case canAccept && p.preferences.Of(standing) >= p.preferences.Of(p.worse(offer, cost.agreed)):
		return bargain.Accept("at least as good as the next offer less its decay")
	case beyond:
		return bargain.Propose(offer, "moved to a price that is worth its cost")
	}
	return action
}

// offerCost is an offer's cost to the offering party in base units.
type offerCost struct {
	// agreed is the cost if the opponent accepts the offer, refused the cost if the opponent answers the offer
	// and no agreement follows.
	agreed, refused uint64
	// canOffer reports whether rounds are left.
	canOffer bool
}

// costs returns the next offer's cost, and advances to the party's next turn.
func (p *rationalParty) costs() offerCost {
	lost := func() uint64 {
		if p.side == Buyer {
			return p.n.Decay() - p.n.BondForDelay()
		}
		return p.n.BondForDelay()
	}
	cost, before, left := offerCost{canOffer: p.n.RoundsLeft() > 0}, lost(), p.n.RoundsLeft()
	if p.side == Buyer {
		cost.agreed = p.n.DecayAfterRound() - p.n.Decay()
	}
	for range min(left, 2) {
		Apply(p.n, p.n.Turn(), 0, 0)
	}
	cost.refused = lost() - before
	return cost
}

func (p *rationalParty) isRational(o bargain.Outcome) bool {
	return p.domain.Has(o) && p.preferences.IsRational(o)
}

// isWorth reports whether agreement on o is at least as good as no agreement.
func (p *rationalParty) isWorth(o bargain.Outcome, fromBond uint64) bool {
	limit, ok := p.limit(o, fromBond, 0)
	if p.side == Buyer {
		return ok && p.amount(o) <= limit
	}
	return ok && p.amount(o) >= limit
}

// limit returns the worst price, given o's remaining issues, where agreement is better than no agreement by
// gain or more. It returns false if no such price exists.
func (p *rationalParty) limit(o bargain.Outcome, fromBond, gain uint64) (price uint64, ok bool) {
	issue := p.domain.Issue(p.price)
	isRational := func(index int) bool {
		return p.preferences.IsRational(p.domain.With(o, p.price, uint64(index)))
	}
	if p.side == Buyer {
		count := sort.Search(int(issue.Count), func(index int) bool { return !isRational(index) })
		if count == 0 {
			return 0, false
		}
		return p.rules.Limit(Buyer, issue.Amount(uint64(count)-1), fromBond+gain)
	}
	first := sort.Search(int(issue.Count), isRational)
	if first == int(issue.Count) {
		return 0, false
	}
	net := issue.Amount(uint64(first))
	return p.rules.Limit(Seller, net-p.n.FeeOn(net)+gain, fromBond)
}

// worthItsCost returns o with the price moved as little as necessary into the offer range, and to where an
// agreement's gain covers a refusal's cost. beyond reports whether the second condition moved the price
// further. It returns false if no such price exists.
func (p *rationalParty) worthItsCost(
	state *bargain.State, o bargain.Outcome, fromBond uint64, cost offerCost,
) (offer bargain.Outcome, beyond, ok bool) {
	limit, ok := p.limit(o, fromBond, cost.agreed+cost.refused)
	price, least, most := p.amount(o), state.Least, state.Most
	if p.side == Buyer {
		beyond, most = price > limit && limit <= most, min(most, limit)
	} else {
		beyond, least = price < limit && limit >= least, max(least, limit)
	}
	if !ok || least > most {
		return o, beyond, false
	}
	if price < least || price > most {
		o = p.priced(o, max(least, min(price, most)))
	}
	return o, beyond, true
}

// amount returns an outcome's price.
func (p *rationalParty) amount(o bargain.Outcome) uint64 {
	return p.domain.Issue(p.price).Amount(p.domain.Value(o, p.price))
}

// worse returns an outcome with a price that is worse for the party by an amount, within the domain.
func (p *rationalParty) worse(o bargain.Outcome, by uint64) bargain.Outcome {
	if by == 0 {
		return o
	}
	if p.side == Buyer {
		return p.priced(o, p.amount(o)+by)
	}
	return p.priced(o, p.amount(o)-min(by, p.amount(o)))
}

// priced returns an outcome with another price, rounded to the tick that is better for the party.
func (p *rationalParty) priced(o bargain.Outcome, amount uint64) bargain.Outcome {
	issue := p.domain.Issue(p.price)
	index := (max(amount, issue.First) - issue.First) / issue.Tick
	if p.side == Seller && issue.Amount(index) < amount {
		index++
	}
	return p.domain.With(o, p.price, min(index, issue.Count-1))
}
