package party

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// CodeNoAgreement: the strategy ended the deal.
const CodeNoAgreement = "no_agreement"

// DefaultRounds is the default of [Player].Rounds.
const DefaultRounds = 10

// Player bargains about the price by a strategy of package bargain. Decide implements [Worker].Quote and
// [Seeker].Decide. Moves follow from the fields and the deal's offers, so that they do not change if the
// process restarts. Player repeats the offer instead of answering questions.
type Player struct {
	Strategy bargain.Strategy
	// Opening is where a strategy with a curve starts to concede, in the asset's base units.
	Opening uint64
	// Reservation is a seeker's highest price, or a worker's lowest proceeds after the fee, in the asset's
	// base units.
	Reservation uint64
	// Rounds limits the offers in a deal, counting both sides. If zero, DefaultRounds is used.
	Rounds int
	// Seed selects the strategy's random numbers.
	Seed uint64
	// Choose returns the move at a turn with a standing offer, from the strategy's assessment: see package
	// hiring for language models. Offers must be rational, and Choose must not accept if the state has no
	// standing offer. If nil, the strategy's move is made. An error is returned instead of the move.
	Choose func(ctx context.Context, turn Turn, assessed bargain.Assessment) (bargain.Action, error)
}

// Decide returns the move chosen by the strategy or by Choose.
func (p Player) Decide(ctx context.Context, turn Turn) (Move, error) {
	if _, stands := turn.Standing(); !stands {
		own, _ := turn.Own()
		return Propose{Price: own.Price}, nil
	}
	assessed, err := p.assess(turn)
	if err != nil {
		return nil, err
	}
	action := assessed.Move
	if p.Choose != nil {
		if action, err = p.Choose(ctx, turn, assessed); err != nil {
			return nil, err
		}
	}
	switch action.Move {
	case bargain.MoveAccept:
		return Accept{}, nil
	case bargain.MoveOffer:
		return Propose{Price: assessed.Preferences.Domain().Issue(0).Amount(uint64(action.Outcome))}, nil
	}
	return Reject{Code: CodeNoAgreement}, nil
}

// assess returns the strategy's assessment. The turn must have a standing offer.
func (p Player) assess(turn Turn) (bargain.Assessment, error) {
	rounds, reservation, side := cmp.Or(p.Rounds, DefaultRounds), p.Reservation, protocol.OfferSideBuyer
	if turn.Role == hire.RoleWorker {
		side = protocol.OfferSideSeller
		reservation = onchain.Gross(&protocol.Negotiation{ProtocolFeeBps: turn.Limits.feeBps()}, reservation)
	}
	// The counterpart's prices can be worse than the own reservation price, and must look so.
	highest := max(p.Opening, reservation)
	if p.Strategy == nil || reservation == 0 || highest > math.MaxInt64 {
		return bargain.Assessment{}, errors.New(
			"party: player: Strategy or Reservation not set, or a price above 2^63-1")
	}
	domain, err := onchain.Domain(2 * highest)
	if err != nil {
		return bargain.Assessment{}, err
	}
	preferences, opening, err := onchain.Preferences(domain, side, p.Opening, reservation)
	if err != nil {
		return bargain.Assessment{}, err
	}
	prices := domain.Issue(0)
	var outcomes []bargain.Outcome
	for _, offer := range alternating(turn.Offers) {
		index := offer.Price / prices.Tick
		if side == protocol.OfferSideBuyer && offer.Price%prices.Tick != 0 {
			index++ // round up, never down
		}
		outcomes = append(outcomes, bargain.Outcome(min(index, prices.Count-1)))
	}
	standing := outcomes[len(outcomes)-1]
	if turn.Refused != nil {
		standing = bargain.NoOutcome
	}
	return bargain.Assess(standing, func(standing bargain.Outcome) *bargain.Course {
		course := bargain.NewCourse(p.Strategy, preferences, int(side), rounds, opening, p.Seed)
		course.Play(outcomes, standing, nil)
		return course
	}), nil
}

// alternating drops offers that the same side replaced before receiving an answer. It begins with the
// seeker's offer.
func alternating(offers []Offer) (kept []Offer) {
	for _, offer := range offers {
		if len(kept) > 0 && kept[len(kept)-1].By == offer.By {
			kept[len(kept)-1] = offer
			continue
		}
		kept = append(kept, offer)
	}
	return kept
}
