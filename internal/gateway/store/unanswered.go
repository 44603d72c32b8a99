package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// Unanswered is a negotiation that waits for the publisher's answer.
type Unanswered struct {
	// State is the negotiation with the unanswered proposal as the current offer. It is not locked. Proposals
	// holds the earlier ones.
	State
	// Standing holds the publisher's newest counter offer before the proposal; empty if none.
	Standing json.RawMessage
}

// Unanswered reads a negotiation for its pending answer. It locks nothing. The caller records the
// answer with [Store.BeginRound]. It returns nil if no answer is pending, and [ErrNotFound] if the negotiation does
// not exist.
func (s *Store) Unanswered(ctx context.Context, id string, recall Recall) (found *Unanswered, err error) {
	if err := checkID("negotiation", id); err != nil {
		return nil, err
	}
	err = s.snapshot(ctx, func(on statements) error {
		type row struct {
			queries.Negotiation
			Definition queries.JSON
			Floor      queries.NullNumber
			Standing   queries.JSON
		}
		rows, err := collect[row](ctx, on, `SELECT `+lockedColumns+`, v.definition, p.published_floor_micro AS floor, (
				SELECT r.proposed_terms FROM negotiation_rounds r
				WHERE r.negotiation_id = n.id AND r.actor = 'publisher' AND r.action = 'counter'
				ORDER BY r.round_number DESC LIMIT 1
			) AS standing FROM negotiations n
			JOIN negotiation_strategies v ON v.id = n.strategy_id JOIN publishers p ON p.id = n.publisher_id
			WHERE n.id = $1`, id)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fmt.Errorf("negotiation %s: %w", id, ErrNotFound)
		}
		r := rows[0]
		states := []State{{
			Negotiation: negotiationOf(r.Negotiation), Definition: json.RawMessage(r.Definition), Floor: int64(r.Floor),
			Now: s.now(),
		}}
		if !states[0].AnswerPending() {
			return nil
		}
		if err := recall.recall(ctx, on, states); err != nil {
			return err
		}
		found = &Unanswered{State: states[0], Standing: json.RawMessage(r.Standing)}
		return nil
	})
	return found, err
}

// OverdueAt returns the time from which [Store.Overdue] returns the negotiation: the given time after the proposal, or
// the middle between the proposal and the deadline if that is earlier.
func (u *Unanswered) OverdueAt(after time.Duration) time.Time {
	return u.LastActivityAt.Add(min(after, u.Deadline.Sub(u.LastActivityAt)/2))
}

// Overdue returns up to limit negotiations whose newest proposal has had no answer for a time, or for half of the time
// until the deadline.
func (s *Store) Overdue(ctx context.Context, after time.Duration, limit int) ([]string, error) {
	now := s.now()
	ids, err := s.read.Overdue(ctx, queries.OverdueParams{
		Now: queries.NullTime(now), Before: queries.NullTime(now.Add(-after)), TwiceNow: 2 * now.UnixMicro(),
		MaxRows: int64(limit),
	})
	return ids, classify(err)
}

// ModelRounds calls read for each round that names a language model, created at or after a time. Only ID and Analysis
// of the rounds are set.
func (s *Store) ModelRounds(ctx context.Context, since time.Time, read func(Round) error) error {
	rows, err := s.read.ModelRounds(ctx, queries.NullTime(since))
	if err != nil {
		return classify(err)
	}
	for _, row := range rows {
		if err := read(Round{ID: row.ID, Analysis: json.RawMessage(row.Analysis)}); err != nil {
			return err
		}
	}
	return nil
}
