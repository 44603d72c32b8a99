package onchain

import (
	"sort"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Informed is a strategy that decides by the rules itself. A [Player] makes its moves as they are.
type Informed interface {
	bargain.Strategy
	// Informed marks the strategy.
	Informed()
}

// rational plays a strategy that does not know what an offer costs, and replaces the moves that lose money under the
// rules. Strategies of the literature play in games where offers are free, and can let the last offer go.
//
//   - At its last turn it accepts any offer that is at least as good as no agreement.
//   - It accepts an offer that is at least as good as an agreement at its own next offer, less that offer's decay.
//   - It makes no offer that is expected to cost more than it can gain, if the other side is as likely to refuse it as
//     to accept it. It moves the price to one that is worth the cost. If there is none, it accepts the standing offer
//     or ends the negotiation.
//
// A bond moves the limits: see [Rules.Limit]. The strategy sees no offer beyond its limit as one to accept. Turns follow
// from the rounds and not from the clock, so that a move is the same whenever it is replayed.
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

// step returns the difference of utility between two offers of a strategy that concedes rank by rank: that of a price
// step, or if that is zero, that of half of the way from the best price to the limit, divided by the steps between all
// offers, but at least the decay of an offer and its answer. Two sides that concede half of the way each meet.
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
	// price is the number of the price's issue.
	price int
	// n is the negotiation at the party's next turn. Its costs do not depend on the prices.
	n *protocol.Negotiation
	// state is the state that the strategy receives.
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

// offerCost is the cost of an offer to the party that makes it, in base units.
type offerCost struct {
	// agreed is the cost if the other side accepts the offer, and refused the cost if it answers the offer and
	// there is no agreement.
	agreed, refused uint64
	// canOffer reports whether rounds are left.
	canOffer bool
}

// costs returns the cost of the next offer, and goes on to the party's next turn.
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

// isWorth reports whether an agreement on an outcome is at least as good as none.
func (p *rationalParty) isWorth(o bargain.Outcome, fromBond uint64) bool {
	limit, ok := p.limit(o, fromBond, 0)
	if p.side == Buyer {
		return ok && p.amount(o) <= limit
	}
	return ok && p.amount(o) >= limit
}

// limit returns the worst price, with the other issues of an outcome, of an agreement that is better than none by at
// least a gain. It returns false if there is none.
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

// worthItsCost returns an outcome with its price moved as little as necessary into the range of offers, and to where the
// gain of an agreement is at least the cost of a refusal. Beyond reports whether the latter moved it further. It
// returns false if there is no such price.
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

// amount returns the price of an outcome.
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
