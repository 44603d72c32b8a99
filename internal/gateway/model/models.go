package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// Config lists the models that strategies can name, and their limits.
type Config struct {
	// Models have names such as "openai:gpt-5-mini": the llm_provider and the llm_model of strategies.
	Models []llm.Model
	// Budget limits all strategies together. Tokens and Cost are limits of each day in UTC.
	Budget llm.Budget
	// Concurrency limits simultaneous questions to each model; further questions wait. If zero,
	// [llm.DefaultConcurrency] is used.
	Concurrency int
	// CallTimeout limits each request. If zero, [llm.DefaultCallTimeout] is used.
	CallTimeout time.Duration
	// Called is called after each sent question, with the tokens used, and an error if the model failed. If
	// nil, it is not called.
	Called func(tokens int64, err error)
	// Logger receives failures as warnings. If nil, [slog.Default] is used.
	Logger *slog.Logger
	// LogPrompts also logs prompts and responses, which contain the publishers' system prompts.
	LogPrompts bool
}

// Models holds a gateway's language models. The nil value holds none. Models is safe for concurrent use.
type Models struct {
	chooser     *llm.Chooser
	names       []string
	called      func(int64, error)
	callTimeout time.Duration
}

// New returns models. It sends no requests. It returns an error if there is no model or no budget, or a model
// name is not of the form provider:model.
func New(config Config) (*Models, error) {
	m := &Models{called: config.Called, callTimeout: cmp.Or(config.CallTimeout, llm.DefaultCallTimeout)}
	if m.called == nil {
		m.called = func(int64, error) {}
	}
	for _, one := range config.Models {
		name := one.Name()
		if provider, model, _ := strings.Cut(name, ":"); provider == "" || model == "" || slices.Contains(m.names, name) {
			return nil, fmt.Errorf("model: name %.80q is not a new one of the form provider:model", name)
		}
		m.names = append(m.names, name)
	}
	if len(m.names) == 0 {
		return nil, errors.New("model: no models; set Config.Models")
	}
	config.Budget.Daily = true
	var err error
	m.chooser, err = llm.NewChooser(config.Models[0], llm.Options{
		Ensemble: config.Models[1:], Budget: config.Budget, Concurrency: config.Concurrency,
		CallTimeout: config.CallTimeout, Logger: config.Logger, LogPrompts: config.LogPrompts,
		// The engine's band ends at the rules' own price, and reaches down to the reservation value.
		Name: "rules", SlackBps: 10_000, LeadBps: 1,
	})
	return m, err
}

// Charge counts tokens and a cost that this day's answers before a restart have used against the budget.
func (m *Models) Charge(tokens int64, cost llm.MicroDollars) {
	if m != nil {
		m.chooser.Charge(tokens, cost)
	}
}

// leastTimeout is the least timeout_seconds of a strategy with a model, in seconds. If a process is killed, its answer
// is minutes late.
const leastTimeout = 600

// Check returns an error with [engine.ErrStrategy] if the strategy names a model that is not configured, a temperature
// that the model does not accept, or a timeout in which a model cannot answer.
func (m *Models) Check(s *engine.Strategy) error {
	wrong := func(field, format string, values ...any) error {
		return fmt.Errorf("%w: %s: %s", engine.ErrStrategy, field, fmt.Sprintf(format, values...))
	}
	var all []string
	if m != nil {
		all = m.names
	}
	switch {
	case s.LLMProvider == "" && s.LLMModel == "":
		return nil
	case len(all) == 0:
		return wrong("llm_provider", "the gateway has no language models; leave llm_provider and llm_model out")
	case s.LLMProvider == "" || s.LLMModel == "":
		return wrong("llm_provider", "set both llm_provider and llm_model, or none; the gateway has %s",
			strings.Join(all, ", "))
	case !slices.Contains(all, nameOf(s)):
		return wrong("llm_provider", "the gateway does not have %.80q; it has %s", nameOf(s), strings.Join(all, ", "))
	case s.LLMTemperature != nil && *s.LLMTemperature > engine.One && s.LLMProvider == "anthropic":
		return wrong("llm_temperature", "%s is above 1, the highest one of anthropic", *s.LLMTemperature)
	case s.TimeoutSeconds < leastTimeout:
		return wrong("timeout_seconds", "%d is below %d, the least with a language model", s.TimeoutSeconds, leastTimeout)
	}
	return nil
}

// nameOf returns the name of the strategy's model.
func nameOf(s *engine.Strategy) string { return s.LLMProvider + ":" + s.LLMModel }

