package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Proposal is a proposal to a publisher.
type Proposal struct {
	// Publisher is a hostname.
	Publisher string      `json:"publisher_hostname"`
	Terms     terms.Terms `json:"proposed_terms"`
}

// ProposeRequest opens one negotiation, or a bundle of several.
type ProposeRequest struct {
	// Proposals are 1 to [engine.MaxBundle], with different publishers.
	Proposals []Proposal `json:"proposals"`
	// Required lists the hostnames of the publishers that must agree in the first round; otherwise no
	// agreement counts. If empty, all are required.
	Required []string `json:"required,omitempty"`
	// IdempotencyKey is chosen by the client; a repeated request with it gets the first answer. If empty,
	// each request opens a negotiation.
	IdempotencyKey string `json:"-"`
}

// Proposed answers a [ProposeRequest].
type Proposed struct {
	// Action is the negotiation's or the bundle's action: see [engine.BundleResult]. It is
	// [engine.Pending] if a bundle's action would be a counter offer and at least one of the answers is pending.
	Action engine.Action `json:"action"`
	// BundleID is empty unless the negotiation belongs to a bundle.
	BundleID string `json:"bundle_id,omitempty"`
	// Answers are in the order of the proposals.
	Answers []Answer `json:"answers"`
}

// openingTime is the provisional time until a new negotiation's deadline. The decision on the first proposal replaces
// it in the same transaction, so clients never receive it.
const openingTime = time.Hour

// Propose opens negotiations. Their publishers answer at once, unless a language model chooses the counter offer:
// then the answer is pending. It needs the scope negotiate; an unregistered caller negotiates as an anonymous client.
// Errors are Limit, NotFound for unknown publishers, Conflict if a publisher takes no proposals now, and Invalid.
func (s *Service) Propose(
	ctx context.Context, caller identity.Caller, r ProposeRequest,
) (_ Proposed, err error) {
	defer translate(&err)
	if err := caller.Require(identity.Negotiate); err != nil {
		return Proposed{}, err
	}
	if len(r.Proposals) == 0 || len(r.Proposals) > engine.MaxBundle {
		return Proposed{}, invalid("proposals", "%d; send 1 to %d", len(r.Proposals), engine.MaxBundle)
	}
	creation := store.Creation{Deadline: s.store.Now().Add(openingTime), Recall: recall}
	hostnames := map[int64]string{}
	for at, p := range r.Proposals {
		path := fmt.Sprintf("proposals[%d].", at)
		if err := p.Terms.Validate(); err != nil {
			return Proposed{}, within(path+"proposed_terms.", err)
		}
		publisher, err := s.publisher(ctx, p.Publisher)
		if err != nil {
			return Proposed{}, err
		}
		if hostnames[publisher] != "" {
			return Proposed{}, invalid(path+"publisher_hostname", "%s occurs twice", p.Publisher)
		}
		hostnames[publisher] = p.Publisher
		creation.Proposals = append(creation.Proposals,
			store.Proposal{Publisher: publisher, Terms: p.Terms.Canonical()})
	}
	required, err := requiredIDs(r.Required, hostnames)
	if err != nil {
		return Proposed{}, err
	}
	if creation.Client, err = s.clientOf(ctx, caller, true); err != nil {
		return Proposed{}, err
	}
	creation.Key, err = idempotency(keyOwner(creation.Client), r.IdempotencyKey, "propose", r)
	if err != nil {
		return Proposed{}, err
	}
	if len(r.Proposals) > 1 {
		if creation.Bundle, err = json.Marshal(r); err != nil {
			return Proposed{}, err
		}
	}
	ctx = acting(ctx, caller)
	unit, err := s.store.BeginCreation(ctx, creation)
	if err != nil {
		return Proposed{}, err
	}
	defer unit.End(ctx)
	proposed, decided, err := s.propose(unit.States, r, required, hostnames)
	result, err := finished(ctx, unit, decided, &proposed, err)
	for _, n := range result.Negotiations {
		s.parties.put(n.ID, parties{n.Client, n.Publisher})
	}
	return proposed, err
}

// propose returns the publishers' answers to the proposals of new negotiations, and the change that records them.
func (s *Service) propose(
	states []store.State, r ProposeRequest, required []int64, hostnames map[int64]string,
) (proposed Proposed, o store.Outcome, err error) {
	parts := make([]answered, len(states))
	for at, state := range states {
		selected, err := s.selected(hostnames[state.Publisher], state.Versions, state.Now)
		if err != nil {
			return proposed, o, err
		}
		states[at].Use(state.Versions[selected])
		if parts[at], err = s.respond(states[at], r.Proposals[at].Terms, "propose"); err != nil {
			return proposed, o, err
		}
	}
	if len(parts) == 0 {
		return proposed, o, nil // replayed
	}
	if proposed.Action, err = combine(parts, required); err != nil {
		return proposed, o, err
	}
	proposed.BundleID = states[0].Bundle
	o, proposed.Answers, err = s.outcome(parts, hostnames)
	return proposed, o, err
}

