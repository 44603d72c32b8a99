package store

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A version is deleted only if it neither is active nor belongs to a negotiation's record.
func TestOnlyUnusedStrategiesAreDeleted(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		used := f.strategy
		other := f.addPublisher(t, "site-b.local")
		f.negotiate(t)
		draft, err := f.AddStrategy(t.Context(), Strategy{
			Publisher: f.publisher.ID, Name: "draft", Definition: json.RawMessage(`{}`),
		}, nil)
		require.NoError(t, err)
		_, err = f.DeleteStrategy(t.Context(), other.ID, draft.ID)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = f.DeleteStrategy(t.Context(), f.publisher.ID, used.ID)
		require.ErrorIs(t, err, ErrStrategyActive)
		_, err = f.SetActive(t.Context(), f.publisher.ID, used.ID, false)
		require.NoError(t, err)
		_, err = f.DeleteStrategy(t.Context(), f.publisher.ID, used.ID)
		require.ErrorIs(t, err, ErrStrategyUsed)
		require.EqualError(t, err, fmt.Sprintf("strategy %d: used by negotiations: it stays as part of their "+
			"record (1)", used.ID))
		deleted, err := f.DeleteStrategy(t.Context(), f.publisher.ID, draft.ID)
		require.NoError(t, err)
		require.Equal(t, draft, deleted)
		_, err = f.Strategy(t.Context(), draft.ID)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = f.DeleteStrategy(t.Context(), f.publisher.ID, draft.ID)
		require.ErrorIs(t, err, ErrNotFound)
		again, err := f.AddStrategy(t.Context(), draft, nil)
		require.NoError(t, err)
		require.NotEqual(t, draft.ID, again.ID, "an id is never used again")
		require.Equal(t, 1, again.Version)
	})
}
