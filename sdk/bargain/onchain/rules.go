// Package onchain implements Haggle's on-chain rules as a bargaining protocol for package bargain. A
// simulation predicts the program's result to the unit: the numbers come from package protocol, also used by
// the SDK.
//
// It covers offers, acceptance, rejection and expiry, but not sealed prices and milestones. A party's moves
// depend on strategy, seed and offers so far, not on the clock, so anyone can replay the moves: see
// [Player.Respond].
package onchain

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ErrRules reports rules or players that a session cannot start with.
var ErrRules = errors.New("onchain: invalid session")

// Side is a negotiation side, for packages not importing package protocol.
type Side = protocol.OfferSide

// Account is a negotiation's account, for packages that do not import package protocol.
type Account = protocol.Negotiation

// The sides, and the program's limits of the terms, for packages that do not import package protocol.
const (
	Buyer              = protocol.OfferSideBuyer
	Seller             = protocol.OfferSideSeller
	MinEscrow          = protocol.MinEscrowLamports
	MinRounds          = protocol.MinRounds
	MaxRounds          = protocol.MaxRounds
	MaxDecayRateBps    = protocol.MaxDecayRateBps
	MinOfferBpsFloor   = protocol.MinOfferBpsFloor
	MinOfferBpsCeiling = protocol.MinOfferBpsCeiling
	MaxFeeBps          = protocol.MaxProtocolFeeBps
)

// Rules holds the negotiation terms that determine prices and times.
type Rules struct {
	// Escrow is the buyer's deposit, in the mint's base units.
	Escrow uint64
	// MaxRounds limits the number of offers by both sides together.
	MaxRounds uint8
	// DecayRateBps is the part of the escrow that each offer costs the buyer, in basis points.
	DecayRateBps uint16
	// MinOfferBps is the least offer, in basis points of the effective escrow.
	MinOfferBps uint16
	// FeeBps is the protocol fee on the price, in basis points.
	FeeBps uint16
	// Bond is the seller's deposit, in the mint's base units. If no agreement is reached, it pays the decay of
	// the seller's offers.
	Bond uint64
	// ResponseWindow limits the time for an answer, in seconds.
	ResponseWindow int64
	// Deadline limits the time from the seller's joining, in seconds.
	Deadline int64
}

// RulesOf returns the rules for a negotiation joined by the seller at the given chain time, in seconds. The
// account does not store this time, but the event InvitationAccepted does. Offers do not depend on it, so any
// time works for replay.
func RulesOf(n *protocol.Negotiation, joined int64) Rules {
	return Rules{
		Escrow: n.EscrowAmount, MaxRounds: n.MaxRounds, DecayRateBps: n.DecayRateBps,
		MinOfferBps: n.MinOfferBps, FeeBps: n.ProtocolFeeBps, Bond: n.BondRequired, ResponseWindow: n.ResponseWindow,
		Deadline: n.GlobalDeadline - joined,
	}
}

// ProposedBond returns the bond that pays the seller's delay at every end: see [protocol.ProposedBond].
func (r Rules) ProposedBond() uint64 {
	return protocol.ProposedBond(r.Escrow, r.MaxRounds, r.DecayRateBps)
}

// Negotiation returns the account when the seller has joined at the time 0.
func (r Rules) Negotiation() *protocol.Negotiation {
	state := protocol.BondStateNone
	if r.Bond > 0 {
		state = protocol.BondStateHeld
	}
	return &protocol.Negotiation{
		Status: protocol.NegotiationStatusProposed, BondRequired: r.Bond, BondState: state, EscrowAmount: r.Escrow, EffectiveEscrow: r.Escrow,
		MaxRounds: r.MaxRounds, DecayRateBps: r.DecayRateBps, MinOfferBps: r.MinOfferBps,
		ProtocolFeeBps: r.FeeBps, ResponseWindow: r.ResponseWindow, GlobalDeadline: r.Deadline,
		TurnDeadline: min(r.ResponseWindow, r.Deadline),
	}
}

