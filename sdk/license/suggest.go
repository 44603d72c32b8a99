package license

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Suggestion is a strategy's next move in an open negotiation, as [Client.Buy] would make it.
type Suggestion struct {
	Negotiation string `json:"negotiation_id"`
	Publisher   string `json:"publisher_hostname"`
	// Round is the number of the client's moves so far, which [Acceptance.Round] is for an acceptance.
	Round int `json:"current_round"`
	// Move is propose, accept or end, Terms holds the terms to propose or to accept, and Why is the reason.
	Move  Move   `json:"move"`
	Terms *Terms `json:"terms,omitempty"`
	Why   string `json:"why"`
	// LimitMicro is the highest price per fetch in micro units, and OfferMicro the publisher's newest price,
	// or 0 if there is no offer.
	LimitMicro uint64 `json:"limit_micro"`
	OfferMicro uint64 `json:"offer_micro,omitempty"`
}

// Suggest returns the next move in an open negotiation of the client, and sends none. It follows from the
// client's own limits, never sent to the gateway, the history, and the publisher strategy's public facts. ID,
// Publishers, Purposes, Fetches and BudgetMicro follow from the negotiation where the request leaves them
// out. It returns an error with [ErrRequest] for invalid requests, including requests for no prepaid fetches,
// [ErrEnded] if the negotiation is over, [ErrPending] if it waits for the publisher, and [Client.Status] and [Client.Strategy] errors.
func (c *Client) Suggest(ctx context.Context, negotiation string, r Request) (Suggestion, error) {
	details, err := c.Status(ctx, negotiation)
	if err != nil {
		return Suggestion{}, err
	}
	if details.Status != Initiated && details.Status != Negotiating {
		return Suggestion{}, fmt.Errorf("negotiation %s is %s: %w", negotiation, details.Status, ErrEnded)
	}
	if details.AnswerPending {
		return Suggestion{}, fmt.Errorf("negotiation %s: %w", negotiation, ErrPending)
	}
	first := details.first()
	r = r.following(&details, first)
	if r, err = r.normal(); err != nil {
		return Suggestion{}, err
	}
	p := &purchase{
		client: c, request: &r, first: first, Purchase: Purchase{Publisher: details.Publisher, Negotiation: negotiation},
	}
	s, err := p.start(ctx)
	if err != nil {
		return Suggestion{}, err
	}
	step := Step{Move: MoveEnd, Why: p.Reason}
	if p.Outcome == "" {
		step = p.resume(s, details.Rounds)
	}
	found := Suggestion{
		Negotiation: negotiation, Publisher: details.Publisher, Round: details.Round, Move: step.Move, Terms: step.Terms,
		Why: step.Why, LimitMicro: r.Limit(),
	}
	if p.answer.Terms != nil {
		found.OfferMicro = p.answer.Terms.PriceMicro
	}
	return found, nil
}

// first returns the terms of the client's first proposal, or nil. The strategy starts at that proposal's
// price if it is lower than the usual opening.
func (d *Details) first() *Terms {
	for _, round := range d.Rounds {
		if round.Actor == "client" && round.Terms != nil {
			return round.Terms
		}
	}
	return nil
}

// following completes the request with the negotiation's publisher, and the purposes and fetches from the
// client's own terms.
func (r Request) following(details *Details, first *Terms) Request {
	r.ID = cmp.Or(r.ID, details.ID)
	r.Publishers = []string{details.Publisher}
	if first != nil {
		r.Fetches = cmp.Or(r.Fetches, first.PrepaidFetches)
		if len(r.Purposes) == 0 {
			r.Purposes = slices.Clone(first.Purposes)
		}
	}
	if r.BudgetMicro == 0 {
		r.BudgetMicro, _ = Terms{PriceMicro: r.MaxPriceMicro, PrepaidFetches: r.Fetches}.CostMicro()
	}
	return r
}

// resume replays the history, and returns the next move.
func (p *purchase) resume(s *session, rounds []Round) Step {
	turn := 0
	for _, round := range rounds {
		switch {
		case round.Terms == nil:
		case round.Actor == "client":
			turn++
			p.proposed.TokenTTLSeconds, p.proposed.BurstRPS = round.Terms.TokenTTLSeconds, round.Terms.BurstRPS
			s.proposed(round.Terms.PriceMicro)
		case round.Actor == "publisher":
			p.answer.Terms = round.Terms
			if reason := p.adapt(*round.Terms); reason != "" {
				return Step{Round: turn + 1, Move: MoveEnd, Why: reason}
			}
			s.offered(round.Terms.PriceMicro, p.request.refusal(*round.Terms) == "")
		}
	}
	step, _ := p.next(s, turn)
	return step
}
