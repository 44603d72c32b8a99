package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/model"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Negotiation contains the negotiation data that both sides can read.
type Negotiation struct {
	ID          string `json:"id"`
	PublisherID int64  `json:"publisher_id"`
	// Publisher is a hostname.
	Publisher string `json:"publisher_hostname"`
	// ClientName is the client's verified name; empty if anonymous.
	ClientName string `json:"client_name,omitempty"`
	// BundleID identifies the bundle; empty if none.
	BundleID string        `json:"bundle_id,omitempty"`
	Status   engine.Status `json:"status"`
	// Reason explains a final status, with codes.
	Reason string              `json:"reason,omitempty"`
	Codes  []engine.ReasonCode `json:"reason_codes,omitempty"`
	// Round counts the client's proposals and acceptances.
	Round int `json:"current_round"`
	// Currency applies to all prices.
	Currency string `json:"currency"`
	// OfferBy made CurrentTerms, the newest offer: client or publisher.
	OfferBy      engine.Party `json:"current_offer_by"`
	CurrentTerms *terms.Terms `json:"current_terms,omitempty"`
	// AnswerPending reports whether the publisher has not answered the newest offer, the client's, yet.
	AnswerPending bool `json:"answer_pending,omitempty"`
	// FinalTerms holds an accepted negotiation's agreed terms.
	FinalTerms *terms.Terms `json:"final_terms,omitempty"`
	// LicenseID is the license id; 0 if no license was generated.
	LicenseID      int64     `json:"policy_id,omitempty"`
	InitiatedAt    time.Time `json:"initiated_at"`
	LastActivityAt time.Time `json:"last_activity_at"`
	// DeadlineAt is when an open negotiation ends as timeout.
	DeadlineAt time.Time `json:"deadline_at"`
	// CompletedAt is zero while the negotiation is open.
	CompletedAt time.Time `json:"completed_at,omitzero"`
}

// Details contains a negotiation and the negotiation history.
type Details struct {
	Negotiation
	InitialProposal *terms.Terms `json:"initial_proposal,omitempty"`
	Rounds          []Round      `json:"rounds"`
	// StrategyID and Metrics are for the publisher. Metrics describe an accepted negotiation.
	StrategyID int64           `json:"strategy_id,omitempty"`
	Metrics    *engine.Metrics `json:"figures,omitempty"`
}

