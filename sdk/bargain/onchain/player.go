package onchain

import (
	"errors"
	"math"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Player is a party of a negotiation: a strategy with preferences over the prices of [Domain], or, for
// [Player.Replay] only, over another domain with a price in base units of the mint. Unless the strategy is [Informed],
// the player replaces moves that lose money under the rules: at its last turn it accepts an offer at least as good as no
// agreement, and it makes no offer that is expected to cost more decay than it can gain.
type Player struct {
	Strategy    bargain.Strategy
	Preferences *bargain.Preferences
	// Opening is the utility of the price from which a strategy with a curve concedes: see [Preferences]. If
	// zero, it is the best price.
	Opening fixed.Number
	// Step is the difference between two prices of a strategy that concedes rank by rank, as bidding.MiCRO does, in
	// base units of the mint. If zero, it follows from the rounds and the decay: half of the way from the best price to
	// the reservation price, divided by the steps between the side's offers, but at least the decay of an offer and its
	// answer. A step of one base unit would cost more decay than it concedes.
	Step uint64
	// MaxTotal is the most that a buyer pays in all, price and decay, in base units of the mint: its offers
	// are lowered to what the decay leaves of it, and it accepts no offer above that. If zero, only the
	// escrow limits the total.
	MaxTotal uint64
	// Refuse reports whether the standing offer cannot be accepted, because of its terms beside the price.
	// The strategy then sees its price, but no offer to accept.
	Refuse bool
	// Delay is the time that an answer takes in a simulation, in seconds.
	Delay int64
	// Observe is called with each move in a simulation. If nil, it is not called.
	Observe func(bargain.Action)
}

// ErrUncovered reports that a seller's reservation price and the fee exceed the highest price of [Domain],
// which is the escrow, rounded down to the tick.
var ErrUncovered = errors.New("onchain: the escrow does not cover the reservation price")

// Ruled is a strategy that depends on the rules and on its side's reservation price.
type Ruled interface {
	bargain.Strategy
	// Under returns the strategy of a side. Own is its reservation price in base units of the mint, a seller's
	// the least amount after the fee.
	Under(r Rules, side Side, own uint64) bargain.Strategy
}

// Player returns the player of a strategy. Opening and reservation are prices in base units of the mint. A
// seller's reservation is the least amount after the fee. Player returns [ErrUncovered] if the domain
// has no price that covers it and the fee.
func (r Rules) Player(
	s bargain.Strategy, side protocol.OfferSide, opening, reservation uint64,
) (Player, error) {
	domain, err := Domain(r.Escrow)
	if err != nil {
		return Player{}, err
	}
	if ruled, is := s.(Ruled); is {
		s = ruled.Under(r, side, reservation)
	}
	reservation, _ = r.Limit(side, reservation, 0)
	prices := domain.Issue(0)
	if side == protocol.OfferSideSeller && reservation > prices.Amount(prices.Count-1) {
		return Player{}, ErrUncovered
	}
	preferences, at, err := Preferences(domain, side, opening, reservation)
	return Player{Strategy: s, Preferences: preferences, Opening: at}, err
}

// Limit returns the worst price of an agreement that is as good for a side as none. Reservation is the most that a
// buyer pays, or the least that a seller receives after the fee, and fromBond the part of the seller's bond that the
// buyer gets without an agreement: see [protocol.Negotiation.BondForDelay]. Both sides' limits fall by it, because the
// buyer loses it by an agreement, and the seller saves it. Limit returns false for a buyer that gets more from the bond
// than its reservation, so that no price is as good.
func (r Rules) Limit(side Side, reservation, fromBond uint64) (price uint64, ok bool) {
	left := reservation - min(reservation, fromBond)
	if side == Buyer {
		return left, reservation >= fromBond
	}
	return Gross(&protocol.Negotiation{ProtocolFeeBps: r.FeeBps}, left), true
}

func (p *Player) check(r Rules) error {
	if p.Strategy == nil || p.Preferences == nil {
		return errors.New("strategy or preferences not set")
	}
	domain := p.Preferences.Domain()
	want, err := Domain(r.Escrow)
	switch {
	case err != nil:
		return err
	case domain.Len() != 1 || domain.Size() != want.Size() || domain.Issue(0).Tick != want.Issue(0).Tick ||
		domain.Issue(0).First != 0 || domain.Issue(0).Kind != bargain.KindPrice:
		return errors.New("the preferences' domain is not that of the escrow")
	case p.Delay < 0:
		return errors.New("the delay is negative")
	}
	return nil
}

// Offer is a past offer of a negotiation.
type Offer struct {
	Side protocol.OfferSide
	// Amount is the price in base units of the mint.
	Amount uint64
}

// Respond returns a side's move in a negotiation at its turn. Offers are all offers so far, the oldest first.
//
// A price between two ticks counts as the worse of them for the player. The midpoint of revealed prices is
// an offer that a strategy can accept. For the rest see [Player.Replay].
func (p *Player) Respond(
	n *protocol.Negotiation, side protocol.OfferSide, offers []Offer, seed uint64,
) bargain.Action {
	outcomes, standing := p.Outcomes(n, side, offers)
	return p.Replay(n, side, outcomes, standing, seed)
}

// Outcomes returns the outcomes of all offers so far, the oldest first, and the offer that a side can accept at
// its turn: the arguments of [Player.Replay] for [Player.Respond].
func (p *Player) Outcomes(
	n *protocol.Negotiation, side protocol.OfferSide, offers []Offer,
) (outcomes []bargain.Outcome, standing bargain.Outcome) {
	outcomes, standing = make([]bargain.Outcome, len(offers)), bargain.NoOutcome
	for i, offer := range offers {
		outcomes[i] = p.outcome(side, offer.Amount)
		standing = outcomes[i]
	}
	switch {
	case p.Refuse:
		standing = bargain.NoOutcome
	case n.HasMidpoint():
		standing = p.outcome(side, n.CurrentOfferAmount)
	}
	if !p.CanPay(n, side) {
		standing = bargain.NoOutcome
	}
	return outcomes, standing
}

// CanPay reports whether the current offer and the decay so far are within MaxTotal. A seller can always
// accept.
func (p *Player) CanPay(n *protocol.Negotiation, side protocol.OfferSide) bool {
	return n.CurrentOfferAmount <= p.most(side, n.Decay())
}

// most returns the highest price of a side after a decay.
func (p *Player) most(side protocol.OfferSide, decay uint64) uint64 {
	if p.MaxTotal == 0 || side != protocol.OfferSideBuyer {
		return math.MaxUint64
	}
	return p.MaxTotal - min(decay, p.MaxTotal)
}

// Replay returns a side's move in a negotiation at its turn, over any domain. Outcomes are those of all
// offers so far, the oldest first; [bargain.NoOutcome] is one that the player does not know. Standing is the
// offer that it can accept; NoOutcome if there is none.
//
// It starts the strategy from the seed and plays the side's earlier turns again, so that the result follows
// from the arguments alone: it is the same after a restart, and for anyone who verifies it. Prices stay in
// the range of the program: see [bargain.Course.Respond], and [bargain.Course] for the strategy's time.
func (p *Player) Replay(
	n *protocol.Negotiation, side protocol.OfferSide, outcomes []bargain.Outcome, standing bargain.Outcome,
	seed uint64,
) bargain.Action {
	return p.start(RulesOf(n, n.CreatedAt), side, seed).Play(outcomes, standing, p.ranges(n, side))
}

// Assess returns a side's assessment of its turn in a negotiation. The arguments are those of Replay.
func (p *Player) Assess(
	n *protocol.Negotiation, side protocol.OfferSide, outcomes []bargain.Outcome, standing bargain.Outcome,
	seed uint64,
) bargain.Assessment {
	return bargain.Assess(standing, func(standing bargain.Outcome) *bargain.Course {
		course := p.start(RulesOf(n, n.CreatedAt), side, seed)
		course.Play(outcomes, standing, p.ranges(n, side))
		return course
	})
}

// ranges returns a function that returns the range of a side's offers in each round, in their order.
func (p *Player) ranges(n *protocol.Negotiation, side protocol.OfferSide) func() (least, most uint64) {
	replay := RulesOf(n, n.CreatedAt).Negotiation()
	return func() (least, most uint64) {
		least, most = replay.OfferRange()
		most = min(most, p.most(side, replay.DecayAfterRound()))
		Apply(replay, replay.Turn(), 0, 0) // the range of the next offer does not depend on the price
		return least, most
	}
}

// start returns the course of the player before the first round.
func (p *Player) start(r Rules, side protocol.OfferSide, seed uint64) *bargain.Course {
	s := p.Strategy
	if _, is := s.(Informed); !is {
		s = rational{s, r, p.Step}
	}
	return bargain.NewCourse(s, p.Preferences, int(side), int(r.MaxRounds), p.Opening, seed)
}

// outcome returns the number of a price, rounded to the tick that is worse for the side.
func (p *Player) outcome(side protocol.OfferSide, amount uint64) bargain.Outcome {
	return outcomeOf(p.Preferences.Domain().Issue(0), amount, side == protocol.OfferSideBuyer)
}

// outcomeOf returns the number of a price, rounded up or down to the tick; above the domain the last number.
func outcomeOf(issue *bargain.Issue, amount uint64, up bool) bargain.Outcome {
	index := amount / issue.Tick
	if up && amount%issue.Tick != 0 {
		index++
	}
	return bargain.Outcome(min(index, issue.Count-1))
}
