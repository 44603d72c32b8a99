package service

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Approvals lists the negotiations that wait for the publisher's approval. It needs the scope
// negotiations:read.
func (s *Service) Approvals(
	ctx context.Context, caller identity.Caller, publisher int64, page store.Page,
) (_ store.List[Negotiation], err error) {
	defer translate(&err)
	publisher, err = publisherOf(caller, identity.NegotiationsRead, publisher)
	if err != nil {
		return store.List[Negotiation]{}, err
	}
	return s.Negotiations(ctx, caller, store.Filter{Publisher: publisher, Status: engine.AwaitingApproval}, page)
}

// ApprovalRequest decides on an agreement for the publisher.
type ApprovalRequest struct {
	Negotiation    string `json:"negotiation_id"`
	Approved       bool   `json:"approved"`
	IdempotencyKey string `json:"-"`
}

// Approve accepts or refuses an agreement that waits for it. It needs the scope approvals:write. It returns
// Conflict if the negotiation does not await approval.
func (s *Service) Approve(
	ctx context.Context, caller identity.Caller, r ApprovalRequest,
) (_ Negotiation, err error) {
	defer translate(&err)
	if _, err := s.ownNegotiation(ctx, caller, identity.ApprovalsWrite, r.Negotiation); err != nil {
		return Negotiation{}, err
	}
	key, err := idempotency(caller.LimitKey(), r.IdempotencyKey, "approve", r)
	if err != nil {
		return Negotiation{}, err
	}
	ctx = acting(ctx, caller)
	unit, err := s.store.BeginRound(ctx, store.RoundRequest{
		Negotiations: []string{r.Negotiation}, Approval: true, Key: key,
	})
	if err != nil {
		return Negotiation{}, err
	}
	defer unit.End(ctx)
	var o store.Outcome
	if !unit.Replayed() {
		o, err = approved(unit.States[0], r.Approved)
	}
	if _, err = unit.Finish(ctx, o, err); err != nil {
		return Negotiation{}, err
	}
	n, err := s.store.Negotiation(ctx, r.Negotiation)
	if err != nil {
		return Negotiation{}, err
	}
	return s.view(ctx, n)
}

// approved returns the change that records an approval or a refusal.
func approved(state store.State, yes bool) (o store.Outcome, err error) {
	d := state.RefuseApproval(engine.ReasonRefused)
	if yes {
		agreed, err := terms.Parse(state.CurrentTerms)
		if err != nil {
			return o, err
		}
		d = state.Approve(int64(agreed.Price), engine.ReasonAccepted)
	}
	o.Updates = []store.Update{d}
	o.Answer, err = json.Marshal(map[string]engine.Status{"status": d.Status})
	return o, err
}

// Analytics summarizes a publisher's negotiations.
type Analytics struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// Total counts the negotiations that began in the period, and Accepted the accepted negotiations.
	Total    int64 `json:"total_negotiations"`
	Accepted int64 `json:"accepted"`
	// AcceptanceRate is Accepted divided by the negotiations that have ended; 0 if none has.
	AcceptanceRate float64 `json:"acceptance_rate"`
	// Days lists the figures per day and status.
	Days []store.Day `json:"days"`
}

// Analytics returns figures for the negotiations that began at or after from and before until, at most
// [store.MaxDays]. Zero times select the last 30 days. It needs the scope analytics:read; for administrators,
// publisher 0 selects all publishers.
func (s *Service) Analytics(
	ctx context.Context, caller identity.Caller, publisher int64, from, until time.Time,
) (_ Analytics, err error) {
	defer translate(&err)
	publisher, err = publisherOf(caller, identity.AnalyticsRead, publisher)
	if err != nil {
		return Analytics{}, err
	}
	if until.IsZero() {
		until = s.store.Now()
	}
	if from.IsZero() {
		from = until.Add(-30 * 24 * time.Hour)
	}
	if err := cmp.Or(toUTC("from", &from), toUTC("until", &until)); err != nil {
		return Analytics{}, err
	}
	if !from.Before(until) || until.Sub(from) > store.MaxDays*24*time.Hour {
		return Analytics{}, invalid("from", "the period must be positive and at most %d days", store.MaxDays)
	}
	days, err := s.store.Analytics(ctx, publisher, from, until)
	if err != nil {
		return Analytics{}, err
	}
	a := Analytics{From: from, Until: until, Days: days}
	var ended int64
	for _, day := range days {
		a.Total += day.Count
		if day.Status.IsFinal() {
			ended += day.Count
		}
		if day.Status == engine.Accepted {
			a.Accepted += day.Count
		}
	}
	if ended > 0 {
		a.AcceptanceRate = float64(a.Accepted) / float64(ended)
	}
	return a, nil
}

// AuditEntry is an entry in a negotiation's audit log. Entry is the text whose hash is chained.
type AuditEntry struct {
	Sequence int64  `json:"sequence"`
	Entry    string `json:"entry"`
	Hash     string `json:"hash"`
}

// AuditLog returns up to limit entries of a negotiation in sequence order, at most [store.MaxPage], starting
// after a sequence; 0 selects the first entry. It needs the scope audit:read.
func (s *Service) AuditLog(
	ctx context.Context, caller identity.Caller, negotiation string, after int64, limit int,
) (_ []AuditEntry, err error) {
	defer translate(&err)
	if _, err := s.ownNegotiation(ctx, caller, identity.AuditRead, negotiation); err != nil {
		return nil, err
	}
	links, err := s.store.AuditEntries(ctx, negotiation, after, limit)
	entries := make([]AuditEntry, 0, len(links))
	for _, link := range links {
		entries = append(entries, AuditEntry{link.Sequence, link.Text, link.Hash})
	}
	return entries, err
}
