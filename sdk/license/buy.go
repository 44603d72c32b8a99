package license

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// Buy buys a license from each publisher, sequentially. It bargains with each until a deal, a refusal, or a
// request limit. It never accepts or proposes terms outside the request.
//
// Every request sent carries an idempotency key derived from [Request.ID]: if called again with the same
// request, as after crashes or errors, Buy resends them, receives the first answers, and continues. It opens
// no second negotiation, and the agreed licenses stay within the budget.
//
// Buy leaves negotiations that it does not continue, to free the publisher's slot: if no deal is reached, or
// the context ends. When the context has ended, it makes one attempt to leave, limited to 5 s. It cannot
// leave a negotiation until the first response is received.
//
// Buy returns an error with [ErrRequest] for an invalid request. If the context ends, it returns the
// context's cause and the result so far; the same request then continues with the publishers whose
// negotiations were not left. All other errors belong to single publishers: the result contains them all, and
// Buy returns the first. On [ErrLimited], repeat the request after [Problem.RetryAfter]. [ErrKeyReused] means
// that the ID belongs to another request, or the published floor changed.
func (c *Client) Buy(ctx context.Context, r Request) (Result, error) {
	r, err := r.normal()
	if err != nil {
		return Result{}, err
	}
	result := Result{ID: r.ID}
	for _, hostname := range r.Publishers {
		if ctx.Err() != nil {
			return result, context.Cause(ctx)
		}
		p := &purchase{client: c, request: &r, Purchase: Purchase{Publisher: hostname}}
		err := p.buy(ctx)
		if err != nil {
			err = p.leftBefore(ctx, err)
		}
		if err != nil {
			p.Outcome, p.Reason, p.Err = Failed, err.Error(), err
		}
		p.leave(ctx)
		result.Purchases = append(result.Purchases, p.Purchase)
	}
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	return result, result.Err()
}

// Plan returns the first proposal to each publisher, and sends none. If Buy would not propose to a publisher,
// the plan contains the outcome and the reason. Plan returns [ErrRequest] and [Client.Strategy] errors.
func (c *Client) Plan(ctx context.Context, r Request) (Result, error) {
	r, err := r.normal()
	if err != nil {
		return Result{}, err
	}
	result := Result{ID: r.ID}
	for _, hostname := range r.Publishers {
		p := &purchase{client: c, request: &r, Purchase: Purchase{Publisher: hostname}}
		s, err := p.start(ctx)
		if err != nil {
			return result, err
		}
		if p.Outcome == "" {
			if step, over := p.next(s, 0); !over {
				p.Steps = append(p.Steps, step)
			}
		}
		result.Purchases = append(result.Purchases, p.Purchase)
	}
	return result, nil
}

// purchase is the bargaining with one publisher.
type purchase struct {
	Purchase
	client  *Client
	request *Request
	// proposed holds the next proposal's terms, except for the price.
	proposed Terms
	// first holds the first proposal's terms in an already open negotiation.
	first *Terms
	// answer is the publisher's newest answer.
	answer Answer
	// leaving is the reason to leave an open negotiation.
	leaving LeaveReason
}

// end sets the outcome.
func (p *purchase) end(outcome Outcome, format string, values ...any) {
	p.Outcome, p.Reason = outcome, fmt.Sprintf(format, values...)
}

// add records a step.
func (p *purchase) add(step Step) {
	p.Steps = append(p.Steps, step)
	if p.request.Observe != nil {
		p.request.Observe(p.Publisher, step)
	}
}

