package bargain

import (
	"math"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Course plays a single party in sessions where the parties make offers in turn. A round is a party's turn,
// and party 0 takes the first. With two parties, as on chain, every round is an offer; with more, as in
// stacked alternating offers, it can be an acceptance. The course maintains the strategy's [State], so
// strategies move alike in all such protocols, and when replayed.
//
// A strategy's time follows its own offers: 0 at the first, and [fixed.One] at the last and when no rounds
// are left. Step counts these offers from 0, and stays at the last offer.
type Course struct {
	preferences *Preferences
	negotiator  Negotiator
	random      Random
	state       State
	// self is the party's number among the parties.
	self, parties int
	// round is the number of turns so far, of rounds.
	round, rounds int
	// price is the number of the price's issue; -1 if the domain has none.
	price int
	// own is the strategy's move at the latest turn, and moved the same within the limits.
	own, moved Action
}

// NewCourse starts a strategy as party self, 0 or 1, before the first of rounds offers. opening is
// [Seat].Opening. The random numbers are taken from the seed's stream number self.
func NewCourse(s Strategy, p *Preferences, self, rounds int, opening fixed.Number, seed uint64) *Course {
	return NewStackedCourse(s, p, self, 2, rounds, opening, seed)
}

// NewStackedCourse starts a strategy as [NewCourse] does, with the number self of two or more parties. An offer that
// all other parties accept in a row is the agreement: see [Course.ObserveAcceptance].
func NewStackedCourse(
	s Strategy, p *Preferences, self, parties, rounds int, opening fixed.Number, seed uint64,
) *Course {
	c := &Course{preferences: p, self: self, parties: parties, rounds: rounds, price: -1, state: State{
		Steps: ownOffers(rounds, self, parties), Offer: NoOutcome, By: -1, History: make([]Offer, 0, rounds),
	}}
	for at := p.Domain().Len() - 1; at >= 0; at-- {
		if p.Domain().Issue(at).Kind == KindPrice {
			c.price = at
		}
	}
	c.random.Reset(seed, uint64(self))
	c.negotiator = s.Start(Seat{
		Preferences: p, Self: self, Parties: parties, Steps: c.state.Steps, Random: &c.random, Opening: opening,
	})
	return c
}

// Observe adds the next round's offer and makes it the standing offer. [NoOutcome] marks an offer unknown to
// the party: it is not in the history, and cannot be accepted.
func (c *Course) Observe(o Outcome) {
	by := c.round % c.parties
	if o != NoOutcome {
		c.state.History = append(c.state.History, Offer{By: by, Step: c.round / c.parties, Time: c.time(), Outcome: o})
	}
	c.stand(o, by)
	c.round++
}

// ObserveAcceptance adds a round where a party accepts the standing offer. The offer stays standing.
func (c *Course) ObserveAcceptance() { c.round++ }

// Stand replaces the acceptable offer, as an offer by the preceding party. [NoOutcome] means there is none.
func (c *Course) Stand(o Outcome) { c.stand(o, (c.self+c.parties-1)%c.parties) }

func (c *Course) stand(o Outcome, by int) {
	if c.state.Offer, c.state.By = o, by; o == NoOutcome {
		c.state.By = -1
	}
}

// time returns the party's offer time in the current round.
func (c *Course) time() fixed.Number { return ownTime(c.round/c.parties, c.state.Steps) }

// TurnTime returns the time for party self, of two parties, in the turn after offers of rounds offers: see
// [Course].
func TurnTime(self, rounds, offers int) fixed.Number {
	return ownTime(offers/2, ownOffers(rounds, self, 2))
}

// ownOffers returns the number of offers available to a party in a number of rounds.
func ownOffers(rounds, self, parties int) int { return (rounds + parties - 1 - self) / parties }

// ownTime returns the time for a party's offer, with index counted from 0.
func ownTime(index, offers int) fixed.Number {
	if index+1 >= offers {
		return fixed.One
	}
	return fixed.Ratio(int64(index), int64(offers)-1)
}

// Respond returns the party's move for the current turn. least and most limit the offer price: see [State].
//
// Offers beyond the limits are moved inside, keeping all remaining issues. The move is [MoveEnd] if the
// offer, before or after the move, is below the reservation value, as with NegMAS' wasting strategies, if no
// domain price is in range, if no rounds are left, or if the strategy accepts although no offer stands.
func (c *Course) Respond(least, most uint64) Action {
	state := &c.state
	state.Step, state.Time = min(c.round/c.parties, max(state.Steps-1, 0)), c.time()
	state.Least, state.Most, state.Last = least, most, c.rounds-c.round < 2
	c.own = c.negotiator.Respond(state)
	c.moved = c.own
	switch {
	case c.own.Move == MoveOffer:
		c.moved = c.limit(c.own)
	case c.own.Move == MoveAccept && (state.Offer == NoOutcome || state.By == c.self):
		c.moved = End("there is no offer to accept")
	}
	return c.moved
}

// Play replays the party's earlier turns and returns the move for the next turn. offers lists the outcomes of
// all rounds so far, as in Observe, and standing is the acceptable offer, as in Stand. Play calls limits once
// per round, in sequence, including the next round, to obtain the arguments for Respond. If nil, prices are
// unlimited. The course must be new.
func (c *Course) Play(offers []Outcome, standing Outcome, limits func() (least, most uint64)) Action {
	if limits == nil {
		limits = func() (uint64, uint64) { return 0, math.MaxUint64 }
	}
	for _, o := range offers {
		least, most := limits()
		if c.round%c.parties == c.self {
			c.Respond(least, most)
		}
		c.Observe(o)
	}
	c.Stand(standing)
	return c.Respond(limits())
}

// limit returns the move allowed by the limits in place of an offer.
func (c *Course) limit(action Action) Action {
	if c.round >= c.rounds {
		return End("no rounds are left")
	}
	domain := c.preferences.Domain()
	if !domain.Has(action.Outcome) || !c.preferences.IsRational(action.Outcome) {
		return End("the offer is below the reservation value")
	}
	if c.price < 0 {
		return action
	}
	least, most, ok := domain.Issue(c.price).between(c.state.Least, c.state.Most)
	if !ok {
		return End("no price is in the range of offers")
	}
	index := domain.Value(action.Outcome, c.price)
	if index >= least && index <= most {
		return action
	}
	moved := domain.With(action.Outcome, c.price, max(least, min(index, most)))
	if !c.preferences.IsRational(moved) {
		return End("the range of offers is beyond the reservation value")
	}
	return Propose(moved, "moved into the range of offers")
}
