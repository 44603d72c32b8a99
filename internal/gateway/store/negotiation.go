package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// open is the condition for negotiations that are not final; the partial indexes use the same text.
const open = `status IN ('initiated', 'negotiating', 'awaiting_approval')`

// Negotiation is a client's negotiation with a publisher.
type Negotiation struct {
	ID        string
	Publisher int64
	Client    int64
	// ClientName is the client's verified name when the negotiation began; empty if none.
	ClientName string
	Anonymous  bool
	// Bundle is the bundle id; empty for a single negotiation.
	Bundle   string
	Strategy int64
	Status   engine.Status
	// Reason is the recorded reason for a final status.
	Reason string
	// CurrentRound counts the client's proposals and acceptances.
	CurrentRound    int
	InitialProposal json.RawMessage
	// CurrentTerms is the newest offer, made by OfferBy. FinalTerms exists if the status is accepted.
	CurrentTerms json.RawMessage
	OfferBy      engine.Party
	FinalTerms   json.RawMessage
	// AgreedPriceMicro is the price per fetch in FinalTerms, in millionths of the publisher's currency.
	AgreedPriceMicro *int64
	// License is the license id; zero if there is none.
	License     int64
	InitiatedBy engine.Party
	InitiatedAt time.Time
	// CompletedAt is zero unless the status is final.
	CompletedAt    time.Time
	LastActivityAt time.Time
	// Deadline is when the negotiation, or the time for approval, ends as timeout.
	Deadline             time.Time
	CreatedAt, UpdatedAt time.Time

	head audit.Head
}

// AnswerPending reports whether the negotiation waits for the publisher's answer: it is open, and the newest offer
// came from the client.
func (n *Negotiation) AnswerPending() bool {
	return (n.Status == engine.Initiated || n.Status == engine.Negotiating) && n.OfferBy == engine.PartyClient
}

func negotiationOf(row queries.Negotiation) Negotiation {
	return Negotiation{
		ID: row.ID, Publisher: row.PublisherID, Client: row.ClientID, ClientName: string(row.ClientName),
		Anonymous: row.Anonymous, Bundle: string(row.BundleID), Strategy: row.StrategyID,
		Status: engine.Status(row.Status), Reason: row.Reason, CurrentRound: int(row.CurrentRound),
		InitialProposal: json.RawMessage(row.InitialProposal), CurrentTerms: json.RawMessage(row.CurrentTerms),
		OfferBy: engine.Party(row.CurrentOfferBy), FinalTerms: json.RawMessage(row.FinalTerms),
		AgreedPriceMicro: row.AgreedPriceMicro,
		License:          int64(row.GeneratedPolicyID), InitiatedBy: engine.Party(row.InitiatedBy),
		InitiatedAt: time.Time(row.InitiatedAt), CompletedAt: time.Time(row.CompletedAt),
		LastActivityAt: time.Time(row.LastActivityAt), Deadline: time.Time(row.DeadlineAt),
		CreatedAt: time.Time(row.CreatedAt), UpdatedAt: time.Time(row.UpdatedAt),
		head: audit.Head{Chain: row.ID, Length: row.AuditLength, Hash: row.AuditHead},
	}
}

// row returns the row that adds a negotiation.
func (n *Negotiation) row() queries.AddNegotiationParams {
	return queries.AddNegotiationParams{
		ID: n.ID, PublisherID: n.Publisher, ClientID: n.Client, ClientName: queries.NullText(n.ClientName),
		Anonymous: n.Anonymous, BundleID: queries.NullText(n.Bundle), StrategyID: n.Strategy,
		Status: string(n.Status), Reason: n.Reason, CurrentRound: int64(n.CurrentRound), InitialProposal: queries.JSON(n.InitialProposal),
		CurrentTerms: queries.JSON(n.CurrentTerms), CurrentOfferBy: queries.NullText(n.OfferBy),
		FinalTerms: queries.JSON(n.FinalTerms), AgreedPriceMicro: n.AgreedPriceMicro,
		GeneratedPolicyID: queries.NullNumber(n.License), InitiatedBy: string(n.InitiatedBy),
		InitiatedAt: queries.NullTime(n.InitiatedAt), CompletedAt: queries.NullTime(n.CompletedAt),
		LastActivityAt: queries.NullTime(n.LastActivityAt), DeadlineAt: queries.NullTime(n.Deadline),
		AuditLength: n.head.Length, AuditHead: n.head.Hash,
		CreatedAt: queries.NullTime(n.CreatedAt), UpdatedAt: queries.NullTime(n.UpdatedAt),
	}
}