// start reads the public facts, and starts the bargaining. If the facts exclude a deal, it sets the outcome.
func (p *purchase) start(ctx context.Context) (*session, error) {
	r := p.request
	facts, err := p.client.Strategy(ctx, p.Publisher)
	if err != nil {
		return nil, err
	}
	limit := r.Limit()
	for _, purpose := range r.Purposes {
		if !slices.Contains(facts.Purposes, purpose) {
			p.end(NoDeal, "publisher does not allow the purpose %s", purpose)
			return nil, nil
		}
	}
	switch {
	case facts.Currency != r.Currency:
		p.end(NoDeal, "publisher's currency is %.12s, and the limits are in %s", facts.Currency, r.Currency)
		return nil, nil
	case facts.FloorMicro > limit:
		p.end(NoDeal, "limit of %d is below the published floor of %d micro units a fetch", limit, facts.FloorMicro)
		return nil, nil
	}
	opening := max(cmp.Or(r.OpeningMicro, facts.FloorMicro, (limit+9)/10), facts.FloorMicro)
	if p.first != nil {
		opening = min(opening, p.first.PriceMicro)
	}
	opening = min(opening, limit)
	p.proposed = Terms{
		TokenTTLSeconds: r.TTL.Preferred, BurstRPS: r.RPS.Preferred, Purposes: slices.Clone(r.Purposes),
		PrepaidFetches: r.Fetches,
	}
	return newSession(r.Strategy, opening, limit, r.Rounds, r.ID, p.Publisher)
}

func (p *purchase) buy(ctx context.Context) error {
	s, err := p.start(ctx)
	if err != nil || p.Outcome != "" {
		return err
	}
	for turn := 0; ; turn++ {
		step, over := p.next(s, turn)
		if over {
			p.add(step)
			p.end(NoDeal, "%s", step.Why)
			p.leaving = LeavePrice
			return nil
		}
		// The last check before a request that can bind the buyer.
		if reason := p.request.refusal(*step.Terms); reason != "" {
			return &permanent{fmt.Errorf("%s of the strategy refused: %s", step.Move, reason)}
		}
		if err := p.send(ctx, &step); err != nil {
			return err
		}
		if id := p.answer.Negotiation.ID; p.Negotiation == "" {
			p.Negotiation = id
		} else if id != p.Negotiation {
			return &permanent{fmt.Errorf("negotiation %s: the gateway answers for %.40q", p.Negotiation, id)}
		}
		step.Answer, step.Offer, step.Reason = p.answer.Action, p.answer.Terms, p.answer.Reason
		p.add(step)
		if p.answer.Action != ActionCounter || step.Move == MoveAccept {
			return p.finish(ctx, *step.Terms)
		}
		if p.answer.Terms == nil {
			return &permanent{errors.New("counter offer of the gateway: has no terms")}
		}
		if reason := p.adapt(*p.answer.Terms); reason != "" {
			p.add(Step{Round: turn + 2, Move: MoveEnd, Why: reason})
			p.end(NoDeal, "%s", reason)
			p.leaving = LeaveTerms
			return nil
		}
		s.offered(p.answer.Terms.PriceMicro, p.request.refusal(*p.answer.Terms) == "")
	}
}

// next returns the move for a turn, counted from 0, and whether the bargaining is over with no deal.
func (p *purchase) next(s *session, turn int) (step Step, over bool) {
	action := s.respond()
	step = Step{Round: turn + 1, Why: action.Reason}
	switch {
	case action.Move == bargain.MoveAccept:
		step.Move, step.Terms = MoveAccept, p.answer.Terms
		return step, false
	case action.Move == bargain.MoveOffer:
		proposed := p.proposed
		proposed.PriceMicro = s.issue.Amount(uint64(action.Outcome))
		step.Move, step.Terms = MovePropose, &proposed
		return step, false
	case turn >= s.rounds:
		step.Why = fmt.Sprintf("no agreement in %d rounds", s.rounds)
		if p.answer.Terms != nil && p.answer.Terms.PriceMicro > p.request.Limit() {
			step.Why += fmt.Sprintf("; the publisher's last price of %d is above the limit of %d micro units a fetch",
				p.answer.Terms.PriceMicro, p.request.Limit())
		}
	}
	step.Move = MoveEnd
	return step, true
}

