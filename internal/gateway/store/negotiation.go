package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/audit"
)

// Status is the state of a negotiation.
type Status string

// The states. The last three are final.
const (
	StatusInitiated        Status = "initiated"
	StatusNegotiating      Status = "negotiating"
	StatusAwaitingApproval Status = "awaiting_approval"
	StatusAccepted         Status = "accepted"
	StatusRejected         Status = "rejected"
	StatusTimeout          Status = "timeout"
)

// Final reports whether the status cannot change.
func (s Status) Final() bool {
	return s == StatusAccepted || s == StatusRejected || s == StatusTimeout
}

// open is the condition of negotiations that are not final; the partial indexes have the same text.
const open = `status IN ('initiated', 'negotiating', 'awaiting_approval')`

// Actor is the author of a round or of an offer.
type Actor string

// The actors. ActorSystem ends negotiations after their deadline.
const (
	ActorClient    Actor = "client"
	ActorPublisher Actor = "publisher"
	ActorSystem    Actor = "system"
)

// Negotiation is a client's negotiation with a publisher.
type Negotiation struct {
	ID        string
	Publisher int64
	Client    int64
	// ClientName is the client's verified name at the start of the negotiation. It is empty without one.
	ClientName string
	Anonymous  bool
	// Bundle is the id of the bundle; empty for a single negotiation.
	Bundle   string
	Strategy int64
	Status   Status
	// Reason is the recorded reason for a final status.
	Reason string
	// CurrentRound counts the client's proposals and acceptances.
	CurrentRound    int
	InitialProposal json.RawMessage
	// CurrentTerms is the newest offer, and OfferBy its author. FinalTerms exists if the status is accepted.
	CurrentTerms json.RawMessage
	OfferBy      Actor
	FinalTerms   json.RawMessage
	// AgreedPriceMicro is the price per fetch of FinalTerms in millionths of the publisher's currency.
	AgreedPriceMicro *int64
	// Policy is the id of the licence; zero if there is none.
	Policy      int64
	InitiatedBy Actor
	InitiatedAt time.Time
	// CompletedAt is zero unless the status is final.
	CompletedAt    time.Time
	LastActivityAt time.Time
	// Deadline is the time at which the negotiation, or the wait for an approval, ends as timeout.
	Deadline time.Time
	// Context is the JSON that the last decision kept for the next one.
	Context              json.RawMessage
	CreatedAt, UpdatedAt time.Time

	head audit.Head
}

var negotiationNames = []string{
	"id", "publisher_id", "client_id", "client_name", "anonymous", "bundle_id", "strategy_id", "status",
	"reason",
	"current_round", "initial_proposal", "current_terms", "current_offer_by", "final_terms",
	"agreed_price_micro",
	"generated_policy_id", "initiated_by", "initiated_at", "completed_at", "last_activity_at", "deadline_at",
	"context",
	"audit_length", "audit_head", "created_at", "updated_at",
}

var (
	negotiationColumns = strings.Join(negotiationNames, ", ")
	lockedColumns      = "n." + strings.Join(negotiationNames, ", n.")
)

func (n *Negotiation) targets(policy *nullID) []any {
	return []any{
		&n.ID, &n.Publisher, &n.Client, text(&n.ClientName), &n.Anonymous, text(&n.Bundle), &n.Strategy, &n.Status,
		&n.Reason,
		&n.CurrentRound, text(&n.InitialProposal), text(&n.CurrentTerms), text(&n.OfferBy), text(&n.FinalTerms),
		&n.AgreedPriceMicro,
		policy, &n.InitiatedBy, scanTime{&n.InitiatedAt}, scanTime{&n.CompletedAt}, scanTime{&n.LastActivityAt},
		scanTime{&n.Deadline}, text(&n.Context), &n.head.Length, &n.head.Hash, scanTime{&n.CreatedAt},
		scanTime{&n.UpdatedAt},
	}
}

// row returns the values in the order of negotiationNames.
func (n *Negotiation) row() []any {
	return []any{
		n.ID, n.Publisher, n.Client, orNull(n.ClientName), n.Anonymous, orNull(n.Bundle), n.Strategy,
		string(n.Status), n.Reason,
		n.CurrentRound, string(n.InitialProposal), orNull(n.CurrentTerms), orNull(n.OfferBy), orNull(n.FinalTerms),
		n.AgreedPriceMicro, numberOrNull(n.Policy), string(n.InitiatedBy), micro(n.InitiatedAt),
		micro(n.CompletedAt),
		micro(n.LastActivityAt), micro(n.Deadline), orNull(n.Context), n.head.Length, n.head.Hash,
		micro(n.CreatedAt),
		micro(n.UpdatedAt),
	}
}

