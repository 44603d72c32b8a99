package onchain

import (
	"errors"
	"math"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Player is a negotiation party: a strategy with preferences over [Domain] prices, or, for [Player.Replay]
// only, over a different domain with a price, in base units. Unless the strategy is [Informed], the player
// replaces moves that lose money under the rules: in the final turn it accepts any offer at least as good as no
// agreement, and it never makes offers with an expected decay cost above the possible gain.
type Player struct {
	Strategy    bargain.Strategy
	Preferences *bargain.Preferences
	// Opening is the opening price's utility, from where strategies with a curve concede: see [Preferences].
	// If zero, the best price is used.
	Opening fixed.Number
	// Step is the price step in the mint's base units, for strategies that concede rank by rank, as
	// bidding.MiCRO does. If zero, the step follows from the rounds and the decay: half the way from the best
	// price to the reservation price, divided by the steps between the side's offers, but no less than the
	// decay for an offer and a reply. A single base unit per step would cost more decay than it concedes.
	Step uint64
	// MaxTotal limits a buyer's total payment, price plus decay, in the mint's base units: offers are lowered
	// to MaxTotal less decay, and the buyer accepts no offer above this price. If zero, only the escrow limits
	// the total.
	MaxTotal uint64
	// Refuse reports whether the standing offer cannot be accepted, because of terms beside the price. The
	// strategy then receives the price, but no offer to accept.
	Refuse bool
	// Delay is the reply time for simulations, in seconds.
	Delay int64
	// Observe is called with each move in a simulation. If nil, it is not called.
	Observe func(bargain.Action)
}

// ErrUncovered reports that a seller's reservation price and the fee exceed the highest [Domain] price: the
// escrow, rounded down to the tick.
var ErrUncovered = errors.New("onchain: the escrow does not cover the reservation price")

// Ruled is a strategy that depends on the rules and the side's reservation price.
type Ruled interface {
	bargain.Strategy
	// Under returns a side's strategy. own is the side's reservation price, in the mint's base units; for a
	// seller, the least amount net of the fee.
	Under(r Rules, side Side, own uint64) bargain.Strategy
}

// Player returns a player for a strategy. Opening and reservation are prices in the mint's base units. A
// seller's reservation is the least amount net of the fee. Player returns [ErrUncovered] if no domain price
// covers the reservation plus fee.
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

// Limit returns the worst price where agreement is still as good for the side as no agreement. reservation is
// the highest price a buyer pays, or the lowest amount a seller receives, net of the fee. fromBond is the
// buyer's share of the seller's bond if no agreement is reached: see [protocol.Negotiation.BondForDelay].
// fromBond lowers both sides' limits, because an agreement costs the buyer this amount and saves it for the
// seller. Limit returns false if the side is a buyer with fromBond above the reservation: no price is as good
// then.
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

// Offer is a past offer in a negotiation.
type Offer struct {
	Side protocol.OfferSide
	// Amount is the price in the mint's base units.
	Amount uint64
}

// Respond returns a side's move in a negotiation at its turn. offers lists all offers so far, the oldest
// first.
//
// Prices between ticks are rounded to the tick worse for the player. The midpoint of revealed prices is an
// offer that a strategy can accept. For the rest see [Player.Replay].
func (p *Player) Respond(
	n *protocol.Negotiation, side protocol.OfferSide, offers []Offer, seed uint64,
) bargain.Action {
	outcomes, standing := p.Outcomes(n, side, offers)
	return p.Replay(n, side, outcomes, standing, seed)
}

// Outcomes returns the outcomes of all offers so far, the oldest first, and the offer that the side can
// accept in the current turn: [Player.Respond] passes both to [Player.Replay].
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

// most returns a side's highest price after decay.
func (p *Player) most(side protocol.OfferSide, decay uint64) uint64 {
	if p.MaxTotal == 0 || side != protocol.OfferSideBuyer {
		return math.MaxUint64
	}
	return p.MaxTotal - min(decay, p.MaxTotal)
}

// Replay returns a side's move in a negotiation at its turn, over any domain. outcomes lists all offers so
// far, the oldest first; [bargain.NoOutcome] marks offers unknown to the player. standing is the acceptable
// offer, if any, or NoOutcome.
//
// It starts the strategy from the seed and plays the side's earlier turns again, so the result depends on the
// arguments alone: restarts and verifiers reproduce it. Prices stay in the program's range: see
// [bargain.Course.Respond], and [bargain.Course] for the strategy's time.
func (p *Player) Replay(
	n *protocol.Negotiation, side protocol.OfferSide, outcomes []bargain.Outcome, standing bargain.Outcome,
	seed uint64,
) bargain.Action {
	return p.start(RulesOf(n, n.CreatedAt), side, seed).Play(outcomes, standing, p.ranges(n, side))
}

// Assess returns a side's assessment for the current turn. It takes the same arguments as Replay.
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

// ranges returns a function that yields a side's offer range per round, in turn.
func (p *Player) ranges(n *protocol.Negotiation, side protocol.OfferSide) func() (least, most uint64) {
	replay := RulesOf(n, n.CreatedAt).Negotiation()
	return func() (least, most uint64) {
		least, most = replay.OfferRange()
		most = min(most, p.most(side, replay.DecayAfterRound()))
		Apply(replay, replay.Turn(), 0, 0) // the next offer's range does not depend on the price
		return least, most
	}
}

// start returns the player's course before the first round.
func (p *Player) start(r Rules, side protocol.OfferSide, seed uint64) *bargain.Course {
	s := p.Strategy
	if _, is := s.(Informed); !is {
		s = rational{s, r, p.Step}
	}
	return bargain.NewCourse(s, p.Preferences, int(side), int(r.MaxRounds), p.Opening, seed)
}

// outcome returns a price's outcome number, rounded to the tick worse for the side.
func (p *Player) outcome(side protocol.OfferSide, amount uint64) bargain.Outcome {
	return outcomeOf(p.Preferences.Domain().Issue(0), amount, side == protocol.OfferSideBuyer)
}

// outcomeOf returns a price's outcome number, rounded up or down to the tick; prices above the domain yield
// the last number.
func outcomeOf(issue *bargain.Issue, amount uint64, up bool) bargain.Outcome {
	index := amount / issue.Tick
	if up && amount%issue.Tick != 0 {
		index++
	}
	return bargain.Outcome(min(index, issue.Count-1))
}
