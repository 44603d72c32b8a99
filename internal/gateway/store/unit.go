package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// Unit is a unit of work: a transaction with locked negotiations. The caller decides, and Finish writes the
// decisions. Call End after every unit; after Finish it does nothing. While a unit of SQLite is open, nothing
// else can write to the database.
type Unit struct {
	// States holds the negotiations in request order; empty if Replayed is true.
	States []State

	t      *transaction
	key    *Key
	result Result
	// opening reports whether the negotiations are new.
	opening bool
}

// beginUnit begins a transaction, and calls read to fill the states.
func (s *Store) beginUnit(ctx context.Context, key *Key, read func(*Unit) error) (*Unit, error) {
	t, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	u := &Unit{t: t, key: key}
	complete := false
	defer func() {
		if !complete {
			u.End(ctx)
		}
	}()
	if err := read(u); err != nil {
		return nil, classify(err)
	}
	complete = true
	return u, nil
}

// Replayed reports whether a request with the same key and body was executed before. Then there is nothing to
// decide, and Finish returns the stored answer.
func (u *Unit) Replayed() bool { return u.result.Replayed }

// End rolls back an uncommitted unit and releases the connection.
func (u *Unit) End(ctx context.Context) { u.t.end(ctx) }

// Finish writes an outcome's rounds, messages, audit entries, new states and answer, commits, and ends the
// unit. failed is the decision's error: if not nil, nothing changes and Finish returns it. If a request with
// the same key was executed meanwhile, Finish returns the stored answer instead, in both cases.
func (u *Unit) Finish(ctx context.Context, outcome Outcome, failed error) (Result, error) {
	defer u.End(ctx)
	if u.Replayed() {
		return u.result, nil
	}
	err := failed
	if err == nil {
		err = u.write(ctx, outcome)
	}
	if err == nil {
		return u.result, nil
	}
	u.End(ctx) // executed needs a connection
	return u.t.store.executed(ctx, u.key, err)
}

// write adds an outcome's rows to the transaction, and commits it.
func (u *Unit) write(ctx context.Context, outcome Outcome) error {
	if len(outcome.Updates) != len(u.States) {
		return fmt.Errorf("%d updates for %d negotiations", len(outcome.Updates), len(u.States))
	}
	c := changes{by: u.t.by}
	var added []queries.AddNegotiationParams
	var updated []queries.UpdateNegotiationParams
	now := u.States[0].Now
	for i, state := range u.States {
		n, before := state.Negotiation, state.Status
		if u.opening {
			before = ""
		}
		if err := c.apply(&n, outcome.Updates[i], before, now); err != nil {
			return err
		}
		if u.opening {
			added = append(added, n.row())
		} else {
			updated = append(updated, n.update())
		}
		u.result.Negotiations = append(u.result.Negotiations, n)
	}
	u.result.Answer = outcome.Answer
	u.t.writes = slices.Concat(u.t.writes, writesOf(queries.Querier.AddNegotiation, added...), c.writes(),
		u.key.writes(outcome.Answer, now), writesOf(queries.Querier.UpdateNegotiation, updated...))
	if outcome.Enqueue != nil {
		if err := outcome.Enqueue(ctx, u.t.handle()); err != nil {
			return err
		}
	}
	return u.t.finish(ctx)
}

// CheckOffer returns [ErrNotFound] for a negotiation of another client, and [ErrOfferChanged] if the current
// offer is not the publisher's offer in the round.
func (s State) CheckOffer(client int64, round int) error {
	switch {
	case s.Client != client:
		return fmt.Errorf("negotiation %s: %w", s.ID, ErrNotFound)
	case s.OfferBy != engine.PartyPublisher || s.CurrentRound != round:
		return fmt.Errorf("negotiation %s: %w", s.ID, ErrOfferChanged)
	}
	return nil
}

// Accept returns the client's acceptance of the current offer. The status becomes accepted or
// awaiting_approval.
func (s State) Accept(terms Terms) Update {
	d := Update{
		Rounds:     []Round{{Actor: engine.PartyClient, Action: "accept", Terms: s.CurrentTerms}},
		Status:     engine.Accepted,
		FinalTerms: s.CurrentTerms, AgreedPriceMicro: &terms.PriceMicro,
	}
	if !terms.ApprovalDeadline.IsZero() {
		d.Status, d.Deadline = engine.AwaitingApproval, terms.ApprovalDeadline
		d.FinalTerms, d.AgreedPriceMicro = nil, nil
	}
	return d
}

// Terms holds the parts of an accepted offer that the store needs.
type Terms struct {
	// PriceMicro is the price per fetch in millionths of the publisher's currency.
	PriceMicro int64
	// ApprovalDeadline is when the publisher's time to approve the terms ends. If zero, no approval is
	// needed.
	ApprovalDeadline time.Time
}

// Approve returns the publisher's approval of the current terms, with their price per fetch in millionths.
func (s State) Approve(priceMicro int64, reason string) Update {
	return Update{
		Status: engine.Accepted, Reason: reason, FinalTerms: s.CurrentTerms, AgreedPriceMicro: &priceMicro,
		Rounds: []Round{{
			Actor: engine.PartyPublisher, Action: "approve", Reasoning: reason, Terms: s.CurrentTerms,
		}},
	}
}

// RefuseApproval returns the publisher's refusal of the current terms.
func (s State) RefuseApproval(reason string) Update {
	return Update{
		Status: engine.Rejected, Reason: reason,
		Rounds: []Round{{Actor: engine.PartyPublisher, Action: "refuse_approval", Reasoning: reason}},
	}
}

// Use makes a new negotiation begin with a strategy from Versions.
func (s *State) Use(v Strategy) { s.Strategy, s.Definition = v.ID, v.Definition }