// Round is an entry of the history.
type Round struct {
	Number int          `json:"round_number"`
	Actor  engine.Party `json:"actor"`
	Action string       `json:"action"`
	Terms  *terms.Terms `json:"proposed_terms,omitempty"`
	// Reason is a sentence from the rules, with codes.
	Reason string              `json:"reasoning,omitempty"`
	Codes  []engine.ReasonCode `json:"reason_codes,omitempty"`
	// Analysis is for the publisher: clients never receive it.
	Analysis  *RecordedAnalysis `json:"analysis,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
}

// RecordedAnalysis is the reasoning behind the publisher's answer.
type RecordedAnalysis struct {
	engine.Analysis
	Tone engine.Tone `json:"tone"`
	// Model reports a language model's part in the answer; nil if no model was used. The text is untrusted.
	Model *model.Report `json:"language_model,omitempty"`
}

// storedTerms returns terms of the database, which has only terms that were valid. It returns nil if there are
// none.
func storedTerms(text json.RawMessage) (*terms.Terms, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var t terms.Terms
	err := json.Unmarshal(text, &t)
	return &t, err
}

// strategy returns a strategy version's rules. They never change.
func (s *Service) strategy(ctx context.Context, id int64) (*engine.Strategy, error) {
	return s.strategies.get(id, func() (*engine.Strategy, error) {
		v, err := s.store.Strategy(ctx, id)
		if err != nil {
			return nil, err
		}
		return cachedRules(v.Definition)
	})
}

func rulesOf(definition json.RawMessage) (*engine.Strategy, error) {
	rules, err := engine.ParseStrategy(definition)
	if err != nil {
		return nil, fmt.Errorf("stored strategy: %s", err) // not an error of the caller
	}
	rules.IsActive = true // the column of the database decides
	return &rules, nil
}

// cachedRules returns a strategy's rules for the cache: no rule uses the prompt, which can be long.
func cachedRules(definition json.RawMessage) (*engine.Strategy, error) {
	rules, err := rulesOf(definition)
	if err == nil {
		rules.SystemPrompt = ""
	}
	return rules, err
}

// view returns the part that both sides can read.
func (s *Service) view(ctx context.Context, n store.Negotiation) (Negotiation, error) {
	rules, err := s.strategy(ctx, n.Strategy)
	if err != nil {
		return Negotiation{}, err
	}
	hostname, err := s.hostname(ctx, n.Publisher)
	if err != nil {
		return Negotiation{}, err
	}
	return viewOf(n, hostname, rules.Currency)
}

// PendingPause is how long clients wait before they read a pending answer again.
const PendingPause = time.Second

// errPending returns Conflict for a negotiation that waits for the publisher's answer.
func errPending(id string) error {
	problem := conflict(CodePending, "negotiation %s: the publisher has not answered the last proposal yet", id)
	problem.RetryAfter = PendingPause
	return problem
}

func viewOf(n store.Negotiation, hostname, currency string) (Negotiation, error) {
	current, err := storedTerms(n.CurrentTerms)
	final, err2 := storedTerms(n.FinalTerms)
	return Negotiation{
		ID: n.ID, PublisherID: n.Publisher, Publisher: hostname, ClientName: n.ClientName, BundleID: n.Bundle,
		Status: n.Status, Reason: n.Reason, Codes: engine.CodesOf(n.Reason), Round: n.CurrentRound, Currency: currency,
		OfferBy: n.OfferBy, CurrentTerms: current, AnswerPending: n.AnswerPending(), FinalTerms: final, LicenseID: n.License,
		InitiatedAt: n.InitiatedAt, LastActivityAt: n.LastActivityAt, DeadlineAt: n.Deadline,
		CompletedAt: n.CompletedAt,
	}, errors.Join(err, err2)
}

// ownNegotiation returns a negotiation of the calling publisher, or any negotiation if the caller is an
// administrator. The caller needs the scope. Other negotiations are not found.
func (s *Service) ownNegotiation(
	ctx context.Context, caller identity.Caller, scope identity.Scope, id string,
) (store.Negotiation, error) {
	publisher, err := publisherOf(caller, scope, 0)
	if err != nil {
		return store.Negotiation{}, err
	}
	n, err := s.store.Negotiation(ctx, id)
	if err == nil && publisher != 0 && publisher != n.Publisher {
		err = notFound("negotiation", id)
	}
	return n, err
}

// readable returns a negotiation if the caller is the publisher, the client or an administrator.
func (s *Service) readable(
	ctx context.Context, caller identity.Caller, id string,
) (store.Negotiation, error) {
	n, err := s.store.Negotiation(ctx, id)
	if err != nil {
		return n, err
	}
	switch {
	case caller.Kind == identity.Publisher || administers(caller):
		if err := caller.Require(identity.NegotiationsRead); err != nil {
			return n, err
		}
		if administers(caller) || caller.ID == n.Publisher {
			return n, nil
		}
	default:
		client, err := s.clientOf(ctx, caller, false)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return n, err
		}
		if err == nil && client == n.Client {
			return n, nil
		}
	}
	return n, notFound("negotiation", id)
}

// Status returns a negotiation and the history. Clients (also anonymous) and publishers can read only their
// own negotiations.
func (s *Service) Status(ctx context.Context, caller identity.Caller, id string) (d Details, err error) {
	defer translate(&err)
	n, err := s.readable(ctx, caller, id)
	if err != nil {
		return d, err
	}
	if d.Negotiation, err = s.view(ctx, n); err != nil {
		return d, err
	}
	if d.InitialProposal, err = storedTerms(n.InitialProposal); err != nil {
		return d, err
	}
	rounds, err := s.store.Rounds(ctx, id)
	if err != nil {
		return d, err
	}
	private := caller.Kind == identity.Publisher || administers(caller)
	d.Rounds = make([]Round, 0, len(rounds))
	var proposals []terms.Terms
	for _, r := range rounds {
		round := Round{
			Number: r.Number, Actor: r.Actor, Action: r.Action, Reason: r.Reasoning,
			Codes: engine.CodesOf(r.Reasoning), CreatedAt: r.CreatedAt,
		}
		if round.Terms, err = storedTerms(r.Terms); err != nil {
			return d, err
		}
		if r.Actor == engine.PartyClient && round.Terms != nil {
			proposals = append(proposals, *round.Terms)
		}
		if private && len(r.Analysis) > 0 {
			round.Analysis = new(RecordedAnalysis)
			if err := json.Unmarshal(r.Analysis, round.Analysis); err != nil {
				return d, fmt.Errorf("negotiation %s: analysis: %w", id, err)
			}
		}
		d.Rounds = append(d.Rounds, round)
	}
	if !private {
		return d, nil
	}
	d.StrategyID = n.Strategy
	if d.FinalTerms != nil && len(proposals) > 0 {
		rules, err := s.strategy(ctx, n.Strategy)
		if err != nil {
			return d, err
		}
		metrics, err := engine.Measure(rules, proposals, *d.FinalTerms)
		if err != nil {
			return d, err
		}
		d.Metrics = &metrics
	}
	return d, nil
}

// Negotiations lists a publisher's or a client's negotiations, or all. A publisher and a client list their
// own only.
func (s *Service) Negotiations(
	ctx context.Context, caller identity.Caller, filter store.Filter, page store.Page,
) (_ store.List[Negotiation], err error) {
	defer translate(&err)
	var none store.List[Negotiation]
	if err := caller.Require(identity.NegotiationsRead); err != nil {
		return none, err
	}
	if caller.Kind == identity.Client {
		filter.Client = caller.ID
	} else {
		publisher, err := publisherOf(caller, identity.NegotiationsRead, filter.Publisher)
		if err != nil {
			return none, err
		}
		filter.Publisher = publisher
	}
	view := func(n store.Negotiation) (Negotiation, error) { return s.view(ctx, n) }
	return listed(view)(s.store.Negotiations(ctx, filter, page))
}
