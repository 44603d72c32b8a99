package service

import (
	"encoding/json"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// rules returns a negotiation's strategy with the publisher's published floor.
func (s *Service) rules(state store.State) (*engine.Strategy, error) {
	rules, err := s.strategies.get(state.Strategy, func() (*engine.Strategy, error) {
		return cachedRules(state.Definition)
	})
	if err != nil {
		return nil, err
	}
	return raised(rules, state.Floor), nil
}

// raised returns a strategy with all prices raised to at least the publisher's published floor, which is
// public.
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

// recall selects the proposals that the rules need, including proposals in other negotiations open at the
// same time. If each negotiation remembered only the proposals made before it began, a client with several
// open negotiations could try another way to concede in each, and buy where the asked price fell furthest.
var recall = store.Recall{Period: engine.Memory, Limit: engine.MaxRounds}

// load returns a negotiation's strategy, and the engine state rebuilt from the stored parts. The store itself
// ends negotiations past their deadline, and decides on negotiations awaiting approval. In all others, each
// round is a proposal and an answer, and the newest offer is the last counter offer.
func (s *Service) load(state store.State) (rules *engine.Strategy, before engine.State, err error) {
	before = engine.State{Status: state.Status, Round: uint32(state.CurrentRound)}
	if state.OfferBy == engine.PartyPublisher {
		if before.Counter, err = storedTerms(state.CurrentTerms); err != nil {
			return nil, before, fmt.Errorf("negotiation %s: %w", state.ID, err)
		}
	}
	for _, text := range state.Proposals {
		proposal, err := storedTerms(text)
		if err != nil {
			return nil, before, fmt.Errorf("negotiation %s: earlier proposal: %w", state.ID, err)
		}
		before.Proposals = append(before.Proposals, *proposal)
	}
	rules, err = s.rules(state)
	return rules, before, err
}

// answered is the publisher's answer to a proposal before it is recorded.
type answered struct {
	state    store.State
	rules    *engine.Strategy
	proposal terms.Terms
	decision engine.Decision
	action   string
}

// respond answers a proposal. action names the client's move.
func (s *Service) respond(state store.State, proposal terms.Terms, action string) (answered, error) {
	rules, before, err := s.load(state)
	if err != nil {
		return answered{}, err
	}
	decision, err := engine.Respond(rules, before, proposal)
	return answered{state, rules, proposal.Normal(), decision, action}, err
}

// recorded returns the change of the negotiation.
func (a *answered) recorded() (d store.Update, err error) {
	analysis, err := json.Marshal(RecordedAnalysis{Analysis: a.decision.Analysis, Tone: a.decision.Tone})
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
		verb = "await_approval" // approve records the publisher's later decision in the same round
	}
	d = store.Update{
		Rounds: []store.Round{
			{Actor: engine.PartyClient, Action: a.action, Terms: proposed},
			{
				Actor: actor, Action: verb, Terms: offered, Reasoning: a.decision.Reason, Analysis: analysis,
			},
		},
		Status: a.decision.Status(), Terms: proposed, OfferBy: engine.PartyClient,
		Deadline: a.rules.Deadline(a.decision.Action, a.state.InitiatedAt, a.state.Now),
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

// Answer is the publisher's answer to a proposal, a counter offer or an acceptance.
type Answer struct {
	engine.Answer
	Negotiation Negotiation `json:"negotiation"`
}

// answerOf returns a decision's answer, with the negotiation as the store will contain it.
func answerOf(
	given engine.Decision, state store.State, d store.Update, hostname, currency string,
) (Answer, error) {
	d.Apply(&state.Negotiation, state.Now)
	view, err := viewOf(state.Negotiation, hostname, currency)
	return Answer{given.Answer(), view}, err
}

// outcome returns a transaction's decisions and answers.
func outcome(
	parts []answered, hostnames map[int64]string,
) (decided store.Outcome, answers []Answer, err error) {
	for at := range parts {
		part := &parts[at]
		d, err := part.recorded()
		if err != nil {
			return decided, nil, err
		}
		a, err := answerOf(part.decision, part.state, d, hostnames[part.state.Publisher], part.rules.Currency)
		if err != nil {
			return decided, nil, err
		}
		decided.Updates = append(decided.Updates, d)
		answers = append(answers, a)
	}
	return decided, answers, nil
}