// OfferRanges returns the lowest and highest price for every offer up to the given number, in base units of
// the mint.
func (r Rules) OfferRanges(offers int) [][2]uint64 {
	ranges, n := make([][2]uint64, offers), r.Negotiation()
	for at := range ranges {
		ranges[at][0], ranges[at][1] = n.OfferRange()
		Apply(n, n.Turn(), 0, 0) // the next offer's range does not depend on the price
	}
	return ranges
}

// maxPrices limits the prices with distinct utilities.
const maxPrices = uint64(fixed.One)

// Domain returns the domain with the prices 0 to escrow, in base units. Above 10^12 base units it picks the
// least tick that keeps the number of prices below 10^12, because utilities store 12 decimals.
func Domain(escrow uint64) (*bargain.Domain, error) {
	return bargain.NewDomain(bargain.Price("price", 0, escrow, escrow/maxPrices+1))
}

// Preferences returns a side's preferences over a [Domain]'s prices: the best price is worth 1, the worst 0.
// A buyer's reservation price is the highest it pays, a seller's the least it accepts, before the fee: see
// [Gross]. It is rounded to the tick in the party's favor. Opening is an opening price's utility, for
// [Player].
func Preferences(
	domain *bargain.Domain, side protocol.OfferSide, openingPrice, reservationPrice uint64,
) (preferences *bargain.Preferences, opening fixed.Number, err error) {
	u, err := utility.PriceLine(domain, side == protocol.OfferSideSeller)
	if err != nil {
		return nil, 0, err
	}
	seller, issue := side == protocol.OfferSideSeller, domain.Issue(0)
	preferences, err = bargain.NewPreferences(domain, u, u.Of(outcomeOf(issue, reservationPrice, seller)))
	return preferences, u.Of(outcomeOf(issue, openingPrice, seller)), err
}

// Gross returns the lowest price that leaves a seller an amount net of the fee, or 2^64-1 if no lower price
// does. It can exceed the escrow.
func Gross(n *protocol.Negotiation, net uint64) uint64 {
	if net == 0 {
		return 0
	}
	// The fee is rounded down, so that the seller gets ceil(price*kept/10,000), which must exceed net-1.
	kept := protocol.BpsDenominator - min(uint64(n.ProtocolFeeBps), protocol.BpsDenominator)
	high, low := bits.Mul64(net-1, protocol.BpsDenominator)
	if high >= kept {
		return math.MaxUint64
	}
	below, _ := bits.Div64(high, low, kept)
	return below + min(1, math.MaxUint64-below)
}

// Settlement divides a finished session's escrow, in the mint's base units.
type Settlement struct {
	// Price is the agreed price, or 0 if there is no agreement.
	Price uint64
	// ToSeller is the price less the fee. Refund is the escrow returned to the buyer.
	ToSeller, Refund uint64
	// Fee and Decay go to the protocol.
	Fee, Decay uint64
	// FromBond is the buyer's share of the seller's bond if no agreement is reached.
	FromBond uint64
}

// Result is a finished session.
type Result struct {
	bargain.Result
	Settlement Settlement
	// Rounds counts the offers.
	Rounds uint8
	// Seconds counts the time from the seller's joining to the end.
	Seconds int64
}

