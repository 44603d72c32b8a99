package service

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/model"
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
// ends negotiations past their deadline, and decides on negotiations awaiting approval. In all others without a
// pending answer, each round is a proposal and an answer, and the newest offer is the last counter offer.
func (s *Service) load(state store.State) (rules *engine.Strategy, before engine.State, err error) {
	before = engine.State{Status: state.Status, Round: uint32(state.CurrentRound)}
	if state.OfferBy == engine.PartyPublisher {
		if before.Counter, err = storedTerms(state.CurrentTerms); err != nil {
			return nil, before, fmt.Errorf("negotiation %s: %w", state.ID, err)
		}
	}
	if before.Proposals, err = proposalsOf(state); err != nil {
		return nil, before, err
	}
	rules, err = s.rules(state)
	return rules, before, err
}

// proposalsOf returns the client's earlier proposals.
func proposalsOf(state store.State) (list []terms.Terms, err error) {
	for _, text := range state.Proposals {
		proposal, err := storedTerms(text)
		if err != nil {
			return nil, fmt.Errorf("negotiation %s: earlier proposal: %w", state.ID, err)
		}
		list = append(list, *proposal)
	}
	return list, nil
}

// answered is the publisher's answer to a proposal before it is recorded.
type answered struct {
	state    store.State
	rules    *engine.Strategy
	proposal terms.Terms
	decision engine.Decision
	action   string
	// asks reports whether a language model will choose the counter offer's price: only the proposal is recorded.
	asks bool
}

// respond answers a proposal. action names the client's move.
func (s *Service) respond(state store.State, proposal terms.Terms, action string) (answered, error) {
	rules, before, err := s.load(state)
	if err != nil {
		return answered{}, err
	}
	decision, err := model.Rules(rules, before, proposal)
	if err != nil {
		return answered{}, err
	}
	return answered{state, rules, proposal.Normal(), decision, action, s.models.Asks(rules, decision)}, nil
}

// given returns the decision that the client reads.
func (a *answered) given() engine.Decision {
	if a.asks {
		return engine.Decision{Action: engine.Pending, Reason: engine.ReasonPending}
	}
	return a.decision
}

// recorded returns the change of the negotiation: the proposal, and the answer unless it is pending.
func (a *answered) recorded() (store.Update, error) {
	proposed := json.RawMessage(a.proposal.Canonical())
	round := store.Round{Actor: engine.PartyClient, Action: a.action, Terms: proposed}
	if a.asks {
		return store.Update{
			Rounds: []store.Round{round}, Status: a.state.Status, Terms: proposed, OfferBy: engine.PartyClient,
			Deadline: a.deadline(),
		}, nil
	}
	d, err := a.answer(nil)
	d.Rounds = append([]store.Round{round}, d.Rounds...)
	if len(d.Terms) == 0 {
		d.Terms, d.OfferBy = proposed, engine.PartyClient
	}
	return d, err
}

func (a *answered) deadline() time.Time {
	return a.rules.Deadline(a.decision.Action, a.state.InitiatedAt, a.state.Now)
}

// answer returns the change that the answer alone makes. report is nil unless a language model was to be asked.
func (a *answered) answer(report *model.Report) (d store.Update, err error) {
	analysis, err := json.Marshal(RecordedAnalysis{Analysis: a.decision.Analysis, Tone: a.decision.Tone, Model: report})
	if err != nil {
		return d, err
	}
	round := store.Round{
		Actor: engine.PartyPublisher, Action: string(a.decision.Action), Reasoning: a.decision.Reason, Analysis: analysis,
	}
	if a.decision.Terms != nil {
		round.Terms = a.decision.Terms.Canonical()
	}
	if report != nil {
		round.LLMModel, round.LLMTokens = report.Model, report.Tokens
		round.LLMTime = time.Duration(report.Milliseconds) * time.Millisecond
	}
	switch a.decision.Action {
	case engine.Timeout:
		round.Actor = engine.PartySystem
	case engine.Approve:
		round.Action = "await_approval" // approve records the publisher's later decision in the same round
	}
	d = store.Update{Rounds: []store.Round{round}, Status: a.decision.Status(), Deadline: a.deadline()}
	switch a.decision.Action {
	case engine.Counter:
		d.Terms, d.OfferBy = round.Terms, engine.PartyPublisher
	case engine.Accept:
		price := int64(a.decision.Terms.Price)
		d.FinalTerms, d.AgreedPriceMicro, d.Reason = round.Terms, &price, a.decision.Reason
	case engine.Reject, engine.Timeout:
		d.Reason = a.decision.Reason
	}
	return d, nil
}

// Answer is the publisher's answer to a proposal, a counter offer or an acceptance. If the action is
// [engine.Pending], the negotiation has the answer later.
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

// outcome returns a transaction's decisions and answers. A job for each pending answer is added with them.
func (s *Service) outcome(
	parts []answered, hostnames map[int64]string,
) (decided store.Outcome, answers []Answer, err error) {
	var pending []string
	for at := range parts {
		part := &parts[at]
		d, err := part.recorded()
		if err != nil {
			return decided, nil, err
		}
		a, err := answerOf(part.given(), part.state, d, hostnames[part.state.Publisher], part.rules.Currency)
		if err != nil {
			return decided, nil, err
		}
		if part.asks {
			pending = append(pending, part.state.ID)
		}
		decided.Updates = append(decided.Updates, d)
		answers = append(answers, a)
	}
	if len(pending) > 0 {
		decided.Enqueue = func(ctx context.Context, tx store.Tx) error { return s.enqueue(ctx, tx, pending) }
	}
	return decided, answers, nil
}
