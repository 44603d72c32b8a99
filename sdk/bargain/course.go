package bargain

import (
	"math"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Course is one party's part of a session whose parties make offers in turn. A round is the turn of one party, and
// party 0 has the first. With two parties, as on chain, each round is an offer; with more, as in stacked
// alternating offers, it can be an acceptance. The course has the [State] that the party's strategy receives, so
// that a strategy moves alike in each such protocol, and when its turns are played again.
//
// A strategy's time is that of its own offers: 0 at the first, and [fixed.One] at the last and when no rounds
// are left. Step counts them from 0, and stays at the last one.
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

// NewCourse starts a strategy with the number self, which is 0 or 1, before the first of rounds offers.
// Opening is [Seat].Opening. The random numbers are the seed's stream with the number self.
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

// Observe adds the offer of the next round, which is the standing one from then on. [NoOutcome] is an offer
// that the party does not know: it is not in the history, and cannot be accepted.
func (c *Course) Observe(o Outcome) {
	by := c.round % c.parties
	if o != NoOutcome {
		c.state.History = append(c.state.History, Offer{By: by, Step: c.round / c.parties, Time: c.time(), Outcome: o})
	}
	c.stand(o, by)
	c.round++
}

// ObserveAcceptance adds a round of a party that accepts the standing offer, which goes on to stand.
func (c *Course) ObserveAcceptance() { c.round++ }

// Stand replaces the offer that the party can accept, as an offer of the party before it. For [NoOutcome] there is
// none.
func (c *Course) Stand(o Outcome) { c.stand(o, (c.self+c.parties-1)%c.parties) }

func (c *Course) stand(o Outcome, by int) {
	if c.state.Offer, c.state.By = o, by; o == NoOutcome {
		c.state.By = -1
	}
}

// time returns the time of a party's offer in the round.
func (c *Course) time() fixed.Number { return ownTime(c.round/c.parties, c.state.Steps) }

// TurnTime returns the time of party self of two at its turn after a number of offers, of rounds: see [Course].
func TurnTime(self, rounds, offers int) fixed.Number {
	return ownTime(offers/2, ownOffers(rounds, self, 2))
}

// ownOffers returns the number of offers that a party can make in a number of rounds.
func ownOffers(rounds, self, parties int) int { return (rounds + parties - 1 - self) / parties }

// ownTime returns the time of a party's offer with an index, from 0.
func ownTime(index, offers int) fixed.Number {
	if index+1 >= offers {
		return fixed.One
	}
	return fixed.Ratio(int64(index), int64(offers)-1)
}

// Respond returns the party's move at its turn. Least and most limit the price of an offer: see [State].
//
// An offer beyond them is moved into them, with the other issues as they are. The move is [MoveEnd] if the
// offer is then, or was before, below the reservation value, as NegMAS' wasting strategies make them, if no
// price of the domain is in the range, if no rounds are left, or if a strategy accepts without an offer.
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

// Play plays the party's earlier turns again and returns its move at the next one. Offers are the outcomes of
// all rounds so far, as in Observe, and standing is the offer that the party can accept, as in Stand. Limits is
// called once for each round in its order, the next one included, and returns the arguments of Respond. If nil,
// prices have no limits. The course must be new.
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

// limit returns the move that the limits allow instead of an offer.
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