// Run runs a session: the buyer opens, and the sides take turns. Player 0 is the buyer. A player that answers
// too late lets the session expire: EndingDeadline. It returns [ErrRules] if a player is not valid or the
// domains differ.
func (r Rules) Run(seed uint64, buyer, seller Player) (Result, error) {
	players := [2]*Player{protocol.OfferSideBuyer: &buyer, protocol.OfferSideSeller: &seller}
	for side, player := range players {
		if err := player.check(r); err != nil {
			return Result{}, fmt.Errorf("%w: the %s: %w", ErrRules, protocol.OfferSide(side), err)
		}
	}
	n := r.Negotiation()
	courses := [2]*bargain.Course{}
	for side, player := range players {
		courses[side] = player.start(r, protocol.OfferSide(side), seed)
	}
	offers := make([]Offer, 0, r.MaxRounds)
	now := int64(0)
	for {
		side := n.Turn()
		now += players[side].Delay
		if n.IsOverdue(now) {
			return result(n, offers, bargain.EndingDeadline, -1, now), nil
		}
		action := bargain.Action{}
		if players[side].Refuse || players[side].MaxTotal != 0 {
			// A course cannot take back an offer that the player must not accept: the strategy does not see
			// it as standing now, and sees it among the earlier ones later on.
			action = players[side].Respond(n, side, offers, seed)
		} else {
			action = courses[side].Respond(n.OfferRange())
		}
		if observe := players[side].Observe; observe != nil {
			observe(action)
		}
		switch {
		case action.Move == bargain.MoveAccept && n.CanAccept(side):
			return result(n, offers, bargain.EndingAgreement, int(side), now), nil
		case action.Move == bargain.MoveOffer:
			amount := players[side].Preferences.Domain().Issue(0).Amount(uint64(action.Outcome))
			Apply(n, side, amount, now)
			for viewer, course := range courses {
				course.Observe(players[viewer].outcome(protocol.OfferSide(viewer), amount))
			}
			offers = append(offers, Offer{Side: side, Amount: amount})
		default:
			return result(n, offers, bargain.EndingLeft, int(side), now), nil
		}
	}
}

// Apply changes a negotiation as submit_offer does, ignoring metadata and extension. The amount must be in
// the next offer's range.
func Apply(n *protocol.Negotiation, side protocol.OfferSide, amount uint64, now int64) {
	n.EffectiveEscrow = n.EscrowAfterRound()
	n.CurrentRound++
	n.CurrentOfferAmount, n.OfferSide = amount, side
	// A simulation uses zero addresses, but CurrentOfferBy must be nonzero.
	n.CurrentOfferBy[0] = byte(side) + 1
	n.Status = protocol.NegotiationStatusProposed
	if side == protocol.OfferSideSeller {
		n.Status = protocol.NegotiationStatusCountered
	}
	n.LastOfferAt = now
	n.TurnDeadline = min(now+n.ResponseWindow, n.GlobalDeadline)
}

// Settle divides a negotiation's escrow and bond: at the current offer if agreed, at the current turn's end
// if expired, and otherwise now, by rejection.
func Settle(n *protocol.Negotiation, ending bargain.Ending) Settlement {
	s := Settlement{Decay: n.Decay(), Refund: n.EffectiveEscrow}
	switch ending {
	case bargain.EndingAgreement:
		s.Price, s.Fee = n.CurrentOfferAmount, n.FeeOn(n.CurrentOfferAmount)
		s.ToSeller, s.Refund = s.Price-s.Fee, n.EffectiveEscrow-s.Price
	case bargain.EndingDeadline:
		s.FromBond = n.BondAfterExpiry()
	default:
		s.FromBond = n.BondAfterRejection(n.Turn())
	}
	return s
}

func result(n *protocol.Negotiation, offers []Offer, ending bargain.Ending, by int, now int64) Result {
	result := Result{
		Result: bargain.Result{
			Ending: ending, Agreement: bargain.NoOutcome, By: by, Step: int(n.CurrentRound),
			Time: roundTime(int(n.CurrentRound), int(n.MaxRounds)),
		},
		Settlement: Settle(n, ending), Rounds: n.CurrentRound, Seconds: now,
	}
	tick := n.EscrowAmount/maxPrices + 1
	result.History = make([]bargain.Offer, 0, len(offers))
	for round, offer := range offers {
		result.History = append(result.History, bargain.Offer{
			By: int(offer.Side), Step: round, Time: roundTime(round, int(n.MaxRounds)),
			Outcome: bargain.Outcome(offer.Amount / tick),
		})
	}
	if ending == bargain.EndingAgreement {
		result.Agreement = bargain.Outcome(n.CurrentOfferAmount / tick)
	}
	return result
}

func roundTime(round, rounds int) fixed.Number {
	return fixed.Ratio(int64(round), int64(max(rounds, 1)))
}
