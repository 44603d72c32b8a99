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

// CodeNoAgreement is the reason code of a strategy that ends a deal.
const CodeNoAgreement = "no_agreement"

// DefaultRounds is the number of offers of a deal after which a [Player] makes none.
const DefaultRounds = 10

// Player bargains about the price by a strategy of package bargain. Its Decide is a [Worker].Quote and a
// [Seeker].Decide. Its moves follow from the fields and the offers of the deal, so that they are the same after a
// restart. It repeats its offer instead of answering questions.
type Player struct {
	Strategy bargain.Strategy
	// Opening is the price from which a strategy with a curve concedes, in base units.
	Opening uint64
	// Reservation is the most that a seeker pays, or the least that a worker receives after the fee, in base units.
	Reservation uint64
	// Rounds is the number of offers of both sides. If zero, DefaultRounds is used.
	Rounds int
	// Seed selects the strategy's random numbers.
	Seed uint64
}

// Decide returns the strategy's move.
func (p Player) Decide(_ context.Context, turn Turn) (Move, error) {
	rounds, reservation, side := cmp.Or(p.Rounds, DefaultRounds), p.Reservation, protocol.OfferSideBuyer
	if turn.Role == hire.RoleWorker {
		side = protocol.OfferSideSeller
		reservation = onchain.Gross(&protocol.Negotiation{ProtocolFeeBps: turn.Limits.feeBps()}, reservation)
	}
	// The other side's prices can be worse than the own reservation price, and must look so.
	highest := max(p.Opening, reservation)
	if p.Strategy == nil || reservation == 0 || highest > math.MaxInt64 {
		return nil, errors.New("party: player: Strategy or Reservation not set, or a price above 2^63-1")
	}
	domain, err := onchain.Domain(2 * highest)
	if err != nil {
		return nil, err
	}
	preferences, opening, err := onchain.Preferences(domain, side, p.Opening, reservation)
	if err != nil {
		return nil, err
	}
	prices := domain.Issue(0)
	course := bargain.NewCourse(p.Strategy, preferences, int(side), rounds, opening, p.Seed)
	for _, offer := range alternating(turn.Offers) {
		index := offer.Price / prices.Tick
		if side == protocol.OfferSideBuyer && offer.Price%prices.Tick != 0 {
			index++ // never cheaper than it is
		}
		course.Observe(bargain.Outcome(min(index, prices.Count-1)))
	}
	if turn.Refused != nil {
		course.Stand(bargain.NoOutcome)
	}
	if _, stands := turn.Standing(); !stands {
		own, _ := turn.Own()
		return Propose{Price: own.Price}, nil
	}
	switch action := course.Respond(0, math.MaxUint64); action.Move {
	case bargain.MoveAccept:
		return Accept{}, nil
	case bargain.MoveOffer:
		return Propose{Price: prices.Amount(uint64(action.Outcome))}, nil
	}
	return Reject{Code: CodeNoAgreement}, nil
}

// alternating returns the offers without those that their own side has replaced before an answer. The seeker's is
// the first one.
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