// finished finishes a unit of work with the change that records an answer. A request with an idempotency key
// stores the answer; for a repeated one, answer becomes the stored answer. failed is the decision's error.
func finished[A any](
	ctx context.Context, unit *store.Unit, o store.Outcome, answer *A, failed error,
) (result store.Result, err error) {
	if failed == nil {
		o.Answer, failed = json.Marshal(answer)
	}
	if result, err = unit.Finish(ctx, o, failed); err == nil && !result.Replayed {
		return result, nil
	}
	*answer = *new(A)
	switch {
	case err != nil:
		return result, err
	case len(result.Answer) == 0:
		return result, errors.New("stored answer: empty")
	}
	return result, json.Unmarshal(result.Answer, answer)
}

// within adds the path to an invalid part of a request.
func within(path string, err error) error {
	var wrong *Error
	if err = problem(err); errors.As(err, &wrong) && wrong.Kind == Invalid {
		wrong.Field = path + wrong.Field
		wrong.Detail = path[:len(path)-1] + ": " + wrong.Detail
	}
	return err
}

func keyOwner(client int64) string { return fmt.Sprintf("client:%d", client) }

// requiredIDs returns the publishers with hostnames.
func requiredIDs(required []string, hostnames map[int64]string) (ids []int64, err error) {
	for at, name := range required {
		found := false
		for id, hostname := range hostnames {
			if hostname == name {
				ids, found = append(ids, id), true
			}
		}
		if !found || slices.Contains(required[:at], name) {
			return nil, invalid(fmt.Sprintf("required[%d]", at), "%.253q is not a publisher of the bundle, or twice",
				name)
		}
	}
	return ids, nil
}

// combine returns a bundle's action, and holds the agreements that do not count.
func combine(parts []answered, required []int64) (engine.Action, error) {
	if len(parts) == 1 {
		return parts[0].given().Action, nil
	}
	var all []engine.BundlePart
	for _, part := range parts {
		all = append(all, engine.BundlePart{PublisherID: part.state.Publisher, Decision: part.decision})
	}
	result, err := engine.Combine(all, required)
	if err != nil {
		return "", err
	}
	for at := range parts {
		agreed := func(a engine.BundleAgreement) bool { return a.PublisherID == parts[at].state.Publisher }
		if !slices.ContainsFunc(result.Agreed, agreed) {
			parts[at].decision = parts[at].decision.Held()
		}
	}
	if result.Action == engine.Counter && slices.ContainsFunc(parts, func(a answered) bool { return a.asks }) {
		return engine.Pending, nil
	}
	return result.Action, nil
}

// CounterRequest is a further proposal in an open negotiation.
type CounterRequest struct {
	Negotiation    string      `json:"negotiation_id"`
	Terms          terms.Terms `json:"proposed_terms"`
	IdempotencyKey string      `json:"-"`
}

// Counter sends a further proposal. The publisher answers as in [Service.Propose]. Errors are NotFound if the
// negotiation belongs to another client, Conflict if it is over, awaits approval, is in progress or waits for the
// publisher's answer, and Invalid.
func (s *Service) Counter(
	ctx context.Context, caller identity.Caller, r CounterRequest,
) (_ Answer, err error) {
	defer translate(&err)
	if err := r.Terms.Validate(); err != nil {
		return Answer{}, within("proposed_terms.", err)
	}
	client, hostnames, err := s.participant(ctx, caller, []string{r.Negotiation})
	if err != nil {
		return Answer{}, err
	}
	key, err := idempotency(keyOwner(client), r.IdempotencyKey, "counter", r)
	if err != nil {
		return Answer{}, err
	}
	request := store.RoundRequest{Negotiations: []string{r.Negotiation}, Recall: recall, Key: key}
	return s.round(acting(ctx, caller), request, func(state store.State) (o store.Outcome, a Answer, err error) {
		if state.AnswerPending() {
			return o, a, errPending(state.ID)
		}
		part, err := s.respond(state, r.Terms, "counter")
		if err != nil {
			return o, a, err
		}
		o, answers, err := s.outcome([]answered{part}, hostnames)
		if err != nil {
			return o, a, err
		}
		return o, answers[0], nil
	})
}

// round changes a request's single negotiation as decide says, and returns the answer.
func (s *Service) round(
	ctx context.Context, request store.RoundRequest, decide func(store.State) (store.Outcome, Answer, error),
) (answer Answer, err error) {
	unit, err := s.store.BeginRound(ctx, request)
	if err != nil {
		return Answer{}, err
	}
	defer unit.End(ctx)
	var o store.Outcome
	if !unit.Replayed() {
		o, answer, err = decide(unit.States[0])
	}
	_, err = finished(ctx, unit, o, &answer, err)
	return answer, err
}

