package llm

import (
	"context"
	"math"
	"time"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Strategy plays the moves of language models in sessions of package bargain, such as simulations and tournaments.
type Strategy struct {
	Chooser *Chooser
	// Base computes the band, and moves when no model returns a usable answer.
	Base bargain.Strategy
	// Context ends the requests. If nil, they end by [Options].CallTimeout only.
	Context context.Context
	// Roles name the parties by their numbers. If empty, they are "buyer" and "seller".
	Roles []string
	// Decimals converts prices: a token is ten to this power of base units.
	Decimals uint8
	// Quotes adds text to every turn.
	Quotes []Quote
}

// turnLimit limits a turn, retries included.
const turnLimit = 10 * time.Minute

// Start implements [bargain.Strategy].
func (s Strategy) Start(seat bargain.Seat) bargain.Negotiator {
	n := &negotiator{Strategy: s, seat: seat, role: "buyer"}
	if seat.Self == 1 {
		n.role = "seller"
	}
	if seat.Self < len(s.Roles) {
		n.role = s.Roles[seat.Self]
	}
	if n.Context == nil {
		n.Context = context.Background()
	}
	// The second negotiator of the base finds no offer to accept, which shows its target.
	second, random := seat, *seat.Random
	second.Random = &random
	n.own, n.bidding = s.Base.Start(seat), s.Base.Start(second)
	return n
}

// negotiator is a party of one session.
type negotiator struct {
	Strategy
	seat         bargain.Seat
	role         string
	own, bidding bargain.Negotiator
}

// Respond implements [bargain.Negotiator].
func (n *negotiator) Respond(state *bargain.State) bargain.Action {
	move := n.limited(n.own.Respond(state), state)
	alone := *state
	alone.Offer, alone.By = bargain.NoOutcome, -1
	next := n.limited(n.bidding.Respond(&alone), state)
	assessed := bargain.Assessment{
		Preferences: n.seat.Preferences, Self: n.seat.Self, Rounds: math.MaxInt, Round: len(state.History), State: *state,
		Move: move, Target: bargain.NoOutcome,
	}
	if state.Steps > 0 {
		assessed.Rounds = state.Steps * max(n.seat.Parties, 1)
	}
	if next.Move == bargain.MoveOffer && n.seat.Preferences.Domain().Has(next.Outcome) {
		assessed.Target = next.Outcome
	}
	action, err := n.Chooser.Choose(n.Context, Position{
		Negotiation: n.role, Role: n.role, Assessment: assessed, Decimals: n.Decimals, Quotes: n.Quotes,
		TimeLeftPercent: 100 - int(state.Time*100/fixed.One), Deadline: time.Now().Add(turnLimit),
	})
	if err != nil {
		return bargain.End(err.Error())
	}
	return action
}

// limited moves the price of an offer into the state's limits.
func (n *negotiator) limited(action bargain.Action, state *bargain.State) bargain.Action {
	domain := n.seat.Preferences.Domain()
	at := priceOf(domain)
	if action.Move != bargain.MoveOffer || at < 0 || !domain.Has(action.Outcome) {
		return action
	}
	issue := domain.Issue(at)
	index := domain.Value(action.Outcome, at)
	switch amount := issue.Amount(index); {
	case amount < state.Least:
		if index = issue.Nearest(state.Least); issue.Amount(index) < state.Least && index+1 < issue.Count {
			index++
		}
	case amount > state.Most:
		if index = issue.Nearest(state.Most); issue.Amount(index) > state.Most && index > 0 {
			index--
		}
	}
	action.Outcome = domain.With(action.Outcome, at, index)
	return action
}
