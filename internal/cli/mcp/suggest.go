package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/profile"
	"github.com/haggle-protocol/haggle/internal/cli/suggestion"
	past "github.com/haggle-protocol/haggle/internal/indexer/recorded"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Suggestion is a strategy's move at the wallet's turn, with the figures that it follows from.
type Suggestion struct {
	Move        string       `json:"move,omitempty" jsonschema:"offer, accept or reject; missing if it is not your turn"`
	Price       *Amount      `json:"price,omitempty" jsonschema:"of the offer to make or to accept"`
	Reason      string       `json:"reason,omitempty"`
	Limit       *Amount      `json:"limit,omitempty" jsonschema:"worst price to agree to now; missing if no price is as good as no agreement"`
	Target      *Amount      `json:"target,omitempty" jsonschema:"the strategy's next price"`
	Best        *Amount      `json:"best,omitempty" jsonschema:"best price of an offer for you"`
	NextDecay   Amount       `json:"next_decay" jsonschema:"cost of the next offer to the buyer"`
	RoundsLeft  uint8        `json:"rounds_left"`
	LastOffer   string       `json:"last_offer" jsonschema:"side that can make the last offer"`
	Equilibrium *Equilibrium `json:"equilibrium,omitempty" jsonschema:"rest of the game if the other reservation price is right"`
	OtherSide   []string     `json:"other_side" jsonschema:"the other side's steps and the strategies that fit its offers"`
}

// Equilibrium is the rest of the game from the current turn.
type Equilibrium struct {
	Price       *Amount `json:"price,omitempty" jsonschema:"price of the agreement; missing if there is none"`
	AcceptsUpTo *Amount `json:"accepts_up_to,omitempty" jsonschema:"price to which the side whose turn it is accepts"`
}

type suggestArguments struct {
	Negotiation string `json:"negotiation" jsonschema:"address"`
	Reservation string `json:"reservation,omitempty" jsonschema:"a buyer's highest price, or a seller's least amount after the fee: 3.5 for tokens or 3500000u for base units; default the owner's limit"`
	Opening     string `json:"opening,omitempty" jsonschema:"price from which the strategy concedes; default the best price"`
	Strategy    string `json:"strategy,omitempty" jsonschema:"default hybrid; with parameters as in negmas-boulware:e=6"`
	Other       string `json:"other_reservation,omitempty" jsonschema:"the other side's reservation price as you guess it, for the equilibrium"`
}

func (s *server) suggest(ctx context.Context, in suggestArguments) *Answer {
	ctx, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	n, err := s.ownNegotiation(ctx, in.Negotiation)
	if err != nil {
		return s.failed(ctx, "", solana.PublicKey{}, err)
	}
	fail := func(err error) *Answer { return s.failed(ctx, "", n.Address, err) }
	q, err := s.question(ctx, n, in)
	if err != nil {
		return fail(err)
	}
	found, err := suggestion.Of(ctx, s.Client, n, q)
	switch {
	case errors.Is(err, suggestion.ErrOver):
		return fail(unexpected("%s", err))
	case errors.Is(err, past.ErrIncomplete):
		return fail(&exitcode.Error{Kind: exitcode.Network, Err: err})
	case err != nil:
		return fail(err)
	}
	m, err := s.mint(ctx, n.TokenMint)
	if err != nil {
		return fail(err)
	}
	price := func(units *uint64) *Amount {
		if units == nil {
			return nil
		}
		return new(amountOf(m, *units))
	}
	v := &Suggestion{
		Move: found.Move, Price: price(found.Price), Reason: found.Reason, Limit: price(found.Limit),
		Target: price(found.Target), Best: price(found.Best), NextDecay: amountOf(m, found.NextDecay),
		RoundsLeft: found.RoundsLeft, LastOffer: format.Side(found.LastOffer), OtherSide: profile.Of(found.Other).Lines(),
	}
	if e := found.Equilibrium; e != nil {
		v.Equilibrium = &Equilibrium{price(e.Price), price(e.AcceptsUpTo)}
	}
	answer := &Answer{Outcome: Read, Negotiation: n.Address.String(), Suggestion: v, State: s.stateOf(n, m, n.Time)}
	switch v.Move {
	case "offer":
		answer.Next = fmt.Sprintf("to follow it: haggle_offer with amount %su and round %d", v.Price.BaseUnits, n.CurrentRound+1)
	case "accept":
		answer.Next = fmt.Sprintf(`to follow it: haggle_accept with "what": "offer", price %su and round %d`,
			v.Price.BaseUnits, n.CurrentRound)
	case "reject":
		answer.Next = "to follow it: haggle_reject"
	default:
		answer.Next = nextStep(answer.State)
	}
	return answer
}

// question reads the arguments. The owner's limits hold in any case.
func (s *server) question(ctx context.Context, n *haggle.Snapshot, in suggestArguments) (q suggestion.Question, err error) {
	played, err := strategy.Parse(cmp.Or(in.Strategy, suggestion.DefaultStrategy))
	if err != nil {
		return q, invalid("strategy: %s", err)
	}
	q.Player = agent.Player{Strategy: played.Strategy, Name: played.String()}
	q.Side, _ = n.SideOf(s.me())
	limits, allowed := s.Limits.Tokens[n.TokenMint]
	if allowed && q.Side == protocol.OfferSideSeller {
		q.Player.Reservation = limits.MinPrice - n.FeeOn(limits.MinPrice)
		if onchain.Gross(&n.Negotiation, q.Player.Reservation) < limits.MinPrice {
			q.Player.Reservation++ // by the fee's rounding a lower price leaves the same
		}
	}
	if allowed && q.Side == protocol.OfferSideBuyer && limits.MaxTotal != policy.Unlimited {
		q.Player.Reservation, q.MaxTotal = limits.MaxTotal, limits.MaxTotal
	}
	if in.Reservation == "" && q.Player.Reservation == 0 {
		return q, invalid("reservation not set: the policy has no limit of this price")
	}
	var other uint64
	for _, price := range []struct {
		name, written string
		to            *uint64
	}{
		{"reservation", in.Reservation, &q.Player.Reservation}, {"opening", in.Opening, &q.Player.Opening},
		{"other_reservation", in.Other, &other},
	} {
		if price.written == "" {
			continue
		}
		if *price.to, err = s.units(ctx, n.TokenMint, price.name, price.written); err != nil {
			return q, err
		}
	}
	if in.Other != "" {
		q.Other = &other
	}
	return q, nil
}
