package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// State is the input for a decision. The negotiation is locked in the transaction.
type State struct {
	Negotiation
	// Definition is the definition of the strategy version in use since the negotiation began.
	Definition json.RawMessage
	// Floor is the publisher's published floor; 0 if there is none.
	Floor int64
	// Proposals holds the terms of the client's earlier proposals to the publisher: see [Recall].
	Proposals []json.RawMessage
	// Versions lists the publisher's active strategy versions, at least one, in creation order, with ID,
	// publisher and definition. It is set for new negotiations only: they begin with the newest version
	// unless [State.Use] is called.
	Versions []Strategy
	// Now is the transaction time.
	Now time.Time
}

// Update changes a negotiation.
type Update struct {
	// Rounds are recorded in slice order. They belong to the next round if any is a proposal or an acceptance
	// by the client, and otherwise to the current round.
	Rounds []Round
	// Status is the new status.
	Status engine.Status
	// Reason explains a final status.
	Reason string
	// Terms is the new current offer, made by OfferBy. If Terms is empty, the offer stays.
	Terms   json.RawMessage
	OfferBy engine.Party
	// FinalTerms and AgreedPriceMicro are set if the status is accepted, and only then. The price is in
	// millionths.
	FinalTerms       json.RawMessage
	AgreedPriceMicro *int64
	// Deadline is required unless the status is final, and lies after State.Now.
	Deadline time.Time
}

// Outcome is the result of a decision over one or several negotiations.
type Outcome struct {
	// Updates holds an update per negotiation, in the order of the states.
	Updates []Update
	// Answer is stored with the idempotency key, and returned for a repetition of the request.
	Answer json.RawMessage
	// Enqueue, if not nil, adds jobs in the transaction of the decisions, so that both are committed or
	// neither. An error rolls the transaction back.
	Enqueue func(context.Context, Tx) error
}

// auditedRound is the content of a "round" audit entry.
type auditedRound struct {
	Round     int             `json:"round"`
	Actor     engine.Party    `json:"actor"`
	Action    string          `json:"action"`
	Terms     json.RawMessage `json:"terms,omitempty"`
	Reasoning string          `json:"reasoning,omitempty"`
	LLMModel  string          `json:"llm_model,omitempty"`
	LLMTokens int64           `json:"llm_tokens_used,omitempty"`
	LLMMillis int64           `json:"llm_response_time_ms,omitempty"`
	Analysis  json.RawMessage `json:"analysis,omitempty"`
	Messages  []Message       `json:"messages,omitempty"`
}

// auditedStatus is the content of a "status" audit entry.
type auditedStatus struct {
	From       engine.Status   `json:"from,omitempty"`
	To         engine.Status   `json:"to"`
	Reason     string          `json:"reason,omitempty"`
	FinalTerms json.RawMessage `json:"final_terms,omitempty"`
	Price      *int64          `json:"agreed_price_micro,omitempty"`
	Deadline   time.Time       `json:"deadline"`
}

// changes holds the rows that a transaction adds.
type changes struct {
	// by is written to the audit entries.
	by string

	rounds   []queries.AddRoundParams
	messages []queries.AddMessageParams
	entries  []queries.AddAuditEntryParams
}

// writes returns the statements that add the rows.
func (c *changes) writes() []write {
	return slices.Concat(writesOf(queries.Querier.AddRound, c.rounds...),
		writesOf(queries.Querier.AddMessage, c.messages...),
		writesOf(queries.Querier.AddAuditEntry, c.entries...))
}

// check returns an error for a decision that the state does not allow.
func (d Update) check(n *Negotiation, now time.Time) error {
	switch {
	case n.Status.IsFinal():
		return &StatusError{Status: n.Status, Reason: n.Reason}
	case n.Status == engine.AwaitingApproval && !d.Status.IsFinal():
		return errors.New("decision: a negotiation that awaits approval ends with the next decision")
	case n.Status != engine.Initiated && d.Status == engine.Initiated:
		return errors.New("decision: only a new negotiation is initiated")
	case (d.Status == engine.Accepted) != (len(d.FinalTerms) > 0 && d.AgreedPriceMicro != nil):
		return errors.New("decision: final terms and price belong to status accepted")
	case d.AgreedPriceMicro != nil && *d.AgreedPriceMicro < 0:
		return fmt.Errorf("decision: agreed price %d micro must not be negative", *d.AgreedPriceMicro)
	case !d.Status.IsFinal() && !d.Deadline.After(now):
		return errors.New("decision: the deadline of an open negotiation must be in the future")
	case len(d.Terms) > 0 && d.OfferBy != engine.PartyClient && d.OfferBy != engine.PartyPublisher:
		return fmt.Errorf("decision: offer by %q: must be of the client or the publisher", d.OfferBy)
	}
	return validJSON("terms", d.Terms)
}

