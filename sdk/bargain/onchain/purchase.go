package onchain

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// MaxSellers limits a purchase's sellers.
const MaxSellers = 8

// Purchase is a buyer that needs a single service and bargains with several sellers at once, in separate
// negotiations with equal terms.
//
// The buyer cannot withdraw an offer except by ending the negotiation, and the seller can accept it at any
// time. So the buyer keeps no more than one standing offer over all negotiations. Everywhere else a seller's
// offer stands, or the seller has just joined, and it is the buyer's turn: only the buyer can conclude these
// negotiations. The buyer moves where the turn ends first, within the [OutsideOption] and [LeftOfTotal] limits,
// and ends all remaining negotiations once an agreement is reached.
type Purchase struct {
	Rules
	// Strategy plays all negotiations. Strategies with a curve concede from the price Opening; Reservation is
	// the highest price. Both use the mint's base units.
	Strategy             bargain.Strategy
	Opening, Reservation uint64
	// Step is the price step: see [Player].
	Step uint64
	// MaxTotal limits the purchase's total cost: the price plus the decay in all negotiations, in base units
	// of the mint. If zero, only the escrow limits it.
	MaxTotal uint64
}

// PurchaseResult describes a simulated purchase.
type PurchaseResult struct {
	// Seller is the agreeing seller's number, from 0; -1 for none.
	Seller int
	// Price is the agreed price, including the fee, in the mint's base units, or 0 if none is agreed.
	Price uint64
	// Decay is the decay over all negotiations, in the mint's base units.
	Decay uint64
	// Rounds counts the offers in all negotiations.
	Rounds int
}

// OutsideOption returns the highest price that a buyer should pay in a negotiation: the reservation price, or
// the best standing offer's price among the remaining negotiations if lower. Decay so far is lost in either
// case, and acceptance costs no decay, so prices compare directly. The caller leaves out negotiations that
// the buyer can no longer conclude in time.
func OutsideOption(reservation uint64, others []*protocol.Negotiation) uint64 {
	for _, n := range others {
		if n.CanAccept(protocol.OfferSideBuyer) {
			reservation = min(reservation, n.CurrentOfferAmount)
		}
	}
	return reservation
}

// LeftOfTotal returns the buyer's limit for price plus decay in a negotiation, keeping the purchase within
// maxTotal: decay in the remaining negotiations is already spent.
func LeftOfTotal(maxTotal uint64, others []*protocol.Negotiation) uint64 {
	for _, n := range others {
		maxTotal -= min(n.Decay(), maxTotal)
	}
	return maxTotal
}

// MovesBefore reports whether a purchase's buyer moves in the negotiation a before b, if both are at the
// buyer's turn: the turn that ends first, or after fewer offers, precedes.
func MovesBefore(a, b *protocol.Negotiation) bool {
	return cmp.Or(cmp.Compare(a.TurnDeadline, b.TurnDeadline), cmp.Compare(a.CurrentRound, b.CurrentRound)) < 0
}

// session is a negotiation in a simulated purchase.
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
		// For a player, zero means unlimited.
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
