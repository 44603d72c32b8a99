package store

import (
	"context"
	"encoding/json"
	"errors"
)

// addOnce adds an object in one transaction, with the idempotency key of the request; nil for none. A
// repetition of the request returns the object of the first one with replayed true.
func addOnce[T any](ctx context.Context, s *Store, key *Key, add func(*transaction) (T, error)) (
	added T, replayed bool, err error,
) {
	attempt := 0
	result, err := s.keyed(ctx, func(t *transaction, result *Result) (refusal, err error) {
		attempt++
		if key != nil {
			if found, err := t.replayed(ctx, key, result); err != nil || found {
				return nil, err
			}
		}
		added, err = add(t)
		if key != nil && attempt == 1 && errors.Is(err, ErrExists) {
			// The first request can have been committed after the search for its key.
			return nil, errKeyTaken
		}
		if err != nil || key == nil {
			return nil, err
		}
		if result.Answer, err = json.Marshal(added); err != nil {
			return nil, err
		}
		t.writes = key.writes(result.Answer, s.now())
		return nil, nil
	})
	if err == nil && result.Replayed {
		var first T
		return first, true, json.Unmarshal(result.Answer, &first)
	}
	return added, false, err
}
