// Package suggestion computes the next move suggested by a strategy of package bargain for a side in an open
// negotiation, with the figures that it follows from. It sends nothing.
package suggestion

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/haggle-protocol/haggle/internal/indexer/recorded"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// DefaultStrategy earns most in the table of docs/RESEARCH.md.
const DefaultStrategy = "hybrid"

// ErrOver: the bargaining is over.
var ErrOver = errors.New("the bargaining is over")

// Question is a side, with strategy and limits.
type Question struct {
	Side   protocol.OfferSide
	Player agent.Player
	// MaxTotal is a buyer's highest total of price and decay, in the mint's base units. If it is 0, only the
	// escrow limits the total.
	MaxTotal uint64
	// Other holds the opponent's reservation price, for the equilibrium; nil if not known.
	Other *uint64
}

// Suggestion is a move with figures. Prices are in the mint's base units, and nil if there is none.
type Suggestion struct {
	// Side is the side that the suggestion is for, and Turn the side that the negotiation waits for.
	Side, Turn protocol.OfferSide
	State      string
	// Move is offer, accept or reject, or "" if it is not the side's turn. Price is the offer price to make
	// or to accept.
	Move   string
	Price  *uint64
	Reason string
	// Standing is the opponent's offer that the side can accept.
	Standing *uint64
	// Limit is the worst price to agree to now, with the decay and the bond so far; nil if no price is as
	// good as no agreement. Target is the strategy's next price, if it makes one. Best is the best offer
	// price.
	Limit, Target, Best *uint64
	// NextDecay is what the next offer costs the buyer.
	NextDecay  uint64
	RoundsLeft uint8
	// LastOffer names the side that can make the last offer.
	LastOffer protocol.OfferSide
	// Equilibrium describes the rest of the game; nil if the opponent's reservation price is not known.
	Equilibrium *Equilibrium
	// Other describes the opponent, from the offers.
	Other analysis.Profile
}

// Equilibrium describes the rest of the game from the current turn.
type Equilibrium struct {
	// Price is the agreed price; nil if the parties do not agree.
	Price *uint64
	// AcceptsUpTo limits the prices accepted by the side to move: a buyer's highest, a seller's lowest. It is
	// nil until there is an offer, and if the side accepts no price.
	AcceptsUpTo *uint64
}

// Of reads a negotiation's history and answers a question. It returns [ErrOver], or [recorded.ErrIncomplete]
// if the node does not return all offers.
func Of(ctx context.Context, client *haggle.Client, n *haggle.Snapshot, q Question) (*Suggestion, error) {
	if !n.IsBargaining() && n.Status != protocol.NegotiationStatusCreated {
		return nil, fmt.Errorf("%w: %s", ErrOver, n.Describe())
	}
	past, err := history(ctx, client, n)
	if err != nil {
		return nil, err
	}
	turn := agent.Turn{
		Negotiation: n, Side: q.Side, Now: n.Time, Deadline: n.TurnDeadline, Limits: agent.Limits{MaxTotal: q.MaxTotal},
	}
	for _, offer := range past.Offers {
		turn.History = append(turn.History, agent.PastOffer{
			Round: offer.Round, Side: protocol.OfferSide((offer.Round + 1) % 2), Amount: offer.Amount,
			Escrow: offer.EffectiveEscrow,
		})
	}
	s := describe(q, turn)
	if n.IsBargaining() && n.Turn() == q.Side {
		if err := s.play(q.Player, turn); err != nil {
			return nil, err
		}
	}
	prices, err := past.Prices()
	if err != nil {
		return nil, err
	}
	record, err := prices.Record()
	if err != nil {
		return nil, err
	}
	result, err := analysis.Analyze(record)
	if err != nil {
		return nil, err
	}
	s.Other = result.Parties[1-q.Side]
	return s, nil
}

// history returns the offers until a snapshot.
func history(ctx context.Context, client *haggle.Client, n *haggle.Snapshot) (past recorded.Negotiation, err error) {
	var events []protocol.Event
	for envelope, err := range client.History(ctx, n.Address) {
		if err != nil {
			return past, err
		}
		if !envelope.Truncated {
			events = append(events, envelope.Event)
		}
	}
	past = recorded.Of(events)
	if past.Created == nil || past.Created.Timestamp != n.CreatedAt || len(past.Offers) < int(n.CurrentRound) {
		return past, recorded.ErrIncomplete
	}
	past.Offers = past.Offers[:n.CurrentRound]
	return past, nil
}

