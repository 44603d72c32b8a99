package suggest

import (
	"fmt"
	"strings"

	"github.com/haggle-protocol/haggle/internal/cli/profile"
	"github.com/haggle-protocol/haggle/internal/recorded"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// suggestion is the output.
type suggestion struct {
	Negotiation string `json:"negotiation"`
	// Side is the side that the suggestion is for, and Turn the side that the negotiation waits for.
	Side  string `json:"side"`
	Turn  string `json:"turn"`
	State string `json:"state"`
	// Move is offer, accept or reject. It is empty if it is not the side's turn.
	Move string `json:"move,omitempty"`
	// Price is the price of the offer to make or to accept.
	Price  *amount.Tokens `json:"price,omitempty"`
	Reason string         `json:"reason,omitempty"`
	// Standing is the other side's offer that the side can accept.
	Standing *amount.Tokens `json:"standing,omitempty"`
	// Limit is the worst price to agree to now, with the decay and the bond so far. It is missing if no price is as
	// good as no agreement. Target is the strategy's next price, if it makes one. Best is the best price of an offer.
	Limit  *amount.Tokens `json:"limit,omitempty"`
	Target *amount.Tokens `json:"target,omitempty"`
	Best   *amount.Tokens `json:"best,omitempty"`
	// NextDecay is the cost of the next offer to the buyer.
	NextDecay  amount.Tokens `json:"next_decay"`
	RoundsLeft uint8         `json:"rounds_left"`
	// LastOffer is the side that can make the last offer.
	LastOffer string `json:"last_offer"`
	// Equilibrium is the rest of the game, if the other side's reservation price is given.
	Equilibrium *equilibrium `json:"equilibrium,omitempty"`
	// Other is the profile of the other side's offers.
	Other profile.View `json:"other"`
}

// equilibrium is the rest of the game from the current turn.
type equilibrium struct {
	// Agreed reports whether the parties agree, at Price.
	Agreed bool           `json:"agreed"`
	Price  *amount.Tokens `json:"price,omitempty"`
	// AcceptsUpTo is the price to which the side whose turn it is accepts: a buyer's highest, a seller's lowest. It is
	// missing if the side accepts no price.
	AcceptsUpTo *amount.Tokens `json:"accepts_up_to,omitempty"`
}

func suggest(p agent.Player, turn agent.Turn, past recorded.Negotiation, tokens func(uint64) amount.Tokens) (v suggestion, err error) {
	n := &turn.Negotiation.Negotiation
	price := func(units uint64) *amount.Tokens { return new(tokens(units)) }
	v = suggestion{
		Negotiation: turn.Negotiation.Address.String(), Side: strings.ToLower(turn.Side.String()),
		Turn: strings.ToLower(n.Turn().String()), State: turn.Negotiation.Describe(), RoundsLeft: n.RoundsLeft(),
		NextDecay: tokens(n.DecayAfterRound() - n.Decay()), LastOffer: "buyer",
	}
	if n.MaxRounds%2 == 0 {
		v.LastOffer = "seller"
	}
	if !n.IsBargaining() {
		v.Turn = "seller" // which has not accepted the invitation
	}
	rules := onchain.RulesOf(n, n.CreatedAt)
	if limit, ok := rules.Limit(turn.Side, p.Reservation, n.BondForDelay()); ok {
		if most := turn.Limits.MaxTotal; most > 0 {
			limit = min(limit, most-min(most, n.Decay()))
		}
		v.Limit = price(limit)
	}
	if least, most := n.OfferRange(); n.RoundsLeft() > 0 {
		v.Best = price(most)
		if turn.Side == protocol.OfferSideBuyer {
			v.Best = price(least)
		}
	}
	if turn.CanAccept() {
		v.Standing = price(turn.Standing())
	}
	if n.IsBargaining() && n.Turn() == turn.Side {
		if err := v.play(p, turn, price); err != nil {
			return v, err
		}
	}
	prices, err := past.Prices()
	if err != nil {
		return v, err
	}
	record, err := prices.Record()
	if err != nil {
		return v, err
	}
	result, err := analysis.Analyze(record)
	if err != nil {
		return v, err
	}
	v.Other = profile.Of(result.Parties[1-turn.Side])
	return v, nil
}

// play adds the strategy's move.
func (v *suggestion) play(p agent.Player, turn agent.Turn, price func(uint64) *amount.Tokens) error {
	assessed, err := p.Assess(turn)
	if err != nil {
		return err
	}
	amountOf := func(o bargain.Outcome) uint64 { return assessed.Preferences.Domain().Issue(0).Amount(uint64(o)) }
	v.Reason = assessed.Move.Reason
	if assessed.Target != bargain.NoOutcome {
		v.Target = price(amountOf(assessed.Target))
	}
	switch assessed.Move.Move {
	case bargain.MoveAccept:
		v.Move, v.Price = "accept", price(turn.Standing())
	case bargain.MoveOffer:
		v.Move, v.Price = "offer", price(amountOf(assessed.Move.Outcome))
	default:
		v.Move = "reject"
	}
	return nil
}

// equilibriumOf returns the rest of the game at the current turn.
func equilibriumOf(h game.Haggle, n *haggle.Snapshot, tokens func(uint64) amount.Tokens) *equilibrium {
	h.Rules = onchain.RulesOf(&n.Negotiation, n.CreatedAt)
	node := h.Solve()[n.CurrentRound]
	e := &equilibrium{Agreed: node.Result.Agreed}
	if e.Agreed {
		e.Price = new(tokens(node.Result.Price))
	}
	if n.CurrentRound > 0 && !node.AcceptsNone {
		e.AcceptsUpTo = new(tokens(node.Limit))
		if node.Accepts(n.CurrentOfferAmount) {
			e.Agreed, e.Price = true, new(tokens(n.CurrentOfferAmount))
		}
	}
	return e
}

func (v suggestion) lines() []string {
	lines := []string{v.State}
	switch {
	case v.Move == "":
		lines = append(lines, "no move: it is the "+v.Turn+"'s turn")
	case v.Price != nil:
		lines = append(lines, fmt.Sprintf("%s %s (%s)", v.Move, v.Price, v.Reason))
	default:
		lines = append(lines, fmt.Sprintf("%s (%s)", v.Move, v.Reason))
	}
	written := func(price *amount.Tokens) string {
		if price == nil {
			return "none"
		}
		return price.String()
	}
	lines = append(lines, fmt.Sprintf("limit %s, target %s, best %s", written(v.Limit), written(v.Target), written(v.Best)))
	if v.RoundsLeft == 0 {
		lines = append(lines, "no offers are left")
	} else {
		lines = append(lines, fmt.Sprintf("%d offers are left; the %s can make the last one; the next one costs %s of decay",
			v.RoundsLeft, v.LastOffer, v.NextDecay))
	}
	if e := v.Equilibrium; e != nil {
		text := "equilibrium: no agreement"
		if e.Agreed {
			text = "equilibrium: agreement at " + written(e.Price)
		}
		if e.AcceptsUpTo != nil {
			text += fmt.Sprintf("; the %s accepts up to %s", v.Turn, written(e.AcceptsUpTo))
		}
		lines = append(lines, text)
	}
	lines = append(lines, "other side:")
	for _, line := range v.Other.Lines() {
		lines = append(lines, "  "+line)
	}
	return lines
}
