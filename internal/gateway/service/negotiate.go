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
	// Publisher is the hostname.
	Publisher string      `json:"publisher_hostname"`
	Terms     terms.Terms `json:"proposed_terms"`
}

// ProposeRequest opens one negotiation, or a bundle of several.
type ProposeRequest struct {
	// Proposals are 1 to [engine.MaxBundle], with different publishers.
	Proposals []Proposal `json:"proposals"`
	// Required are the hostnames of the publishers that must agree in the first round; otherwise no agreement
	// counts. If empty, all are required.
	Required []string `json:"required,omitempty"`
	// IdempotencyKey is the client's choice; a repeated request with it gets the first answer. If empty, each
	// request opens a negotiation.
	IdempotencyKey string `json:"-"`
}

// Proposed is the answer to a [ProposeRequest].
type Proposed struct {
	// Action is that of the negotiation, or of the bundle: see [engine.BundleResult].
	Action engine.Action `json:"action"`
	// BundleID is empty for a single negotiation.
	BundleID string `json:"bundle_id,omitempty"`
	// Answers are in the order of the proposals.
	Answers []Answer `json:"answers"`
}

// openingTime is the time until a negotiation without an answer ends. Every negotiation gets an answer in the
// transaction that opens it, so no client sees it.
const openingTime = time.Hour

// Propose opens negotiations, which their publishers answer at once. It needs the scope negotiate; a caller
// that is not registered negotiates as an anonymous client. Errors are Limit, NotFound for an unknown
// publisher, Conflict for one that takes no proposals now, and Invalid.
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
	creation.Select = func(versions []store.Strategy, now time.Time) (int, error) {
		return s.selected(hostnames[versions[0].Publisher], versions, now)
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
	var proposed Proposed
	decide := func(states []store.State) (o store.Outcome, err error) {
		parts := make([]answered, len(states))
		for at, state := range states {
			if parts[at], err = s.respond(state, r.Proposals[at].Terms, "propose"); err != nil {
				return o, err
			}
		}
		if proposed.Action, err = combine(parts, required); err != nil {
			return o, err
		}
		proposed.BundleID = states[0].Bundle
		if o, proposed.Answers, err = outcome(parts, hostnames); err != nil || creation.Key == nil {
			return o, err
		}
		o.Answer, err = json.Marshal(proposed)
		return o, err
	}
	result, err := s.store.CreateNegotiations(acting(ctx, caller), creation, decide)
	if err != nil {
		return Proposed{}, err
	}
	for _, n := range result.Negotiations {
		s.parties.put(n.ID, parties{n.Client, n.Publisher})
	}
	if result.Replayed {
		proposed = Proposed{}
	}
	return proposed, replay(result, &proposed)
}

// within adds the path of an invalid part of a request.
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

// combine returns the action of a bundle, and holds the agreements that do not count.
func combine(parts []answered, required []int64) (engine.Action, error) {
	if len(parts) == 1 {
		return parts[0].decision.Action, nil
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
			parts[at].hold()
		}
	}
	return result.Action, nil
}

// CounterRequest is a further proposal in an open negotiation.
type CounterRequest struct {
	Negotiation    string      `json:"negotiation_id"`
	Terms          terms.Terms `json:"proposed_terms"`
	IdempotencyKey string      `json:"-"`
}

// Counter sends a further proposal, which the publisher answers at once. Errors are NotFound for a
// negotiation of another client, Conflict for one that is over, awaits approval, is in progress or
// waits for the publisher's answer, and Invalid.
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
	decide := func(state store.State) (o store.Outcome, a Answer, err error) {
		if pending(state.Negotiation) {
			return o, a, errPending(state.ID)
		}
		part, err := s.respond(state, r.Terms, "counter")
		if err != nil {
			return o, a, err
		}
		o, answers, err := outcome([]answered{part}, hostnames)
		if err != nil {
			return o, a, err
		}
		return o, answers[0], nil
	}
	request := store.RoundRequest{Negotiations: []string{r.Negotiation}, Recall: recall, Key: key}
	return s.round(acting(ctx, caller), request, decide)
}

// round changes the one negotiation of a request as decide says, and returns its answer. With an idempotency key, the
// answer is stored, and a repeated request returns it.
func (s *Service) round(
	ctx context.Context, request store.RoundRequest, decide func(store.State) (store.Outcome, Answer, error),
) (answer Answer, err error) {
	result, err := s.store.Round(ctx, request, func(states []store.State) (o store.Outcome, err error) {
		if o, answer, err = decide(states[0]); err == nil && request.Key != nil {
			o.Answer, err = json.Marshal(answer)
		}
		return o, err
	})
	if err != nil {
		return Answer{}, err
	}
	if result.Replayed {
		answer = Answer{}
	}
	return answer, replay(result, &answer)
}

// participant checks that the caller is the client of negotiations, and returns the names of their
// publishers. Neither changes, so they are cached, and the transaction need not check them again.
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

// Offer names the publisher's offer that a client accepts.
type Offer struct {
	Negotiation string `json:"negotiation_id"`
	// Round is the current round of the negotiation that the client has read: an offer that has changed since
	// is not accepted.
	Round int `json:"current_round"`
}

// AcceptRequest accepts standing offers: all of them or none.
type AcceptRequest struct {
	// Offers are 1 to [engine.MaxBundle].
	Offers         []Offer `json:"offers"`
	IdempotencyKey string  `json:"-"`
}

// Accepted is the answer to an [AcceptRequest].
type Accepted struct {
	// Answers are in the order of the offers. The action is accept, or approve if the publisher must approve.
	Answers []Answer `json:"answers"`
}

// Accept accepts the publishers' standing offers. The offers can be of a bundle or not. Errors are those of
// [Service.Counter], and Conflict for an offer that has changed, or for several of which one needs an
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
	request := store.AcceptRequest{Client: client, Key: key}
	for _, offer := range r.Offers {
		request.Offers = append(request.Offers, store.Offer{Negotiation: offer.Negotiation, Round: offer.Round})
	}
	agreements := map[string]agreement{}
	var accepted Accepted
	result, err := s.store.Accept(acting(ctx, caller), request, func(state store.State) (store.Terms, error) {
		a, err := s.agree(state)
		if err != nil {
			return store.Terms{}, err
		}
		if a.decision.Action == engine.Approve && len(ids) > 1 {
			return store.Terms{}, conflict(CodeNeedsApproval,
				"negotiation %s: the publisher must approve the agreement; accept it alone", state.ID)
		}
		agreements[state.ID] = a
		return a.terms, nil
	}, func(decisions []store.Decision) (json.RawMessage, error) {
		accepted = Accepted{}
		for at, d := range decisions {
			a := agreements[ids[at]]
			answer, err := answerOf(a.decision, a.state, d, hostnames[a.state.Publisher], a.currency)
			if err != nil {
				return nil, err
			}
			accepted.Answers = append(accepted.Answers, answer)
		}
		return json.Marshal(accepted)
	})
	if err != nil {
		return Accepted{}, err
	}
	if result.Replayed {
		accepted = Accepted{}
	}
	return accepted, replay(result, &accepted)
}

// agreement is the acceptance of a standing offer before it is recorded.
type agreement struct {
	state    store.State
	decision engine.Decision
	terms    store.Terms
	currency string
}

func (s *Service) agree(state store.State) (agreement, error) {
	rules, before, err := s.given(state)
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
	return agreement{state, decision, agreed, rules.Currency}, nil
}