// participant checks that the caller is the client in negotiations, and returns the publishers' names.
// Neither changes, so they are cached, and the transaction need not check them again.
func (s *Service) participant(
	ctx context.Context, caller identity.Caller, ids []string,
) (client int64, hostnames map[int64]string, err error) {
	client, err = s.clientOf(ctx, caller, false)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil, notFound("negotiation", ids[0])
	}
	if err != nil {
		return 0, nil, err
	}
	hostnames = map[int64]string{}
	for _, id := range ids {
		n, err := s.parties.get(id, func() (parties, error) {
			n, err := s.store.Negotiation(ctx, id)
			return parties{n.Client, n.Publisher}, err
		})
		if err != nil {
			return 0, nil, err
		}
		if n.client != client {
			return 0, nil, notFound("negotiation", id)
		}
		if hostnames[n.publisher], err = s.hostname(ctx, n.publisher); err != nil {
			return 0, nil, err
		}
	}
	return client, hostnames, nil
}

// Offer names the publisher's offer to accept.
type Offer struct {
	Negotiation string `json:"negotiation_id"`
	// Round is the negotiation's current round as read by the client: an offer changed since is not accepted.
	Round int `json:"current_round"`
}

// AcceptRequest accepts standing offers: all of them or none.
type AcceptRequest struct {
	// Offers are 1 to [engine.MaxBundle].
	Offers         []Offer `json:"offers"`
	IdempotencyKey string  `json:"-"`
}

// Accepted answers an [AcceptRequest].
type Accepted struct {
	// Answers are in the order of the offers. The action is accept, or approve if the publisher must approve.
	Answers []Answer `json:"answers"`
}

// Accept accepts the publishers' standing offers. The offers can belong to a bundle or not. It returns the
// errors of [Service.Counter], and Conflict if an offer has changed, or if one of several offers needs an
// approval.
func (s *Service) Accept(
	ctx context.Context, caller identity.Caller, r AcceptRequest,
) (_ Accepted, err error) {
	defer translate(&err)
	if len(r.Offers) == 0 || len(r.Offers) > engine.MaxBundle {
		return Accepted{}, invalid("offers", "%d; send 1 to %d", len(r.Offers), engine.MaxBundle)
	}
	var ids []string
	for at, offer := range r.Offers {
		if slices.Contains(ids, offer.Negotiation) {
			return Accepted{}, invalid(fmt.Sprintf("offers[%d].negotiation_id", at), "occurs twice")
		}
		ids = append(ids, offer.Negotiation)
	}
	client, hostnames, err := s.participant(ctx, caller, ids)
	if err != nil {
		return Accepted{}, err
	}
	key, err := idempotency(keyOwner(client), r.IdempotencyKey, "accept", r)
	if err != nil {
		return Accepted{}, err
	}
	ctx = acting(ctx, caller)
	unit, err := s.store.BeginRound(ctx, store.RoundRequest{Negotiations: ids, Key: key})
	if err != nil {
		return Accepted{}, err
	}
	defer unit.End(ctx)
	accepted, o, err := s.accept(unit.States, client, r.Offers, hostnames)
	_, err = finished(ctx, unit, o, &accepted, err)
	return accepted, err
}

// accept returns the answer to the acceptance of offers, and the change that records it.
func (s *Service) accept(
	states []store.State, client int64, offers []Offer, hostnames map[int64]string,
) (accepted Accepted, o store.Outcome, err error) {
	for at, state := range states {
		if err := state.CheckOffer(client, offers[at].Round); err != nil {
			return accepted, o, err
		}
		a, err := s.agree(state)
		if err != nil {
			return accepted, o, err
		}
		if a.decision.Action == engine.Approve && len(states) > 1 {
			return accepted, o, conflict(CodeNeedsApproval,
				"negotiation %s: the publisher must approve the agreement; accept it alone", state.ID)
		}
		d := state.Accept(a.terms)
		answer, err := answerOf(a.decision, state, d, hostnames[state.Publisher], a.currency)
		if err != nil {
			return accepted, o, err
		}
		o.Updates, accepted.Answers = append(o.Updates, d), append(accepted.Answers, answer)
	}
	return accepted, o, nil
}

// agreement is an accepted standing offer before it is recorded.
type agreement struct {
	decision engine.Decision
	terms    store.Terms
	currency string
}

func (s *Service) agree(state store.State) (agreement, error) {
	rules, before, err := s.load(state)
	if err != nil {
		return agreement{}, err
	}
	decision, err := engine.AcceptCounter(rules, before)
	if err != nil {
		return agreement{}, err
	}
	agreed := store.Terms{PriceMicro: int64(decision.Terms.Price)}
	if decision.Action == engine.Approve {
		agreed.ApprovalDeadline = rules.Deadline(decision.Action, state.InitiatedAt, state.Now)
	}
	return agreement{decision, agreed, rules.Currency}, nil
}
