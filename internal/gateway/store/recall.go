package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// Recall selects the client's earlier proposals to the publisher, in all negotiations between them that began
// less than Period before the current negotiation, or later. If the current negotiation contains an unanswered
// proposal, only the proposals before it are selected. The zero value selects none.
type Recall struct {
	// Period is the longest time between the start of an earlier negotiation and the current start.
	Period time.Duration
	// Limit is the highest number of proposals; the oldest are selected.
	Limit int
}

// recall adds the proposals to a client's states. Each transaction that adds a proposal locks the client or
// the negotiation, so a client that sends proposals sequentially gets all of them.
func (r Recall) recall(ctx context.Context, on statements, states []State) error {
	if r.Limit == 0 {
		return nil
	}
	began := states[0].InitiatedAt
	publishers := make([]int64, len(states))
	for i, state := range states {
		publishers[i] = state.Publisher
		if state.InitiatedAt.Before(began) {
			began = state.InitiatedAt
		}
	}
	arguments := append([]any{states[0].Client, began.Add(-r.Period).UnixMicro(), r.Limit + 1}, anyOf(publishers)...)
	type row struct {
		Publisher   int64
		Terms       queries.JSON
		Negotiation string
		Round       int
	}
	// One more than the limit, because one can be the unanswered proposal.
	found, err := collect[row](ctx, on, `SELECT publisher, terms, negotiation, round FROM (
			SELECT n.publisher_id AS publisher, r.proposed_terms AS terms, r.negotiation_id AS negotiation,
				r.round_number AS round, ROW_NUMBER() OVER proposed AS place
			FROM negotiations n JOIN negotiation_rounds r ON r.negotiation_id = n.id
			WHERE n.client_id = $1 AND n.created_at > $2 AND n.publisher_id IN (`+inList(4, len(publishers))+`)
				AND r.actor = 'client' AND r.action IN ('propose', 'counter') AND r.proposed_terms IS NOT NULL
			WINDOW proposed AS (PARTITION BY n.publisher_id ORDER BY r.created_at, r.id)
		) AS proposals WHERE place <= $3 ORDER BY publisher, place`, arguments...)
	if err != nil {
		return err
	}
	complete := make([]bool, len(states))
	for _, proposal := range found {
		for i := range states {
			s := &states[i]
			if s.Publisher != proposal.Publisher || complete[i] {
				continue
			}
			complete[i] = len(s.Proposals) == r.Limit ||
				s.AnswerPending() && s.ID == proposal.Negotiation && s.CurrentRound == proposal.Round
			if !complete[i] {
				s.Proposals = append(s.Proposals, json.RawMessage(proposal.Terms))
			}
		}
	}
	return nil
}
