package service_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
)

func TestStrategiesTakeProposalsInTheirHoursOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		first, err := f.Schedule(t.Context(), f.siteA, 0, time.Time{})
		require.NoError(t, err)
		changed, err := f.UpdateStrategy(t.Context(), f.siteA, first.StrategyID,
			[]byte(`{"hours": [{"from": "12:00", "until": "13:00"}]}`))
		require.NoError(t, err)
		r := service.ProposeRequest{Proposals: []service.Proposal{{"site-a.local", at(4000)}}}
		_, err = f.Propose(t.Context(), f.openAI, r)
		require.ErrorContains(t, err, "publisher site-a.local: no strategy applies now; try again later")
		fails(t, err, service.Conflict, service.CodeClosed)
		_, err = f.PublicStrategy(t.Context(), "site-a.local")
		fails(t, err, service.Conflict, service.CodeClosed)
		f.offset.Add(int64(2 * time.Hour))
		_, err = f.Propose(t.Context(), f.openAI, r)
		require.NoError(t, err)

		// The only active version can be the last.
		_, err = f.UpdateStrategy(t.Context(), f.siteA, changed.ID, []byte(`{"is_active": false}`))
		require.NoError(t, err)
		_, err = f.Propose(t.Context(), f.openAI, r)
		require.ErrorContains(t, err, "no active strategy")
		fails(t, err, service.Conflict, service.CodeClosed)
	})
}

// TestTheMostSpecificActiveStrategyAnswers uses an unscheduled strategy, another for the nights and a third
// for a single day.
func TestTheMostSpecificActiveStrategyAnswers(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		add := func(schedule string) service.Strategy {
			v, err := f.CreateStrategy(t.Context(), f.siteA, []byte(`{"min_price_per_fetch_micro": 1000,
				"preferred_price_per_fetch_micro": 2000, "max_price_per_fetch_micro": 5000, `+schedule+`}`), "")
			require.NoError(t, err)
			return v
		}
		scheduled := func(at string) (selected int64, statuses []engine.SelectionStatus) {
			day, err := time.Parse(time.RFC3339, at)
			require.NoError(t, err)
			found, err := f.Schedule(t.Context(), f.siteA, 0, day)
			require.NoError(t, err)
			require.Equal(t, day.UTC(), found.At)
			for _, v := range found.Strategies {
				statuses = append(statuses, v.SelectionStatus)
			}
			return found.StrategyID, statuses
		}
		always, err := f.Schedule(t.Context(), f.siteA, 0, time.Time{})
		require.NoError(t, err)
		require.Equal(t, f.store.Now(), always.At)
		night := add(`"strategy_name": "night", "negotiation_style": "flexible", "time_zone": "Europe/Berlin",
			"hours": [{"from": "22:00", "until": "06:00"}]`)
		sale := add(`"negotiation_style": "cooperative", "valid_from": "2026-11-27T00:00:00Z",
			"valid_until": "2026-11-28T00:00:00Z"`)
		require.EqualValues(t, 2, sale.Version, "two versions of one name are active")

		for at, c := range map[string]struct {
			selected int64
			statuses []engine.SelectionStatus
		}{
			"2026-11-26T20:59:59Z": {
				always.StrategyID, []engine.SelectionStatus{engine.Selected, engine.OutsideHours, engine.NotYetValid},
			},
			"2026-11-26T21:00:00Z": {
				night.ID, []engine.SelectionStatus{engine.WiderHours, engine.Selected, engine.NotYetValid},
			},
			"2026-11-27T01:00:00+01:00": {
				sale.ID, []engine.SelectionStatus{engine.WiderValidity, engine.WiderValidity, engine.Selected},
			},
			"2026-11-28T00:00:00Z": {
				night.ID, []engine.SelectionStatus{engine.WiderHours, engine.Selected, engine.NoLongerValid},
			},
		} {
			selected, statuses := scheduled(at)
			require.Equal(t, c.selected, selected, at)
			require.Equal(t, c.statuses, statuses, at)
		}

		// Negotiations begin with the selected version, and keep it.
		facts := func() engine.Style {
			public, err := f.PublicStrategy(t.Context(), "site-a.local")
			require.NoError(t, err)
			return public.Style
		}
		require.Equal(t, engine.Balanced, facts())
		f.offset.Add(int64(11*time.Hour - 30*time.Minute))
		require.Equal(t, engine.Balanced, facts())
		began := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation
		f.offset.Add(int64(45 * time.Minute))
		require.Equal(t, engine.Flexible, facts())
		_, err = f.Counter(t.Context(), f.openAI, service.CounterRequest{Negotiation: began.ID, Terms: at(1600)})
		require.NoError(t, err)
		kept, err := f.Status(t.Context(), f.siteA, began.ID)
		require.NoError(t, err)
		require.Equal(t, always.StrategyID, kept.StrategyID)
		other := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation
		found, err := f.Status(t.Context(), f.siteA, other.ID)
		require.NoError(t, err)
		require.Equal(t, night.ID, found.StrategyID)

		_, err = f.Schedule(t.Context(), f.siteB, f.siteA.ID, time.Time{})
		fails(t, err, service.NotFound, "not_found")
		_, err = f.Schedule(t.Context(), f.openAI, f.siteA.ID, time.Time{})
		fails(t, err, service.Forbidden, "scope-missing")
		_, err = f.Schedule(t.Context(), f.administrator, 99, time.Time{})
		fails(t, err, service.NotFound, "not_found")
	})
}
