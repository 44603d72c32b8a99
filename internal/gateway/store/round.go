package store

import (
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

// Key is the idempotency key of a request.
type Key struct {
	// Owner is the caller: keys of different callers are independent.
	Owner string
	// Key is the caller's choice.
	Key string
	// BodyHash identifies the content of the request.
	BodyHash string
}

// RoundRequest selects the negotiations of a round.
type RoundRequest struct {
	// Negotiations are one or several ids. All of them change or none.
	Negotiations []string
	// Recall selects the client's earlier proposals that the states have.
	Recall Recall
	// Key is nil for a request without an idempotency key.
	Key *Key
}

// Result is the result of a transaction on negotiations.
type Result struct {
	// Negotiations are the new states in the order of the request. It is empty if Replayed is true.
	Negotiations []Negotiation
	// Answer is that of the decision.
	Answer json.RawMessage
	// Replayed reports whether a request with the same key and body has been executed before. Answer is its
	// answer.
	Replayed bool
}

// Decide decides on negotiations. An error ends the transaction without a change. It must not use the store.
type Decide func(states []State) (Outcome, error)

// errKeyTaken means that a transaction with the same key has been committed after this one looked for it.
var errKeyTaken = errors.New("idempotency key taken")

// Round locks negotiations, lets decide decide on them, and writes the rounds, messages, audit entries, new
// states and the answer, in one transaction. A repetition of a request with the same key returns the stored
// answer.
//
// It returns [ErrInProgress] if another transaction has locked one of them, [ErrNotFound] if one does not
// exist, [ErrKeyReused] for a key of a request with another body, and a [StatusError] if one is final, awaits
// approval, or has passed its deadline; in the last case it ends as timeout first.
func (s *Store) Round(ctx context.Context, request RoundRequest, decide Decide) (Result, error) {
	return s.change(ctx, request, false, decide)
}

func (s *Store) change(ctx context.Context, request RoundRequest, approval bool, decide Decide) (Result,
	error) {
	if len(request.Negotiations) == 0 {
		return Result{}, errors.New("round: no negotiation given")
	}
	for i, id := range request.Negotiations {
		if err := checkID("negotiation", id); err != nil {
			return Result{}, err
		}
		if slices.Contains(request.Negotiations[:i], id) {
			return Result{}, fmt.Errorf("round: negotiation %s given twice", id)
		}
	}
	return s.keyed(ctx, func(t *transaction, result *Result) (refusal error, err error) {
		return t.decided(ctx, request, approval, decide, result)
	})
}

// keyed runs a transaction that can store an idempotency key. A transaction that finds the key taken is
// repeated, and then returns the stored answer. A refusal is returned after the transaction is committed.
func (s *Store) keyed(ctx context.Context, act func(*transaction, *Result) (refusal, err error)) (Result,
	error) {
	for attempt := 1; ; attempt++ {
		var result Result
		var refusal error
		err := s.transact(ctx, func(t *transaction) (err error) {
			refusal, err = act(t, &result)
			return err
		})
		if isDuplicate(err) && strings.Contains(err.Error(), "idempotency_keys") {
			err = errKeyTaken
		}
		switch {
		case errors.Is(err, errKeyTaken) && attempt == 1:
			continue
		case errors.Is(err, errKeyTaken):
			return Result{}, ErrInProgress
		case err != nil:
			return Result{}, err
		case refusal != nil:
			return Result{}, refusal
		}
		return result, nil
	}
}

// decided is the transaction of a round.
func (t *transaction) decided(ctx context.Context, request RoundRequest, approval bool, decide Decide,
	result *Result,
) (refusal, err error) {
	states, stored, err := t.lockNegotiations(ctx, request)
	if err != nil {
		return nil, err
	}
	if stored != nil {
		return nil, stored.replay(request.Key, result)
	}
	if late, refusal := refused(states, approval); refusal != nil {
		if request.Key != nil {
			found, err := t.replayed(ctx, request.Key, result)
			if err != nil || found {
				return nil, err
			}
		}
		return refusal, t.expire(late)
	}
	if err := t.recall(ctx, request.Recall, states); err != nil {
		return nil, err
	}
	outcome, err := decide(slices.Clone(states))
	if err == nil && len(outcome.Decisions) != len(states) {
		err = fmt.Errorf("round: %d decisions for %d negotiations", len(outcome.Decisions), len(states))
	}
	if err != nil {
		if request.Key != nil {
			// The request may have been executed between the search for its key and the lock.
			if found, searched := t.replayed(ctx, request.Key, result); searched != nil || found {
				return nil, searched
			}
		}
		return nil, err
	}
	c := changes{by: t.by}
	var updates []queries.UpdateNegotiationParams
	now := states[0].Now
	for i, state := range states {
		n := state.Negotiation
		if err := c.apply(&n, outcome.Decisions[i], n.Status, now); err != nil {
			return nil, err
		}
		updates = append(updates, n.update())
		result.Negotiations = append(result.Negotiations, n)
	}
	result.Answer = outcome.Answer
	t.writes = slices.Concat(c.writes(), request.Key.writes(outcome.Answer, now),
		writesOf(queries.Querier.UpdateNegotiation, updates...))
	return nil, outcome.enqueue(ctx, t)
}

// refused returns the error for negotiations that are final, or that wait for something else, and those that
// have passed their deadline.
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

// lockNegotiations locks and reads negotiations. stored is the answer to an earlier request with the same
// key.
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
		// The clock of another gateway can be ahead. The times of a negotiation never decrease.
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

// replayed searches for a key and reports whether it is there.
func (t *transaction) replayed(ctx context.Context, key *Key, result *Result) (bool, error) {
	found, err := t.FindIdempotencyKey(ctx, key.Owner, key.Key)
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

// DeleteKeys deletes at most limit idempotency keys that are older than a time. It returns their number.
func (s *Store) DeleteKeys(ctx context.Context, before time.Time, limit int) (int64, error) {
	return classified(s.write.DeleteIdempotencyKeys(ctx, queries.NullTime(before), int64(limit)))
}