// describe returns the figures that follow from the state alone.
func describe(q Question, turn agent.Turn) *Suggestion {
	n := &turn.Negotiation.Negotiation
	s := &Suggestion{
		Side: q.Side, Turn: n.Turn(), State: turn.Negotiation.Describe(), RoundsLeft: n.RoundsLeft(),
		NextDecay: n.DecayAfterRound() - n.Decay(), LastOffer: protocol.OfferSide((n.MaxRounds + 1) % 2),
	}
	if !n.IsBargaining() {
		s.Turn = protocol.OfferSideSeller // the seller, yet to accept the invitation
	}
	rules := onchain.RulesOf(n, n.CreatedAt)
	if limit, ok := rules.Limit(q.Side, q.Player.Reservation, n.BondForDelay()); ok {
		if q.MaxTotal > 0 {
			limit = min(limit, q.MaxTotal-min(q.MaxTotal, n.Decay()))
		}
		s.Limit = &limit
	}
	if least, most := n.OfferRange(); n.RoundsLeft() > 0 {
		s.Best = &most
		if q.Side == protocol.OfferSideBuyer {
			s.Best = &least
		}
	}
	if turn.CanAccept() {
		s.Standing = new(turn.Standing())
	}
	if q.Other != nil {
		h := game.Haggle{Rules: rules, Value: q.Player.Reservation, Cost: *q.Other}
		if q.Side == protocol.OfferSideSeller {
			h.Value, h.Cost = h.Cost, h.Value
		}
		s.Equilibrium = equilibriumOf(h, n)
	}
	return s
}

// play adds the strategy's move.
func (s *Suggestion) play(p agent.Player, turn agent.Turn) error {
	assessed, err := p.Assess(turn)
	if err != nil {
		return err
	}
	price := func(o bargain.Outcome) *uint64 {
		return new(assessed.Preferences.Domain().Issue(0).Amount(uint64(o)))
	}
	s.Reason = assessed.Move.Reason
	if assessed.Target != bargain.NoOutcome {
		s.Target = price(assessed.Target)
	}
	switch assessed.Move.Move {
	case bargain.MoveAccept:
		s.Move, s.Price = "accept", s.Standing
	case bargain.MoveOffer:
		s.Move, s.Price = "offer", price(assessed.Move.Outcome)
	default:
		s.Move = "reject"
	}
	return nil
}

// equilibriumOf returns the rest of the game at the current turn.
func equilibriumOf(h game.Haggle, n *protocol.Negotiation) *Equilibrium {
	node := h.Solve()[n.CurrentRound]
	e := &Equilibrium{}
	if node.Result.Agreed {
		e.Price = &node.Result.Price
	}
	if n.CurrentRound > 0 && !node.AcceptsNone {
		e.AcceptsUpTo = &node.Limit
		if node.Accepts(n.CurrentOfferAmount) {
			e.Price = &n.CurrentOfferAmount
		}
	}
	return e
}

// Lines formats the suggestion as text lines, with amounts formatted by written.
func (s *Suggestion) Lines(written func(units uint64) string) []string {
	price := func(units *uint64) string {
		if units == nil {
			return "none"
		}
		return written(*units)
	}
	side := func(of protocol.OfferSide) string { return strings.ToLower(of.String()) }
	lines := []string{s.State}
	switch {
	case s.Move == "":
		lines = append(lines, "no move: it is the "+side(s.Turn)+"'s turn")
	case s.Price != nil:
		lines = append(lines, fmt.Sprintf("%s %s (%s)", s.Move, price(s.Price), s.Reason))
	default:
		lines = append(lines, fmt.Sprintf("%s (%s)", s.Move, s.Reason))
	}
	lines = append(lines, fmt.Sprintf("limit %s, target %s, best %s", price(s.Limit), price(s.Target), price(s.Best)))
	if s.RoundsLeft == 0 {
		lines = append(lines, "no offers are left")
	} else {
		lines = append(lines, fmt.Sprintf("%d offers are left; the %s can make the last one; the next one costs %s of decay",
			s.RoundsLeft, side(s.LastOffer), written(s.NextDecay)))
	}
	if e := s.Equilibrium; e != nil {
		text := "equilibrium: no agreement"
		if e.Price != nil {
			text = "equilibrium: agreement at " + price(e.Price)
		}
		if e.AcceptsUpTo != nil {
			text += fmt.Sprintf("; the %s accepts up to %s", side(s.Turn), price(e.AcceptsUpTo))
		}
		lines = append(lines, text)
	}
	return lines
}
