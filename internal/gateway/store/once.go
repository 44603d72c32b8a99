package store

import (
	"context"
	"encoding/json"
)

// addOnce adds an object in a single transaction, with the request's idempotency key; nil for none. Repeating
// the request returns the first request's object with replayed true.
func addOnce[T any](ctx context.Context, s *Store, key *Key, add func(*transaction) (T, error)) (
	added T, replayed bool, err error,
) {
	var result Result
	err = s.transact(ctx, func(t *transaction) error {
		found, err := replay(ctx, t, key, &result)
		if err != nil || found {
			return err
		}
		if added, err = add(t); err != nil || key == nil {
			return err
		}
		answer, err := json.Marshal(added)
		t.writes = key.writes(answer, s.now())
		return err
	})
	if err != nil {
		// The first request can have been committed after the key lookup.
		result, err = s.executed(ctx, key, err)
	}
	if err == nil && result.Replayed {
		var first T
		return first, true, json.Unmarshal(result.Answer, &first)
	}
	return added, false, err
}
