package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// ReasonBundle is the reason of the standing offer with which a publisher of a bundle agrees before the
// others do.
const ReasonBundle = "Terms agreed, waiting for the other publishers of the bundle"

// ReasonBundleApproval is that of an agreement that needs the publisher's approval.
const ReasonBundleApproval = "Terms agreed; accept them alone, because the publisher must approve them"

// rules returns the strategy of a negotiation with the publisher's published floor.
func (s *Service) rules(state store.State) (*engine.Strategy, error) {
	rules, err := s.strategies.get(state.Strategy, func() (*engine.Strategy, error) {
		return rulesOf(state.Definition)
	})
	if err != nil {
		return nil, err
	}
	return raised(rules, state.Floor), nil
}

// raised returns a strategy whose prices are at least the publisher's published floor, which is public.
func raised(s *engine.Strategy, floor int64) *engine.Strategy {
	if floor <= 0 || uint64(floor) <= s.PublishedFloor {
		return s
	}
	least := uint64(floor)
	up := *s
	up.PublishedFloor = least
	up.MinPrice, up.PreferredPrice = max(s.MinPrice, least), max(s.PreferredPrice, least)
	up.MaxPrice = max(s.MaxPrice, least)
	up.Tiers = make([]engine.Tier, len(s.Tiers))
	for at, tier := range s.Tiers {
		up.Tiers[at] = engine.Tier{From: tier.From, Price: max(tier.Price, least)}
	}
	return &up
}

// kept returns the state that the last decision has kept.
func kept(state store.State) (engine.State, error) {
	if len(state.Context) == 0 {
		return engine.Start(state.Now), nil
	}
	var before engine.State
	if err := json.Unmarshal(state.Context, &before); err != nil {
		return before, fmt.Errorf("negotiation %s: context: %w", state.ID, err)
	}
	before.Status = state.Status // an acceptance does not write the context
	return before, nil
}

// answered is the publisher's answer to a proposal before it is recorded.
type answered struct {
	state    store.State
	rules    *engine.Strategy
	before   engine.State
	proposal terms.Terms
	decision engine.Decision
	action   string
}

// respond answers a proposal. action is the client's verb.
func (s *Service) respond(state store.State, proposal terms.Terms, action string) (a answered, err error) {
	a = answered{state: state, proposal: proposal.Normal(), action: action}
	if a.rules, err = s.rules(state); err != nil {
		return a, err
	}
	if a.before, err = kept(state); err != nil {
		return a, err
	}
	a.decision, err = engine.Respond(a.rules, a.before, proposal, state.Now)
	return a, err
}

// hold replaces an agreement by a standing offer of the same terms.
func (a *answered) hold() {
	switch a.decision.Action {
	case engine.Accept:
		a.decision.Reason = ReasonBundle
	case engine.Approve:
		a.decision.Reason = ReasonBundleApproval
	default:
		return
	}
	a.decision.Action = engine.Counter
}

// recorded returns the change of the negotiation.
func (a *answered) recorded() (d store.Decision, err error) {
	after := a.before.After(a.decision, a.state.Now)
	analysis, err := json.Marshal(RecordedAnalysis{a.decision.Analysis, a.decision.Tone})
	if err != nil {
		return d, err
	}
	proposed := json.RawMessage(a.proposal.Canonical())
	var offered json.RawMessage
	if a.decision.Terms != nil {
		offered = a.decision.Terms.Canonical()
	}
	actor, verb := engine.PartyPublisher, string(a.decision.Action)
	switch a.decision.Action {
	case engine.Timeout:
		actor = engine.PartySystem
	case engine.Approve:
		verb = "await_approval" // approve is the publisher's later decision in the same round
	}
	d = store.Decision{
		Rounds: []store.Round{
			{Actor: engine.PartyClient, Action: a.action, Terms: proposed},
			{
				Actor: actor, Action: verb, Terms: offered, Reasoning: a.decision.Reason, Analysis: analysis,
			},
		},
		Status: after.Status, Terms: proposed, OfferBy: engine.PartyClient,
		Deadline: engine.Deadline(a.rules, after),
	}
	if d.Context, err = json.Marshal(after); err != nil {
		return d, err
	}
	switch a.decision.Action {
	case engine.Counter:
		d.Terms, d.OfferBy = offered, engine.PartyPublisher
	case engine.Accept:
		price := int64(a.decision.Terms.Price)
		d.FinalTerms, d.AgreedPriceMicro, d.Reason = offered, &price, a.decision.Reason
	case engine.Reject, engine.Timeout:
		d.Reason = a.decision.Reason
	}
	return d, nil
}

// after returns the negotiation as the store will have it after a decision.
func after(n store.Negotiation, d store.Decision, now time.Time) store.Negotiation {
	if d.Advances() {
		n.CurrentRound++
	}
	n.Status, n.Reason, n.LastActivityAt, n.Deadline = d.Status, d.Reason, now, d.Deadline
	if len(d.Terms) > 0 {
		n.CurrentTerms, n.OfferBy = d.Terms, d.OfferBy
	}
	n.FinalTerms, n.AgreedPriceMicro = d.FinalTerms, d.AgreedPriceMicro
	if d.Status.IsFinal() {
		n.CompletedAt, n.Deadline = now, now
	}
	return n
}

// Answer is the publisher's answer to a proposal, a counter offer or an acceptance.
type Answer struct {
	engine.Answer
	Negotiation Negotiation `json:"negotiation"`
}

// outcome returns the decisions and answers of a transaction.
func outcome(
	parts []answered, hostnames map[int64]string,
) (decided store.Outcome, answers []Answer, err error) {
	for at := range parts {
		part := &parts[at]
		d, err := part.recorded()
		if err != nil {
			return decided, nil, err
		}
		n := part.state
		v, err := viewOf(after(n.Negotiation, d, n.Now), hostnames[n.Publisher], part.rules.Currency)
		if err != nil {
			return decided, nil, err
		}
		decided.Decisions = append(decided.Decisions, d)
		answers = append(answers, Answer{part.decision.Answer(), v})
	}
	return decided, answers, nil
}

// replay reads the answer of a request that has been executed before.
func replay(result store.Result, into any) error {
	if !result.Replayed {
		return nil
	}
	if len(result.Answer) == 0 {
		return errors.New("stored answer: empty")
	}
	return json.Unmarshal(result.Answer, into)
}