// send sends a move. The idempotency key follows from the purchase and the move number. If sending fails, the
// previous answer is kept, unless the new one is pending.
func (p *purchase) send(ctx context.Context, step *Step) (err error) {
	var answer Answer
	key := keyOf(p.request.ID, p.Publisher, fmt.Sprintf("%s %d", step.Move, step.Round))
	switch {
	case step.Move == MoveAccept:
		answer, err = p.client.Accept(ctx, Acceptance{
			Negotiation: p.Negotiation, Round: p.answer.Negotiation.Round, IdempotencyKey: key,
		})
	case p.Negotiation == "":
		answer, err = p.client.Propose(ctx, Proposal{
			Publisher: p.Publisher, Terms: *step.Terms, IdempotencyKey: key,
		})
	default:
		answer, err = p.client.Counter(ctx, CounterOffer{
			Negotiation: p.Negotiation, Terms: *step.Terms, IdempotencyKey: key,
		})
	}
	if err == nil || answer.Action == ActionPending {
		p.answer = answer
	}
	if err != nil && answer.Action == ActionPending {
		p.Negotiation = answer.Negotiation.ID
	}
	return err
}

// adapt takes over the publisher's values that the request permits. It returns the reason why no deal is
// possible, or "". Publishers move values only into their own range, so a value outside the request's range
// means that the ranges have nothing in common.
func (p *purchase) adapt(offer Terms) (reason string) {
	if reason := p.request.mismatch(offer); reason != "" {
		return "publisher's offer: " + reason
	}
	p.proposed.TokenTTLSeconds, p.proposed.BurstRPS = offer.TokenTTLSeconds, offer.BurstRPS
	return ""
}

// finish sets the outcome of the last answer, and reads the license.
func (p *purchase) finish(ctx context.Context, sent Terms) error {
	a := p.answer
	switch a.Action {
	case ActionReject, ActionTimeout:
		if slices.Contains(a.Codes, CodeClientLeft) {
			p.endLeft()
			return nil
		}
		p.end(Refused, "%s", a.Reason)
		return nil
	case ActionAccept, ActionApprove:
	default:
		return &permanent{fmt.Errorf("answer of the gateway: unknown action %.40q", string(a.Action))}
	}
	// The agreed terms equal the proposal's or the offer's; terms that the request does not permit are an
	// error.
	p.Terms = a.Terms
	if p.Terms == nil {
		p.Terms = &sent
	}
	p.CostMicro, _ = p.Terms.CostMicro()
	reason := p.request.refusal(*p.Terms)
	if reason == "" && !p.Terms.same(sent) {
		reason = fmt.Sprintf("%+v instead of %+v", *p.Terms, sent)
	}
	if reason != "" {
		p.Terms, p.CostMicro = nil, 0
		return &permanent{fmt.Errorf("negotiation %s: the gateway names other terms than were sent: %s; "+
			"ask its operator", p.Negotiation, reason)}
	}
	p.end(Deal, "%s", a.Reason)
	if a.Action == ActionApprove {
		approved, err := p.approved(ctx)
		if err != nil || !approved {
			return err
		}
	}
	found, err := p.client.License(ctx, p.Negotiation)
	switch {
	case errors.Is(err, ErrUnnamed), errors.Is(err, ErrForbidden):
		// A license needs a registered client's name: the deal stands even if there is no license.
		p.Reason += "; no license: " + err.Error()
		return nil
	case err != nil:
		return err
	}
	if found.NegotiationID != p.Negotiation || found.Policy.Publisher != p.Publisher ||
		len(found.Policy.Rules) != 1 || !found.Policy.Rules[0].grants(*p.Terms) {
		return &permanent{fmt.Errorf("license %d: is not that of negotiation %s; ask the gateway's operator",
			found.ID, p.Negotiation)}
	}
	p.License = &found
	return nil
}

// approved reports whether the publisher has approved the agreement already, for a repetition of the request.
// Otherwise it sets the outcome.
func (p *purchase) approved(ctx context.Context) (bool, error) {
	details, err := p.client.Status(ctx, p.Negotiation)
	switch {
	case err != nil:
		return false, err
	case details.Status == Accepted:
		if details.FinalTerms == nil || !details.FinalTerms.same(*p.Terms) {
			return false, &permanent{fmt.Errorf("negotiation %s: was approved with other terms; ask the gateway's "+
				"operator", p.Negotiation)}
		}
		p.Reason = "publisher approved the agreement"
		return true, nil
	case details.Status == AwaitingApproval:
		p.Outcome = Pending
	default:
		p.end(Refused, "%s", details.Reason)
		p.Terms, p.CostMicro = nil, 0
	}
	return false, nil
}