// Rules returns the rules' decision if a strategy can name a model: the decision by [engine.Respond], which
// does not take back a counter offer price chosen by a model.
func Rules(s *engine.Strategy, state engine.State, proposal terms.Terms) (engine.Decision, error) {
	decision, err := engine.Respond(s, state, proposal)
	if err != nil || s.LLMProvider == "" {
		return decision, err
	}
	return decision.NotAbove(state.Counter, proposal), nil
}

// Asks reports whether a model chooses the counter offer for a decision returned by [Rules].
func (m *Models) Asks(s *engine.Strategy, d engine.Decision) bool { return isOpen(d) && m.Has(s) }

// Has reports whether the strategy's model is configured.
func (m *Models) Has(s *engine.Strategy) bool { return m != nil && slices.Contains(m.names, nameOf(s)) }

// isOpen reports whether the decision's price can be chosen.
func isOpen(d engine.Decision) bool { return d.Action == engine.Counter && d.Least < d.Terms.Price }

// Question asks for the answer to a proposal.
type Question struct {
	// Negotiation identifies the negotiation in the budget and in logs.
	Negotiation string
	// Strategy includes the system prompt.
	Strategy *engine.Strategy
	State    engine.State
	Proposal terms.Terms
	// ClientName is the client's verified name; empty if the client is anonymous.
	ClientName string
	// Deadline limits the time. No model is asked if less time than a request can take is left.
	Deadline time.Time
	// Overdue requests the rules' decision without the model, because the answer has been pending for too long.
	Overdue bool
}

// Answer is a decision, and the report about the model's part in it.
type Answer struct {
	Decision engine.Decision
	// Report is nil if no model was to be asked.
	Report *Report
}

// Report records a model's part in a decision. It is for the publisher: clients never receive it.
type Report struct {
	// Model is the name, such as "openai:gpt-5-mini".
	Model string `json:"model"`
	// Text is the model's reason: untrusted text of up to 300 bytes, with no control characters.
	Text string `json:"text,omitempty"`
	// LowestMicro and HighestMicro limit the counter offer's band.
	LowestMicro  uint64 `json:"lowest_price_micro"`
	HighestMicro uint64 `json:"highest_price_micro"`
	// ChosenPrice is the price as the model wrote it; empty if it chose a suggested price.
	ChosenPrice string `json:"chosen_price,omitempty"`
	// Correction tells how the price was moved into the band; empty if it was inside.
	Correction string `json:"correction,omitempty"`
	// Fallback tells why the rules decided; empty for the model's choice. Failure is the model's failure, and
	// HTTPStatus the status if the failure is temporary.
	Fallback   string      `json:"fallback,omitempty"`
	Failure    llm.Failure `json:"failure,omitempty"`
	HTTPStatus int         `json:"http_status,omitempty"`
	// Tokens counts the tokens in all requests, input and output. Cost is their cost in millionths of a US
	// dollar, 0 if the model price is unknown. Requests that report no count are counted with their highest
	// possible number.
	Tokens int64            `json:"tokens"`
	Cost   llm.MicroDollars `json:"cost_microdollars"`
	// Milliseconds is the time that the answer took.
	Milliseconds int64 `json:"milliseconds"`
}

// The reasons for [Report.Fallback] if the model is not asked.
const (
	FallbackMissing = "the gateway does not have the model"
	FallbackOverdue = "no process with the model has answered in time"
	FallbackTime    = "less time is left than a request can take"
)

// Answer answers a proposal. If the model gives no usable answer before the deadline, it returns the rules' decision
// and no error. It returns the errors of [engine.Respond], and ctx's cause if ctx ends.
func (m *Models) Answer(ctx context.Context, q Question) (Answer, error) {
	decision, err := Rules(q.Strategy, q.State, q.Proposal)
	if err != nil || q.Strategy.LLMProvider == "" || !isOpen(decision) {
		return Answer{Decision: decision}, err
	}
	report := &Report{
		Model: nameOf(q.Strategy), LowestMicro: decision.Least, HighestMicro: decision.Terms.Price,
	}
	switch {
	case q.Overdue:
		report.Fallback = FallbackOverdue
	case !m.Asks(q.Strategy, decision):
		report.Fallback = FallbackMissing
	case time.Until(q.Deadline) < m.callTimeout:
		report.Fallback = FallbackTime
	}
	if report.Fallback != "" {
		return Answer{decision, report}, nil
	}
	position, err := positionOf(q, decision)
	if err != nil {
		return Answer{}, err
	}
	move, record, err := m.chooser.Decide(ctx, position)
	if err != nil {
		return Answer{}, err
	}
	report.complete(&record)
	if record.Usage.Requests > 0 {
		var failed error
		if report.Failure != "" {
			failed = fmt.Errorf("model %s: %s", report.Model, report.Failure)
		}
		m.called(report.Tokens, failed)
	}
	if report.Fallback == "" {
		if decision, err = decision.WithPrice(q.Proposal, uint64(move.Outcome)); err != nil {
			return Answer{}, err
		}
	}
	return Answer{decision, report}, nil
}

