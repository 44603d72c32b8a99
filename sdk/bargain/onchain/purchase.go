package onchain

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// MaxSellers is the largest number of sellers of a purchase.
const MaxSellers = 8

// Purchase is a buyer that needs one service and bargains with several sellers at once, each in a negotiation of its
// own with the same terms.
//
// An offer of the buyer cannot be withdrawn without ending its negotiation, and the seller can accept it at any time.
// So the buyer has at most one standing offer in all negotiations. In the others a seller's offer stands, or the seller
// has just joined, and it is the buyer's turn: only the buyer can conclude them. The buyer moves in the negotiation
// whose turn ends first, with the limits of [OutsideOption] and [LeftOfTotal], and ends the others after its first
// agreement.
type Purchase struct {
	Rules
	// Strategy plays all negotiations. Opening is the price from which a strategy with a curve concedes, and
	// Reservation the highest price; both in base units of the mint.
	Strategy             bargain.Strategy
	Opening, Reservation uint64
	// Step is the price step: see [Player].
	Step uint64
	// MaxTotal is the most that the purchase costs in all: the price, and the decay of all negotiations, in base
	// units of the mint. If zero, only the escrow limits it.
	MaxTotal uint64
}

// PurchaseResult is the end of a simulated purchase.
type PurchaseResult struct {
	// Seller is the number of the seller, from 0; -1 without an agreement.
	Seller int
	// Price is the agreed price, which includes the fee, in base units of the mint; 0 without an agreement.
	Price uint64
	// Decay is the decay of all negotiations, in base units of the mint.
	Decay uint64
	// Rounds is the number of offers in all negotiations.
	Rounds int
}

// OutsideOption returns the highest price that a buyer should pay in one negotiation of a purchase: the reservation
// price, or the price of the best standing offer in the other negotiations if that is lower. Decay so far is lost in
// either case, and an acceptance costs none, so that prices can be compared as they are. The caller leaves out
// negotiations that the buyer can no longer conclude in time.
func OutsideOption(reservation uint64, others []*protocol.Negotiation) uint64 {
	for _, n := range others {
		if n.CanAccept(protocol.OfferSideBuyer) {
			reservation = min(reservation, n.CurrentOfferAmount)
		}
	}
	return reservation
}

// LeftOfTotal returns the most that a buyer can pay in one negotiation of a purchase for price and decay, so that the
// purchase costs at most maxTotal: the other negotiations have lost their decay already.
func LeftOfTotal(maxTotal uint64, others []*protocol.Negotiation) uint64 {
	for _, n := range others {
		maxTotal -= min(n.Decay(), maxTotal)
	}
	return maxTotal
}

// MovesBefore reports whether a purchase's buyer moves in the negotiation a before it moves in b, if it is its turn in
// both: the turn that ends first, or after fewer offers.
func MovesBefore(a, b *protocol.Negotiation) bool {
	return cmp.Or(cmp.Compare(a.TurnDeadline, b.TurnDeadline), cmp.Compare(a.CurrentRound, b.CurrentRound)) < 0
}

// session is one negotiation of a simulated purchase.
type session struct {
	*protocol.Negotiation
	seller *Player
	seed   uint64
	offers []Offer
	ended  bool
}

// Run simulates the purchase. Each seller answers at once. Seller number i plays with the seed plus i. It returns
// [ErrRules] if a player is not valid, and an error for no sellers or more than [MaxSellers].
func (p Purchase) Run(seed uint64, sellers []Player) (PurchaseResult, error) {
	if len(sellers) == 0 || len(sellers) > MaxSellers {
		return PurchaseResult{}, fmt.Errorf("%w: %d sellers, 1 to %d are possible", ErrRules, len(sellers), MaxSellers)
	}
	sessions := make([]*session, len(sellers))
	for i := range sellers {
		if err := sellers[i].check(p.Rules); err != nil {
			return PurchaseResult{}, fmt.Errorf("%w: seller %d: %w", ErrRules, i, err)
		}
		sessions[i] = &session{Negotiation: p.Negotiation(), seller: &sellers[i], seed: seed + uint64(i)}
	}
	for now := int64(1); ; now++ {
		next := -1
		for i, s := range sessions {
			if !s.ended && (next < 0 || MovesBefore(s.Negotiation, sessions[next].Negotiation)) {
				next = i
			}
		}
		if next < 0 {
			return purchased(sessions, -1), nil
		}
		agreed, err := p.move(sessions, next, now)
		if err != nil {
			return PurchaseResult{}, err
		}
		if agreed {
			return purchased(sessions, next), nil
		}
	}
}

// move makes the buyer's move in a session, and the seller's answer. It reports whether they agree.
func (p Purchase) move(sessions []*session, at int, now int64) (agreed bool, err error) {
	s := sessions[at]
	buyer, err := p.buyer(sessions, at)
	if err != nil {
		return false, err
	}
	for _, player := range []*Player{&buyer, s.seller} {
		side := s.Turn()
		action := player.Respond(s.Negotiation, side, s.offers, s.seed)
		if player.Observe != nil {
			player.Observe(action)
		}
		switch {
		case action.Move == bargain.MoveAccept && s.CanAccept(side):
			return true, nil
		case action.Move == bargain.MoveOffer:
			amount := player.Preferences.Domain().Issue(0).Amount(uint64(action.Outcome))
			Apply(s.Negotiation, side, amount, now)
			s.offers = append(s.offers, Offer{Side: side, Amount: amount})
		default:
			s.ended = true
			return false, nil
		}
	}
	return false, nil
}

// buyer returns the buyer's player in a session.
func (p Purchase) buyer(sessions []*session, at int) (Player, error) {
	others, standing := []*protocol.Negotiation(nil), []*protocol.Negotiation(nil)
	for i, s := range sessions {
		if i == at {
			continue
		}
		if others = append(others, s.Negotiation); !s.ended {
			standing = append(standing, s.Negotiation)
		}
	}
	reservation := OutsideOption(p.Reservation, standing)
	player, err := p.Player(p.Strategy, protocol.OfferSideBuyer, min(p.Opening, reservation), reservation)
	if err != nil {
		return Player{}, errors.Join(ErrRules, err)
	}
	player.Step = p.Step
	if p.MaxTotal > 0 {
		// Zero is no limit for a player.
		player.MaxTotal = max(LeftOfTotal(p.MaxTotal, others), 1)
	}
	return player, nil
}

// purchased returns the result with the number of the seller.
func purchased(sessions []*session, seller int) PurchaseResult {
	result := PurchaseResult{Seller: seller}
	for _, s := range sessions {
		result.Decay += s.Decay()
		result.Rounds += int(s.CurrentRound)
	}
	if seller >= 0 {
		result.Price = sessions[seller].CurrentOfferAmount
	}
	return result
}
