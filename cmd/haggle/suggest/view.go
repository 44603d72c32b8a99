package suggest

import (
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/profile"
	"github.com/haggle-protocol/haggle/internal/cli/suggestion"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

// view is the output.
type view struct {
	Negotiation string `json:"negotiation"`
	// Side is the side that the suggestion is for, and Turn the side that the negotiation waits for.
	Side  string `json:"side"`
	Turn  string `json:"turn"`
	State string `json:"state"`
	// Move is offer, accept or reject. It is omitted if it is not the side's turn.
	Move string `json:"move,omitempty"`
	// Price is the price of the offer to make or to accept.
	Price  *amount.Tokens `json:"price,omitempty"`
	Reason string         `json:"reason,omitempty"`
	// Standing is the opponent's offer that the side can accept.
	Standing *amount.Tokens `json:"standing,omitempty"`
	// Limit is the worst price to agree to now, with the decay and the bond so far. It is missing if no price
	// is as good as no agreement. Target is the strategy's next price, if it makes one. Best is the best
	// offer price.
	Limit  *amount.Tokens `json:"limit,omitempty"`
	Target *amount.Tokens `json:"target,omitempty"`
	Best   *amount.Tokens `json:"best,omitempty"`
	// NextDecay is what the next offer costs the buyer.
	NextDecay  amount.Tokens `json:"next_decay"`
	RoundsLeft uint8         `json:"rounds_left"`
	// LastOffer is the side that can make the last offer.
	LastOffer string `json:"last_offer"`
	// Equilibrium is the rest of the game, if the opponent's reservation price is given.
	Equilibrium *equilibriumView `json:"equilibrium,omitempty"`
	// Other is the profile computed from the opponent's offers.
	Other profile.View `json:"other"`
}

// equilibriumView is the rest of the game from the current turn.
type equilibriumView struct {
	// Price is the agreed price. It is missing if the parties do not agree.
	Price *amount.Tokens `json:"price,omitempty"`
	// AcceptsUpTo is the limit of the prices accepted by the side to move: a buyer's highest, a seller's
	// lowest. It is missing until there is an offer, and if the side accepts no price.
	AcceptsUpTo *amount.Tokens `json:"accepts_up_to,omitempty"`
}

func viewOf(negotiation string, s *suggestion.Suggestion, tokens func(uint64) amount.Tokens) view {
	price := func(units *uint64) *amount.Tokens {
		if units == nil {
			return nil
		}
		return new(tokens(*units))
	}
	v := view{
		Negotiation: negotiation, Side: format.Side(s.Side), Turn: format.Side(s.Turn), State: s.State, Move: s.Move,
		Price: price(s.Price), Reason: s.Reason, Standing: price(s.Standing), Limit: price(s.Limit),
		Target: price(s.Target), Best: price(s.Best), NextDecay: tokens(s.NextDecay), RoundsLeft: s.RoundsLeft,
		LastOffer: format.Side(s.LastOffer), Other: profile.Of(s.Other),
	}
	if e := s.Equilibrium; e != nil {
		v.Equilibrium = &equilibriumView{price(e.Price), price(e.AcceptsUpTo)}
	}
	return v
}
