package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

func timeoutReason(before engine.Status) string {
	if before == engine.AwaitingApproval {
		return engine.ReasonNotApproved
	}
	return engine.ReasonInactive
}

// expire ends locked negotiations as timeout, with the commit.
func (t *transaction) expire(late []State) error {
	if len(late) == 0 {
		return nil
	}
	var c changes
	var updates []queries.UpdateNegotiationParams
	for _, state := range late {
		n, before := state.Negotiation, state.Status
		reason := timeoutReason(before)
		activity := n.LastActivityAt
		if err := c.apply(&n, Update{
			Status: engine.TimedOut, Reason: reason, Rounds: []Round{{Actor: engine.PartySystem, Action: "timeout",
				Reasoning: reason}},
		}, before, state.Now); err != nil {
			return err
		}
		n.LastActivityAt = activity // a timeout is not an activity
		updates = append(updates, n.update())
	}
	t.writes = slices.Concat(c.writes(), writesOf(queries.Querier.UpdateNegotiation, updates...))
	return nil
}

// MaxSweep limits the negotiations that a single transaction ends.
const MaxSweep = 200

// Sweep ends up to limit negotiations past their deadline, in a single transaction. It skips locked
// negotiations. It returns the number ended; if equal to limit, more may remain.
func (s *Store) Sweep(ctx context.Context, limit int) (ended int, err error) {
	if limit < 1 || limit > MaxSweep {
		return 0, fmt.Errorf("sweep: limit %d must be 1 to %d", limit, MaxSweep)
	}
	now := s.now()
	err = s.transact(ctx, func(t *transaction) error {
		rows, err := several(negotiationOf)(t.Late(ctx, queries.NullTime(now), int64(limit)))
		if err != nil {
			return err
		}
		late := make([]State, len(rows))
		for i, n := range rows {
			late[i] = State{Negotiation: n, Now: now}
			if now.Before(n.UpdatedAt) {
				late[i].Now = n.UpdatedAt
			}
		}
		ended = len(rows)
		return t.expire(late)
	})
	return ended, err
}
