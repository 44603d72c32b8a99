package onchain

import (
	"errors"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Player is a party of a negotiation: a strategy with preferences over the prices of [Domain].
type Player struct {
	Strategy    bargain.Strategy
	Preferences *bargain.Preferences
	// Opening is the utility of the price from which a strategy with a curve concedes: see [Preferences]. If
	// zero, it is the best price.
	Opening fixed.Number
	// Refuse reports whether the standing offer cannot be accepted, because of its terms beside the price.
	// The strategy then sees its price, but no offer to accept.
	Refuse bool
	// Delay is the time that an answer takes in a simulation, in seconds.
	Delay int64
	// Observe is called with each move in a simulation. If nil, it is not called.
	Observe func(bargain.Action)
}

// ErrUncovered reports that a seller's reservation price and the fee exceed the escrow.
var ErrUncovered = errors.New("onchain: the escrow does not cover the reservation price")

// Player returns the player of a strategy. Opening and reservation are prices in base units of the mint. A
// seller's reservation is the least amount after the fee. Player returns [ErrUncovered] if the escrow does
// not cover it and the fee.
func (r Rules) Player(
	s bargain.Strategy, side protocol.OfferSide, opening, reservation uint64,
) (Player, error) {
	domain, err := Domain(r.Escrow)
	if err != nil {
		return Player{}, err
	}
	reservation = r.Limit(side, reservation)
	if side == protocol.OfferSideSeller && reservation > r.Escrow {
		return Player{}, ErrUncovered
	}
	preferences, at, err := Preferences(domain, side, opening, reservation)
	return Player{Strategy: s, Preferences: preferences, Opening: at}, err
}

// Limit returns the price of a reservation: a buyer's own, a seller's with the fee.
func (r Rules) Limit(side protocol.OfferSide, reservation uint64) uint64 {
	if side == protocol.OfferSideBuyer {
		return reservation
	}
	return Gross(&protocol.Negotiation{ProtocolFeeBps: r.FeeBps}, reservation)
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
// It starts the strategy from the seed and plays the side's earlier turns again, so that the result follows
// from the arguments alone: it is the same after a restart, and for anyone who verifies it. An offer outside
// the range of the next one is moved into it. The move is [bargain.MoveEnd] if the offer is below the
// reservation value, as NegMAS' wasting strategies make them, or if no rounds are left. The midpoint of
// revealed prices is an offer that a strategy can accept.
//
// A strategy's time is that of its own offers: 0 at the first, and [fixed.One] at the last and when no rounds
// are left.
func (p *Player) Respond(
	n *protocol.Negotiation, side protocol.OfferSide, offers []Offer, seed uint64,
) bargain.Action {
	c := p.start(n, side, seed)
	replay := RulesOf(n).Negotiation()
	for round := 0; ; round++ {
		switch {
		case round == len(offers):
			if p.Refuse {
				c.state.Offer, c.state.By = bargain.NoOutcome, -1
			} else if n.HasMidpoint() {
				c.state.Offer = p.outcome(n.CurrentOfferAmount, side == protocol.OfferSideBuyer)
			}
			return c.respond(replay, round)
		case replay.Turn() == side:
			c.respond(replay, round)
		}
		c.observe(round, offers[round])
		Apply(replay, offers[round].Side, offers[round].Amount, 0)
	}
}

// outcome returns the number of a price, rounded up or down to the tick. Above the domain it is the last one.
func (p *Player) outcome(amount uint64, up bool) bargain.Outcome {
	return outcomeOf(p.Preferences.Domain().Issue(0), amount, up)
}

func outcomeOf(issue *bargain.Issue, amount uint64, up bool) bargain.Outcome {
	index := amount / issue.Tick
	if up && amount%issue.Tick != 0 {
		index++
	}
	return bargain.Outcome(min(index, issue.Count-1))
}

// allowed returns the move that the rules allow instead of an action.
func (p *Player) allowed(action bargain.Action, state *bargain.State, roundsLeft uint8) bargain.Action {
	if action.Move != bargain.MoveOffer {
		return action
	}
	if roundsLeft == 0 || state.Least > state.Most {
		return bargain.End("no rounds are left")
	}
	moved := max(state.Least, min(action.Outcome, state.Most))
	switch {
	case !p.Preferences.IsRational(action.Outcome):
		return bargain.End("the offer is below the reservation value")
	case moved == action.Outcome:
		return action
	case !p.Preferences.IsRational(moved):
		return bargain.End("the range of offers is beyond the reservation value")
	}
	return bargain.Propose(moved, "moved into the range of offers")
}

// ownOffers returns the number of offers that a side can make.
func ownOffers(rounds uint8, side protocol.OfferSide) int {
	if side == protocol.OfferSideBuyer {
		return (int(rounds) + 1) / 2
	}
	return int(rounds) / 2
}

// ownTime returns the relative time of a side's offer, counted from 0.
func ownTime(index, offers int) fixed.Number {
	if index+1 >= offers {
		return fixed.One
	}
	return fixed.Ratio(int64(index), int64(offers)-1)
}
