package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Action is the publisher's answer.
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Counter Action = "counter"
	Reject  Action = "reject"
	// Approve is an agreement that waits for the publisher's approval.
	Approve Action = "approve"
	Timeout Action = "timeout"
	// Pending is an answer that does not exist yet, because a language model is asked for it. No rule returns it.
	Pending Action = "pending"
)

// Decision results from a rule.
type Decision struct {
	Action Action
	// Terms holds the accepted terms or the counter offer; nil otherwise.
	Terms  *terms.Terms
	Reason string
	// Least is the lowest price that can replace the counter offer's price in Terms, the highest: see
	// [Decision.WithPrice]. It is 0 unless the action is a counter offer.
	Least uint64
	// Round numbers the answered proposal, from 1; 0 if the decision does not answer a proposal.
	Round uint32
	// Tone and Analysis are for the publisher's record.
	Tone     Tone
	Analysis Analysis
}

// Answer is the part of the decision that the client receives.
type Answer struct {
	Action Action       `json:"action"`
	Terms  *terms.Terms `json:"terms,omitempty"`
	// Reason is a sentence from the rules, and Codes lists its parts for programs.
	Reason string       `json:"reason"`
	Codes  []ReasonCode `json:"reason_codes"`
}

// Answer returns the part for the client.
func (d Decision) Answer() Answer { return Answer{d.Action, d.Terms, d.Reason, CodesOf(d.Reason)} }

// Analysis is the reasoning behind a decision. It contains hidden limits: it is for the publisher.
type Analysis struct {
	// Rule made the decision.
	Rule Rule `json:"rule"`
	// Score is the proposal's score, and GuardedScore the total with the walk-away price replacing the
	// minimum. GuardedScore is compared with the threshold for automatic acceptance.
	Score        ScoreParts    `json:"score"`
	GuardedScore terms.Decimal `json:"guarded_score"`
	// Asked is the price asked in the round and AcceptFrom the lowest price accepted then, in micro units.
	Asked      uint64 `json:"asked_price_micro"`
	AcceptFrom uint64 `json:"accept_from_micro"`
	// DealBreaker rejected the proposal; empty if none did.
	DealBreaker string `json:"deal_breaker,omitempty"`
}

// Rule names a rule.
type Rule string

// The rules.
const (
	RuleFloor         Rule = "published_floor"
	RuleDealBreaker   Rule = "deal_breaker"
	RuleMaxRounds     Rule = "max_rounds"
	RuleStanding      Rule = "standing_counter"
	RuleThreshold     Rule = "auto_accept_threshold"
	RuleConcession    Rule = "concession"
	RuleRange         Rule = "range"
	RuleClientAccepts Rule = "client_accepts"
	RulePublisher     Rule = "publisher_decides"
	RuleClientLeaves  Rule = "client_leaves"
)

// Respond answers a proposal that arrives before the deadline. The strategy must be valid. It returns
// [ErrFinal], [ErrAwaitingApproval], or an error with [terms.ErrInvalid]; then the state does not change.
func Respond(s *Strategy, state State, proposal terms.Terms) (Decision, error) {
	if err := state.check(); err != nil {
		return Decision{}, err
	}
	if err := proposal.Validate(); err != nil {
		return Decision{}, err
	}
	if state.Round >= s.MaxRounds {
		return s.end(Timeout, ReasonRounds, RuleMaxRounds), nil
	}
	decision := s.answer(state, proposal.Normal())
	decision.Round, decision.Tone = state.Round+1, s.Style.parameters().tone
	return decision, nil
}

func (s *Strategy) answer(state State, proposal terms.Terms) Decision {
	quote := s.quote(proposal.PrepaidFetches)
	offer := s.within(proposal)
	ask, accept := quote.prices(quote.levels(state, proposal), offer)
	analysis := Analysis{
		Score: Score(s, proposal), GuardedScore: s.scoreFrom(quote.walkAway, proposal).Total,
		Asked: ask, AcceptFrom: accept,
	}
	if rejection, rejected := s.reject(proposal, &analysis); rejected {
		return rejection
	}
	inside := proposal.Matches(offer)
	switch standing := state.Counter; {
	// The walk-away price is at least the minimum, and so is every accepted price.
	case !inside:
		analysis.Rule = RuleRange
	case proposal.Price < quote.walkAway:
		analysis.Rule = RuleConcession
	case standing != nil && proposal.Matches(*standing) && proposal.Price >= standing.Price:
		analysis.Rule = RuleStanding
		return s.agree(proposal, analysis)
	case analysis.GuardedScore >= s.AutoAcceptThreshold && !quote.refuses(proposal.Price):
		analysis.Rule = RuleThreshold
		return s.agree(proposal, analysis)
	default:
		analysis.Rule = RuleConcession
		if proposal.Price >= accept {
			return s.agree(proposal, analysis)
		}
	}
	offer.Price = min(max(ask, proposal.Price), s.MaxPrice)
	return Decision{
		Action: Counter, Terms: &offer, Reason: reasons(proposal, offer), Analysis: analysis,
		Least: min(max(quote.lowest(accept, offer), proposal.Price), offer.Price),
	}
}