// update returns the column values that a decision can change.
func (n *Negotiation) update() queries.UpdateNegotiationParams {
	return queries.UpdateNegotiationParams{
		ID: n.ID, Status: string(n.Status), Reason: n.Reason, CurrentRound: int64(n.CurrentRound),
		CurrentTerms: queries.JSON(n.CurrentTerms), CurrentOfferBy: queries.NullText(n.OfferBy),
		FinalTerms: queries.JSON(n.FinalTerms), AgreedPriceMicro: n.AgreedPriceMicro,
		GeneratedPolicyID: queries.NullNumber(n.License), CompletedAt: queries.NullTime(n.CompletedAt),
		LastActivityAt: queries.NullTime(n.LastActivityAt), DeadlineAt: queries.NullTime(n.Deadline),
		AuditLength: n.head.Length, AuditHead: n.head.Hash,
		UpdatedAt: queries.NullTime(n.UpdatedAt),
	}
}

// Negotiation returns a negotiation, or [ErrNotFound].
func (s *Store) Negotiation(ctx context.Context, id string) (Negotiation, error) {
	if err := checkID("negotiation", id); err != nil {
		return Negotiation{}, err
	}
	return single("negotiation "+id, negotiationOf)(s.read.Negotiation(ctx, id))
}

// Filter selects negotiations. A zero field selects all.
type Filter struct {
	Publisher, Client int64
	Status            engine.Status
	Bundle            string
}

// Negotiations lists negotiations, newest first.
func (s *Store) Negotiations(ctx context.Context, filter Filter, page Page) (List[Negotiation], error) {
	var conditions where
	if filter.Publisher != 0 {
		conditions = append(conditions, condition{"publisher_id = ", filter.Publisher})
	}
	if filter.Client != 0 {
		conditions = append(conditions, condition{"client_id = ", filter.Client})
	}
	if filter.Status != "" {
		conditions = append(conditions, condition{"status = ", string(filter.Status)})
	}
	if filter.Bundle != "" {
		if err := checkID("bundle", filter.Bundle); err != nil {
			return List[Negotiation]{}, err
		}
		conditions = append(conditions, condition{"bundle_id = ", filter.Bundle})
	}
	return list(ctx, s, page, negotiationOf, func(n Negotiation) Cursor { return Cursor{n.CreatedAt, n.ID} },
		"negotiations", conditions)
}

// Round is a client's proposal, a publisher's answer, or an end after the deadline.
type Round struct {
	// ID, Number and CreatedAt are set by the store.
	ID     string
	Number int
	Actor  engine.Party
	// Action is the verb, such as propose, counter, accept or reject. An actor uses each action once in a
	// round.
	Action    string
	Terms     json.RawMessage
	Reasoning string
	// LLMModel, LLMTokens and LLMTime describe a language model's response. They are zero if no model was
	// used.
	LLMModel  string
	LLMTokens int64
	LLMTime   time.Duration
	Analysis  json.RawMessage
	CreatedAt time.Time
	// Messages are written with the round.
	Messages []Message
}

// Message is a text that belongs to a round. The JSON is the audit log's.
type Message struct {
	Sender engine.Party    `json:"sender"`
	Type   string          `json:"type"`
	Text   string          `json:"text"`
	Data   json.RawMessage `json:"data,omitempty"`
}

// Rounds returns a negotiation's rounds in order, without messages. It returns an empty list for an id that
// does not exist.
func (s *Store) Rounds(ctx context.Context, negotiation string) ([]Round, error) {
	if err := checkID("negotiation", negotiation); err != nil {
		return nil, err
	}
	return several(func(row queries.NegotiationRound) Round {
		return Round{
			ID: row.ID, Number: int(row.RoundNumber), Actor: engine.Party(row.Actor), Action: row.Action,
			Terms: json.RawMessage(row.ProposedTerms), Reasoning: row.Reasoning, LLMModel: string(row.LLMModel),
			LLMTokens: int64(row.LLMTokensUsed), LLMTime: time.Duration(row.LLMResponseTimeMs) * time.Millisecond,
			Analysis: json.RawMessage(row.Analysis), CreatedAt: time.Time(row.CreatedAt),
		}
	})(s.read.Rounds(ctx, negotiation))
}
