package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// Key is a request's idempotency key.
type Key struct {
	// Owner is the caller: keys of different callers are independent.
	Owner string
	// Key is chosen by the caller.
	Key string
	// BodyHash identifies the content of the request.
	BodyHash string
}

// RoundRequest selects the negotiations for a round.
type RoundRequest struct {
	// Negotiations contains at least one id. All change or none.
	Negotiations []string
	// Recall selects the client's earlier proposals that the states have.
	Recall Recall
	// Approval selects negotiations that await approval. If false, none may await it.
	Approval bool
	// Key is nil if the request lacks an idempotency key.
	Key *Key
}

// Result is returned by transactions on negotiations.
type Result struct {
	// Negotiations holds the new states in request order; empty if Replayed is true.
	Negotiations []Negotiation
	// Answer is the decision's answer.
	Answer json.RawMessage
	// Replayed reports whether a request with the same key and body was executed before. Answer is then the
	// stored answer.
	Replayed bool
}

// BeginRound locks negotiations, so that the caller can decide on them. It returns [ErrInProgress] if another
// transaction holds a lock, [ErrNotFound] if a negotiation does not exist, [ErrKeyReused] if the key was used
// with another body, and a [StatusError] if a negotiation is final, awaits approval, or is past the deadline;
// in the last case it ends as timeout first.
func (s *Store) BeginRound(ctx context.Context, request RoundRequest) (*Unit, error) {
	if len(request.Negotiations) == 0 {
		return nil, errors.New("round: no negotiation given")
	}
	for i, id := range request.Negotiations {
		if err := checkID("negotiation", id); err != nil {
			return nil, err
		}
		if slices.Contains(request.Negotiations[:i], id) {
			return nil, fmt.Errorf("round: negotiation %s given twice", id)
		}
	}
	return s.beginUnit(ctx, request.Key, func(u *Unit) error { return u.lock(ctx, request) })
}

// lock locks and reads a round's negotiations.
func (u *Unit) lock(ctx context.Context, request RoundRequest) error {
	states, stored, err := u.t.lockNegotiations(ctx, request)
	if err != nil {
		return err
	}
	if stored != nil {
		return stored.replay(u.key, &u.result)
	}
	if late, refusal := refused(states, request.Approval); refusal != nil {
		if found, err := replay(ctx, u.t, u.key, &u.result); err != nil || found {
			return err
		}
		if err := u.t.expire(late); err != nil {
			return err
		}
		return cmp.Or(u.t.finish(ctx), refusal)
	}
	u.States = states
	return request.Recall.recall(ctx, u.t, states)
}

// executed returns the answer to a request if another transaction has executed it meanwhile. Otherwise it
// returns failed.
func (s *Store) executed(ctx context.Context, key *Key, failed error) (result Result, err error) {
	if found, err := replay(ctx, s.read, key, &result); found {
		return result, err
	}
	if isDuplicate(failed) && strings.Contains(failed.Error(), "idempotency_keys") {
		failed = ErrInProgress
	}
	return Result{}, failed
}

// refused returns the error for final negotiations or those waiting for something else, and the negotiations
// past their deadline.
func refused(states []State, approval bool) (late []State, refusal error) {
	for _, state := range states {
		waits := state.Status == engine.AwaitingApproval
		switch {
		case !state.Status.IsFinal() && !state.Now.Before(state.Deadline):
			late = append(late, state)
			refusal = &StatusError{Status: engine.TimedOut, Reason: timeoutReason(state.Status)}
		case state.Status.IsFinal() || waits != approval:
			if refusal == nil {
				refusal = &StatusError{Status: state.Status, Reason: state.Reason}
			}
		}
	}
	return late, refusal
}

var lockedColumns = columnsOf[queries.Negotiation]("n")

// lockNegotiations locks and reads negotiations. stored is the answer to an earlier request with the key.
func (t *transaction) lockNegotiations(ctx context.Context, request RoundRequest) (states []State,
	stored *answer, err error) {
	arguments := append([]any{"", ""}, anyOf(request.Negotiations)...)
	if request.Key != nil {
		arguments[0], arguments[1] = request.Key.Owner, request.Key.Key
	}
	type row struct {
		queries.Negotiation
		Definition     queries.JSON
		Floor          queries.NullNumber
		Body, Answered *string
	}
	rows, err := collect[row](ctx, t, `SELECT `+lockedColumns+`, v.definition, p.published_floor_micro AS floor,
		k.body_hash AS body, k.answer AS answered FROM negotiations n
		JOIN negotiation_strategies v ON v.id = n.strategy_id JOIN publishers p ON p.id = n.publisher_id
		LEFT JOIN idempotency_keys k ON k.owner = $1 AND k.idempotency_key = $2
		WHERE n.id IN (`+inList(3, len(request.Negotiations))+`)`+t.store.Dialect.lock("FOR UPDATE OF n NOWAIT"),
		arguments...)
	if err != nil {
		return nil, nil, err
	}
	byID := map[string]State{}
	for _, r := range rows {
		byID[r.ID] = State{
			Negotiation: negotiationOf(r.Negotiation), Definition: json.RawMessage(r.Definition),
			Floor: int64(r.Floor),
		}
		if r.Body != nil {
			stored = &answer{*r.Body, *r.Answered}
		}
	}
	now := t.store.now()
	for _, id := range request.Negotiations {
		state, found := byID[id]
		if !found {
			return nil, nil, fmt.Errorf("negotiation %s: %w", id, ErrNotFound)
		}
		// Another gateway's clock can be ahead. A negotiation's times never decrease.
		if now.Before(state.UpdatedAt) {
			now = state.UpdatedAt
		}
		states = append(states, state)
	}
	for i := range states {
		states[i].Now = now
	}
	return states, stored, nil
}

// answer is the stored answer to a request.
type answer struct{ body, text string }

func (a *answer) replay(key *Key, result *Result) error {
	if a.body != key.BodyHash {
		return ErrKeyReused
	}
	*result = Result{Answer: json.RawMessage(a.text), Replayed: true}
	return nil
}

// replay searches for a key and reports whether it is there; nil never is. If it is, replay sets the stored answer.
func replay(ctx context.Context, on queries.Querier, key *Key, result *Result) (bool, error) {
	if key == nil {
		return false, nil
	}
	found, err := on.FindIdempotencyKey(ctx, key.Owner, key.Key)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	a := answer{found.BodyHash, found.Answer}
	return true, a.replay(key, result)
}

// writes returns the statement that stores the answer; none for a nil key.
func (k *Key) writes(answer json.RawMessage, now time.Time) []write {
	if k == nil {
		return nil
	}
	return writesOf(queries.Querier.AddIdempotencyKey, queries.AddIdempotencyKeyParams{
		Owner: k.Owner, IdempotencyKey: k.Key, BodyHash: k.BodyHash, Answer: string(answer),
		CreatedAt: queries.NullTime(now),
	})
}

// DeleteKeys deletes up to limit idempotency keys older than a time. It returns their number.
func (s *Store) DeleteKeys(ctx context.Context, before time.Time, limit int) (int64, error) {
	return classified(s.write.DeleteIdempotencyKeys(ctx, queries.NullTime(before), int64(limit)))
}