// WithPrice returns the decision by [Respond] on a proposal with a different counter offer price, from Least
// to the price in Terms. It returns an error for prices outside this range and unless the action is a counter
// offer.
func (d Decision) WithPrice(proposal terms.Terms, price uint64) (Decision, error) {
	if d.Action != Counter || price < d.Least || price > d.Terms.Price {
		return Decision{}, fmt.Errorf("decision: %d is not a price of its counter offer", price)
	}
	return d.priced(proposal, price), nil
}

func (d Decision) priced(proposal terms.Terms, price uint64) Decision {
	offer := *d.Terms
	offer.Price = price
	d.Terms, d.Reason = &offer, reasons(proposal.Normal(), offer)
	return d
}

// NotAbove returns the decision by [Respond] on a proposal, with a counter offer not above the standing
// counter offer if only the price differs. Otherwise the rules would take back a lower price chosen by
// [Decision.WithPrice].
func (d Decision) NotAbove(standing *terms.Terms, proposal terms.Terms) Decision {
	if d.Action != Counter || standing == nil || !d.Terms.Matches(*standing) || d.Terms.Price <= standing.Price {
		return d
	}
	d.Least = min(d.Least, standing.Price)
	return d.priced(proposal, standing.Price)
}

// reject applies the published floor and the deal breakers.
func (s *Strategy) reject(proposal terms.Terms, analysis *Analysis) (Decision, bool) {
	if proposal.Price < s.Floor() {
		analysis.Rule = RuleFloor
		return Decision{Action: Reject, Reason: ReasonFloor, Analysis: *analysis}, true
	}
	for _, breaker := range s.DealBreakers {
		if breaker.breaks(proposal) {
			analysis.Rule, analysis.DealBreaker = RuleDealBreaker, breaker.String()
			reason := ReasonDealBreaker + string(breaker.Field)
			return Decision{Action: Reject, Reason: reason, Analysis: *analysis}, true
		}
	}
	return Decision{}, false
}

// agree accepts terms, or requests the publisher's approval.
func (s *Strategy) agree(agreed terms.Terms, analysis Analysis) Decision {
	decision := Decision{Action: Accept, Terms: &agreed, Reason: ReasonAccepted, Analysis: analysis}
	amount := agreed.Total()
	if agreed.PrepaidFetches == 0 {
		amount = agreed.Price
	}
	if amount > s.ApprovalAbove {
		decision.Action, decision.Reason = Approve, ReasonApproval
	}
	return decision
}

// end returns a decision without terms.
func (s *Strategy) end(action Action, reason string, rule Rule) Decision {
	return Decision{
		Action: action, Reason: reason, Tone: s.Style.parameters().tone, Analysis: Analysis{Rule: rule},
	}
}

// reasons returns the differences between a counter offer and the proposal.
func reasons(proposal, offer terms.Terms) string {
	var list []string
	if !slices.Equal(proposal.Purposes, offer.Purposes) {
		list = append(list, ReasonPurposes)
	}
	if proposal.TTLSeconds != offer.TTLSeconds {
		list = append(list, ReasonTTL)
	}
	if proposal.BurstRPS != offer.BurstRPS {
		list = append(list, ReasonRPS)
	}
	if proposal.Price < offer.Price {
		list = append(list, ReasonPrice)
	}
	return strings.Join(list, "; ")
}

func common(list, allowed []terms.Purpose) []terms.Purpose {
	var both []terms.Purpose
	for _, purpose := range list {
		if slices.Contains(allowed, purpose) {
			both = append(both, purpose)
		}
	}
	return both
}

// AcceptCounter answers a client that accepts the standing counter offer before the deadline, also after the
// last round. It returns [ErrNoCounter], [ErrFinal] or [ErrAwaitingApproval].
func AcceptCounter(s *Strategy, state State) (Decision, error) {
	if err := state.check(); err != nil {
		return Decision{}, err
	}
	if state.Counter == nil {
		return Decision{}, ErrNoCounter
	}
	agreed := state.Counter.Normal()
	decision := s.agree(agreed, Analysis{
		Rule: RuleClientAccepts, Score: Score(s, agreed), Asked: agreed.Price, AcceptFrom: agreed.Price,
		GuardedScore: s.scoreFrom(s.walkAway(s.preferredPrice(agreed.PrepaidFetches)), agreed).Total,
	})
	decision.Tone = s.Style.parameters().tone
	return decision, nil
}
