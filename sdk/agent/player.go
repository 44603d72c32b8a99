package agent

import (
	"context"
	"errors"
	"fmt"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Player decides by a strategy of package bargain: Player.Decide is a [Config].Decide. The moves follow only
// from the fields and from the negotiation's terms and offers, so they stay the same across restarts, and
// match a simulation by [onchain.Rules]. The clock does not change them: a counterparty that waits for a
// deadline gains nothing, and the strategy's target holds on the last call.
type Player struct {
	Strategy bargain.Strategy
	// Opening is the first price of strategies that concede along a curve, in the mint's base units.
	Opening uint64
	// Reservation is a buyer's highest price, or a seller's least payment net of the fee, in the mint's base
	// units. A buyer's price and the decay also stay within [Limits].MaxTotal.
	Reservation uint64
	// Step is the price step for strategies that concede rank by rank: see [onchain.Player]. If zero, it
	// follows from the terms.
	Step uint64
	// Seed selects the strategy's random numbers.
	Seed uint64
	// Suits reports whether the terms beside the price suit. If nil, all suit. The strategy does not accept
	// unsuitable offers, and makes a counter-offer.
	Suits func(*haggle.Snapshot) bool
	// Commit returns the commitment to the strategy, which each offer carries as the strategy hash: see
	// package proof. It is called before every move, and must return the same for the same negotiation, even
	// across restarts. If nil, offers carry none.
	Commit func(negotiation *haggle.Snapshot) ([32]byte, error)
	// Name is the strategy's name in records.
	Name string
	// Decided is called with each decision before it is carried out. If nil, decisions are not recorded. An
	// error of Decided is returned instead of the decision, so no unrecorded decision is carried out.
	Decided func(Record) error
}

// Decide returns the strategy's decision.
func (p Player) Decide(_ context.Context, turn Turn) (Decision, error) {
	action, preferences, err := p.respond(turn)
	if err != nil {
		return nil, err
	}
	var terms *protocol.Terms
	if p.Commit != nil {
		if terms, err = commitTo(p.Commit, turn.Negotiation); err != nil {
			return nil, err
		}
	}
	decision, price := Decision(Reject{}), uint64(0)
	switch action.Move {
	case bargain.MoveAccept:
		decision = Accept{}
	case bargain.MoveOffer:
		price = preferences.Domain().Issue(0).Amount(uint64(action.Outcome))
		decision = Offer{Amount: price, Terms: terms}
	}
	if p.Decided != nil {
		if err := p.Decided(p.record(turn, action, price, preferences)); err != nil {
			return nil, fmt.Errorf("agent: record the decision: %w", err)
		}
	}
	return decision, nil
}

// Simulated returns a side's player in a simulation, with the moves of Decide. Seed is an argument of
// [onchain.Rules.Run]. If it returns [onchain.ErrUncovered], Decide rejects.
func (p Player) Simulated(rules onchain.Rules, side protocol.OfferSide) (onchain.Player, error) {
	player, err := rules.Player(p.Strategy, side, p.Opening, p.Reservation)
	player.Step = p.Step
	return player, err
}

// Respond returns the strategy's move and the reason. Offers use the outcomes of [onchain.Domain]. It returns
// the error of [Turn.CheckHistory].
func (p Player) Respond(turn Turn) (bargain.Action, error) {
	action, _, err := p.respond(turn)
	return action, err
}

// Assess returns the strategy's assessment of the turn, for a caller that chooses the move itself. Unsuitable
// offers are not standing. The preferences are nil if the escrow does not cover the reservation price: the
// move then ends the negotiation. It returns the error of [Turn.CheckHistory].
func (p Player) Assess(turn Turn) (bargain.Assessment, error) {
	player, err := p.onchain(turn)
	if err != nil || player == nil {
		return bargain.Assessment{Move: uncovered, Target: bargain.NoOutcome}, err
	}
	n := &turn.Negotiation.Negotiation
	outcomes, standing := player.Outcomes(n, turn.Side, turn.offers())
	return player.Assess(n, turn.Side, outcomes, standing, p.Seed), nil
}

var uncovered = bargain.End("the escrow does not cover the reservation price")

// respond returns the move and the preferences that it follows from; nil if the escrow does not cover the
// reservation price.
func (p Player) respond(turn Turn) (bargain.Action, *bargain.Preferences, error) {
	player, err := p.onchain(turn)
	if err != nil || player == nil {
		return uncovered, nil, err
	}
	return player.Respond(&turn.Negotiation.Negotiation, turn.Side, turn.offers(), p.Seed), player.Preferences, nil
}

// onchain returns the turn's player; nil if the escrow does not cover the reservation price.
func (p Player) onchain(turn Turn) (*onchain.Player, error) {
	n := turn.Negotiation
	if err := turn.CheckHistory(); err != nil {
		return nil, err
	}
	player, err := p.Simulated(onchain.RulesOf(&n.Negotiation, n.CreatedAt), turn.Side)
	if errors.Is(err, onchain.ErrUncovered) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	player.Refuse, player.MaxTotal = p.Suits != nil && !p.Suits(n), turn.Limits.MaxTotal
	return &player, nil
}

// offers returns the offers of all rounds. Offers that the node did not return count as the side's next known
// offer, or as the standing offer.
func (t Turn) offers() []onchain.Offer {
	n := t.Negotiation
	offers := make([]onchain.Offer, n.CurrentRound)
	known := [2]uint64{n.CurrentOfferAmount, n.CurrentOfferAmount}
	next := len(t.History) - 1
	for i := len(offers) - 1; i >= 0; i-- {
		side := protocol.OfferSide(i % 2) // the buyer opens
		for next >= 0 && int(t.History[next].Round) > i+1 {
			next--
		}
		if next >= 0 && int(t.History[next].Round) == i+1 {
			known[side] = t.History[next].Amount
		}
		offers[i] = onchain.Offer{Side: side, Amount: known[side]}
	}
	return offers
}