// validJSON returns an error for a document that is neither empty nor JSON. SQLite stores any text.
func validJSON(name string, document json.RawMessage) error {
	if len(document) > 0 && !json.Valid(document) {
		return fmt.Errorf("%s: invalid JSON", name)
	}
	return nil
}

// ActionLeave is recorded if a party ends a negotiation. It is no move in the bargaining.
const ActionLeave = "leave"

// advances reports whether the rounds of the decision belong to the next round.
func (d Update) advances() bool {
	return slices.ContainsFunc(d.Rounds, func(r Round) bool {
		return r.Actor == engine.PartyClient && r.Action != ActionLeave
	})
}

// Apply changes a negotiation by the decision, which it does not check. The transaction of the decision
// checks it, and stores the change.
func (d Update) Apply(n *Negotiation, now time.Time) {
	if d.advances() {
		n.CurrentRound++
	}
	n.Status, n.Reason, n.LastActivityAt, n.UpdatedAt, n.Deadline = d.Status, d.Reason, now, now, d.Deadline
	if len(d.Terms) > 0 {
		n.CurrentTerms, n.OfferBy = d.Terms, d.OfferBy
	}
	n.FinalTerms, n.AgreedPriceMicro = d.FinalTerms, d.AgreedPriceMicro
	if d.Status.IsFinal() {
		n.CompletedAt, n.Deadline = now, now
	}
}

// apply changes a negotiation and adds the change's rows. before is the status before the decision; empty if
// the negotiation is new.
func (c *changes) apply(n *Negotiation, d Update, before engine.Status, now time.Time) error {
	if err := d.check(n, now); err != nil {
		return err
	}
	d.Apply(n, now)
	var events []audit.Entry
	event := func(kind string, data any) error {
		text, err := json.Marshal(data)
		if err != nil {
			return fmt.Errorf("audit entry %s: %w", kind, err)
		}
		events = append(events, audit.Entry{Time: now, Kind: kind, Data: text})
		return nil
	}
	for _, r := range d.Rounds {
		audited, err := c.round(n, r, now)
		if err != nil {
			return err
		}
		if err := event("round", audited); err != nil {
			return err
		}
	}
	if d.Status != before {
		err := event("status", auditedStatus{
			From: before, To: d.Status, Reason: d.Reason, FinalTerms: d.FinalTerms, Price: d.AgreedPriceMicro,
			Deadline: n.Deadline,
		})
		if err != nil {
			return err
		}
	}
	return c.chain(n, events...)
}

func (c *changes) round(n *Negotiation, r Round, now time.Time) (auditedRound, error) {
	audited := auditedRound{
		Round: n.CurrentRound, Actor: r.Actor, Action: r.Action, Terms: r.Terms, Reasoning: r.Reasoning,
		LLMModel: r.LLMModel, LLMTokens: r.LLMTokens, LLMMillis: r.LLMTime.Milliseconds(),
		Analysis: r.Analysis, Messages: r.Messages,
	}
	id, err := uuid.NewV7()
	if err != nil {
		return audited, err
	}
	c.rounds = append(c.rounds, queries.AddRoundParams{
		ID: id.String(), NegotiationID: n.ID, RoundNumber: int64(n.CurrentRound), Actor: string(r.Actor),
		Action: r.Action, ProposedTerms: queries.JSON(r.Terms), Reasoning: r.Reasoning,
		LLMModel: queries.NullText(r.LLMModel), LLMTokensUsed: queries.NullNumber(r.LLMTokens),
		LLMResponseTimeMs: queries.NullNumber(r.LLMTime.Milliseconds()), Analysis: queries.JSON(r.Analysis),
		CreatedAt: queries.NullTime(now),
	})
	for _, m := range r.Messages {
		message, err := uuid.NewV7()
		if err != nil {
			return audited, err
		}
		c.messages = append(c.messages, queries.AddMessageParams{
			ID: message.String(), NegotiationID: n.ID, RoundID: id.String(), Sender: string(m.Sender),
			MessageType: m.Type, Message: m.Text, StructuredData: queries.JSON(m.Data),
			CreatedAt: queries.NullTime(now),
		})
	}
	return audited, nil
}

// chain adds entries to the negotiation's audit log.
func (c *changes) chain(n *Negotiation, entries ...audit.Entry) error {
	n.head.Chain = n.ID
	for i := range entries {
		entries[i].By = c.by
	}
	links, head, err := audit.Append(n.head, entries...)
	if err != nil {
		return err
	}
	n.head = head
	for _, link := range links {
		c.entries = append(c.entries, queries.AddAuditEntryParams{
			NegotiationID: link.Chain, Sequence: link.Sequence, Entry: link.Text, Hash: link.Hash,
		})
	}
	return nil
}
