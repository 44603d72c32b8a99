package store

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSeveralStrategiesAreActive checks which versions are active together, and that a negotiation begins and
// continues with the selected version.
func TestSeveralStrategiesAreActive(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		add := func(replaced int64, definition string) Strategy {
			v, err := f.ReplaceStrategy(t.Context(), replaced, Strategy{
				Publisher: f.publisher.ID, Name: "night", Definition: json.RawMessage(definition), Active: true,
			}, nil)
			require.NoError(t, err)
			return v
		}
		active := func() (ids []int64) {
			found, err := f.ActiveStrategies(t.Context(), f.publisher.ID)
			require.NoError(t, err)
			for _, v := range found {
				ids = append(ids, v.ID)
			}
			return ids
		}
		always := f.strategy.ID
		night := add(0, `{"hours": [{"from": "22:00", "until": "04:00"}], "time_zone": "UTC"}`)
		require.Equal(t, []int64{always, night.ID}, active(), "another schedule is active beside it")
		same := add(0, `{"time_zone": "UTC", "hours": [{"until": "04:00", "from": "22:00"}], "max_rounds": 3}`)
		require.Equal(t, []int64{always, same.ID}, active(), "the same schedule replaces it")
		berlin := add(0, `{"hours": [{"from": "22:00", "until": "04:00"}], "time_zone": "Europe/Berlin"}`)
		require.Equal(t, []int64{always, same.ID, berlin.ID}, active())
		changed := add(same.ID, `{"hours": [{"from": "23:00", "until": "04:00"}], "time_zone": "UTC"}`)
		require.Equal(t, []int64{always, berlin.ID, changed.ID}, active(), "the named version is replaced")

		creation := f.creation(f.publisher)
		result, err := f.CreateNegotiations(t.Context(), creation, func(states []State) (Outcome, error) {
			require.Equal(t, f.now(), states[0].Now)
			require.Equal(t, changed.ID, states[0].Strategy, "the newest")
			versions := states[0].Versions
			require.Len(t, versions, 3)
			require.Equal(t, []int64{always, berlin.ID, changed.ID},
				[]int64{versions[0].ID, versions[1].ID, versions[2].ID})
			states[0].Use(versions[1])
			return counter(states)
		})
		require.NoError(t, err)
		n := result.Negotiations[0]
		require.Equal(t, berlin.ID, n.Strategy)
		_, err = f.SetActive(t.Context(), f.publisher.ID, berlin.ID, false)
		require.NoError(t, err)
		require.Equal(t, []int64{always, changed.ID}, active())
		_, err = f.Round(t.Context(), RoundRequest{Negotiations: []string{n.ID}},
			func(states []State) (Outcome, error) {
				require.JSONEq(t, string(berlin.Definition), string(states[0].Definition))
				return counter(states)
			})
		require.NoError(t, err)

		for number := range MaxActive - 2 {
			add(0, fmt.Sprintf(`{"valid_from": "2027-01-%02dT00:00:00Z"}`, number+1))
		}
		_, err = f.AddStrategy(t.Context(), Strategy{
			Publisher: f.publisher.ID, Name: "more", Active: true,
			Definition: json.RawMessage(`{"valid_until": "2027-02-01T00:00:00Z"}`),
		}, nil)
		require.ErrorIs(t, err, ErrActiveLimit)
		_, err = f.SetActive(t.Context(), f.publisher.ID, berlin.ID, true)
		require.ErrorIs(t, err, ErrActiveLimit)
		require.Len(t, active(), MaxActive)
		_, err = f.SetActive(t.Context(), f.publisher.ID, night.ID, true)
		require.ErrorIs(t, err, ErrActiveLimit, "no active version has its schedule any more")
		add(changed.ID, `{"valid_until": "2027-02-01T00:00:00Z"}`)
	})
}