// complete adds the record of the model's decision.
func (r *Report) complete(record *llm.Record) {
	r.Correction, r.Fallback = record.Correction, record.Fallback
	used := record.Usage
	r.Tokens, r.Cost = used.InputTokens+used.OutputTokens+used.AssumedTokens, used.Cost+used.AssumedCost
	r.Milliseconds = record.Duration.Milliseconds()
	for _, answer := range record.Answers { // at most one
		r.Text, r.ChosenPrice, r.Failure, r.HTTPStatus = answer.Reason, answer.Price, answer.Failure, answer.Status
	}
}

// facts is the part of a model's facts about licenses. Prices are in the other parts.
type facts struct {
	Currency string       `json:"currency"`
	Style    engine.Style `json:"negotiation_style"`
	Tone     engine.Tone  `json:"tone"`
	// Proposed contains the client's terms, and Offered the counter offer's.
	Proposed otherTerms `json:"client_terms"`
	Offered  otherTerms `json:"offered_terms"`
	// Differences lists the rules' reasons for the counter offer.
	Differences string `json:"differences"`
}

// otherTerms holds all terms except the price.
type otherTerms struct {
	TTLSeconds     uint32          `json:"token_ttl_seconds"`
	BurstRPS       uint32          `json:"burst_rps"`
	Purposes       []terms.Purpose `json:"purposes"`
	PrepaidFetches uint64          `json:"prepaid_fetches"`
}

func otherTermsOf(t terms.Terms) otherTerms {
	return otherTerms{t.TTLSeconds, t.BurstRPS, t.Purposes, t.PrepaidFetches}
}

// publisher and client number the parties in a position.
const (
	publisher = 0
	client    = 1
)

// positionOf returns the publisher's turn: prices rate from 0, the lowest one of the band, to 1.
func positionOf(q Question, d engine.Decision) (llm.Position, error) {
	s := q.Strategy
	// Any higher price counts as one more than the maximum, which no band contains: so the correction is
	// recorded.
	domain, err := bargain.NewDomain(bargain.Price("price", 0, s.MaxPrice+1, 1))
	if err != nil {
		return llm.Position{}, err
	}
	value := utility.Line{Last: fixed.One, Count: s.MaxPrice + 2}
	additive, err := utility.NewAdditive(domain, 0, nil, value)
	if err != nil {
		return llm.Position{}, err
	}
	preferences, err := bargain.NewPreferences(domain, additive, value.Of(d.Least))
	if err != nil {
		return llm.Position{}, err
	}
	issue := domain.Issue(0)
	var history []bargain.Offer
	offered := func(by int, price uint64) {
		history = append(history, bargain.Offer{By: by, Outcome: bargain.Outcome(issue.Nearest(price))})
	}
	// The newest of the client's proposals belong to this negotiation.
	proposals := q.State.Proposals
	for _, proposal := range proposals[len(proposals)-min(int(q.State.Round), len(proposals)):] {
		offered(client, proposal.Price)
	}
	if q.State.Counter != nil {
		offered(publisher, q.State.Counter.Price)
	}
	offered(client, q.Proposal.Price)
	target := bargain.Outcome(d.Terms.Price)
	position := llm.Position{
		Negotiation: q.Negotiation, Role: "publisher", Decimals: terms.Decimals, Deadline: q.Deadline, NoReject: true,
		TimeLeftPercent: int(100 * (s.MaxRounds - q.State.Round) / s.MaxRounds),
		Model:           nameOf(s), Principal: s.SystemPrompt,
		Assessment: bargain.Assessment{
			Preferences: preferences, Self: publisher, Rounds: 2 * int(s.MaxRounds), Round: 2*int(q.State.Round) + 1,
			// The client's proposal is no standing offer: the rules accept those that can be accepted.
			State: bargain.State{
				Offer: bargain.NoOutcome, History: history, Least: d.Least, Most: d.Terms.Price, Step: int(q.State.Round),
				Steps: int(s.MaxRounds),
			},
			Move: bargain.Propose(target, "counter offer of the rules"), Target: target,
		},
		Facts: facts{
			Currency: s.Currency, Style: s.Style, Tone: d.Tone, Proposed: otherTermsOf(q.Proposal),
			Offered: otherTermsOf(*d.Terms), Differences: d.Reason,
		},
	}
	if s.LLMTemperature != nil {
		position.Temperature = new(float64(*s.LLMTemperature) / float64(engine.One))
	}
	if q.ClientName != "" {
		position.Quotes = []llm.Quote{{Author: "client", Name: "client_name", Text: q.ClientName}}
	}
	return position, nil
}