// update returns the statement that writes the columns that a decision can change.
func (n *Negotiation) update() write {
	return write{`UPDATE negotiations SET status = $2, reason = $3, current_round = $4, current_terms = $5,
		current_offer_by = $6,
		final_terms = $7, agreed_price_micro = $8, completed_at = $9, last_activity_at = $10, deadline_at = $11,
		context = $12,
		audit_length = $13, audit_head = $14, updated_at = $15, generated_policy_id = $16 WHERE id = $1`, []any{
		n.ID, string(n.Status), n.Reason, n.CurrentRound, orNull(n.CurrentTerms), orNull(n.OfferBy),
		orNull(n.FinalTerms),
		n.AgreedPriceMicro, micro(n.CompletedAt), micro(n.LastActivityAt), micro(n.Deadline), orNull(n.Context),
		n.head.Length,
		n.head.Hash, micro(n.UpdatedAt), numberOrNull(n.Policy),
	}}
}

// nullID scans an id. NULL is zero.
type nullID int64

func (id *nullID) Scan(value any) error {
	if value == nil {
		*id = 0
		return nil
	}
	number, ok := value.(int64)
	if !ok {
		return fmt.Errorf("id is %T, want an integer", value)
	}
	*id = nullID(number)
	return nil
}

func scanNegotiation(scan func(...any) error) (n Negotiation, err error) {
	var policy nullID
	err = scan(n.targets(&policy)...)
	n.Policy, n.head.Negotiation = int64(policy), n.ID
	return n, err
}

// Negotiation returns a negotiation, or [ErrNotFound].
func (s *Store) Negotiation(ctx context.Context, id string) (Negotiation, error) {
	if err := checkID("negotiation", id); err != nil {
		return Negotiation{}, err
	}
	return one(ctx, s.reader, "negotiation "+id, scanNegotiation,
		`SELECT `+negotiationColumns+` FROM negotiations WHERE id = $1`, id)
}

// Filter selects negotiations. A zero field selects all.
type Filter struct {
	Publisher, Client int64
	Status            Status
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
	return list(ctx, s, page, scanNegotiation, func(n Negotiation) Cursor { return Cursor{n.CreatedAt, n.ID} },
		`SELECT `+negotiationColumns+` FROM negotiations`, conditions)
}

// Round is a proposal of the client, an answer of the publisher, or an end after the deadline.
type Round struct {
	// ID, Number and CreatedAt are set by the store.
	ID     string
	Number int
	Actor  Actor
	// Action is the verb, such as propose, counter, accept or reject. An actor has each action once in a round.
	Action    string
	Terms     json.RawMessage
	Reasoning string
	// LLMModel, LLMTokens and LLMTime describe the answer of a language model. They are zero without one.
	LLMModel  string
	LLMTokens int64
	LLMTime   time.Duration
	Analysis  json.RawMessage
	CreatedAt time.Time
	// Messages are written with the round.
	Messages []Message
}

// Message is a text that belongs to a round.
type Message struct {
	// ID, Round and CreatedAt are set by the store.
	ID, Round string
	Sender    Actor
	Type      string
	Text      string
	Data      json.RawMessage
	CreatedAt time.Time
}

// Rounds returns the rounds of a negotiation in their order, without messages. It returns an empty list for
// an id that does not exist.
func (s *Store) Rounds(ctx context.Context, negotiation string) ([]Round, error) {
	if err := checkID("negotiation", negotiation); err != nil {
		return nil, err
	}
	return many(ctx, s.reader, func(scan func(...any) error) (r Round, err error) {
		var tokens, elapsed nullID
		err = scan(&r.ID, &r.Number, &r.Actor, &r.Action, text(&r.Terms), &r.Reasoning, text(&r.LLMModel), &tokens,
			&elapsed,
			text(&r.Analysis), scanTime{&r.CreatedAt})
		r.LLMTokens, r.LLMTime = int64(tokens), time.Duration(elapsed)*time.Millisecond
		return r, err
	}, `SELECT id, round_number, actor, action, proposed_terms, reasoning, llm_model, llm_tokens_used,
		llm_response_time_ms,
		analysis, created_at FROM negotiation_rounds WHERE negotiation_id = $1 ORDER BY round_number, id`,
		negotiation)
}

// Messages lists the messages of a negotiation, newest first.
func (s *Store) Messages(ctx context.Context, negotiation string, page Page) (List[Message], error) {
	if err := checkID("negotiation", negotiation); err != nil {
		return List[Message]{}, err
	}
	return list(ctx, s, page, func(scan func(...any) error) (m Message, err error) {
		err = scan(&m.ID, &m.Round, &m.Sender, &m.Type, &m.Text, text(&m.Data), scanTime{&m.CreatedAt})
		return m, err
	}, func(m Message) Cursor { return Cursor{m.CreatedAt, m.ID} },
		`SELECT id, round_id, sender, message_type, message, structured_data, created_at FROM negotiation_messages`,
		where{{"negotiation_id = ", negotiation}})
}
