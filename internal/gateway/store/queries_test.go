package store

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A newer gateway can migrate the database while an older gateway runs.
func TestAColumnOfALaterVersionChangesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		n := f.accepted(t)
		use := func() {
			open := f.negotiate(t)
			_, err := f.Round(t.Context(), RoundRequest{Negotiations: []string{open.ID}}, reject)
			require.NoError(t, err)
			_, err = f.Negotiations(t.Context(), Filter{}, Page{})
			require.NoError(t, err)
			_, err = f.Publishers(t.Context(), Page{})
			require.NoError(t, err)
			_, err = f.Strategies(t.Context(), f.publisher.ID, Page{})
			require.NoError(t, err)
			_, err = f.Clients(t.Context(), Page{})
			require.NoError(t, err)
			_, err = f.Licenses(t.Context(), 0, 0, Page{})
			require.NoError(t, err)
			_, err = f.Keys(t.Context(), f.publisher.ID, 0, Page{})
			require.NoError(t, err)
			_, err = f.Rounds(t.Context(), n.ID)
			require.NoError(t, err)
			f.pass(time.Hour)
		}
		use()
		for _, table := range []string{
			"publishers", "clients", "api_keys", "negotiation_strategies", "negotiations", "negotiation_rounds",
			"negotiation_messages", "policies", "idempotency_keys", "audit_entries",
		} {
			_, err := f.db.Exec(`ALTER TABLE ` + table + ` ADD COLUMN later TEXT`)
			require.NoError(t, err)
		}
		use()
	})
}

// A definition sets only the columns that copy parts of it.
func TestADefinitionFillsOnlyItsColumns(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		hostile := `{"publisher_id": 99, "strategy_name": "other", "Version": "7", "definition": {}, "is_active": 1,
			"created_at": "x", "updated_at": [], "llm_provider": "", "llm_model": null}`
		v, err := f.AddStrategy(t.Context(), Strategy{
			Publisher: f.publisher.ID, Name: "hostile", Definition: json.RawMessage(hostile),
		}, nil)
		require.NoError(t, err)
		require.Equal(t, Strategy{
			ID: v.ID, Publisher: f.publisher.ID, Name: "hostile", Version: 1, Definition: json.RawMessage(hostile),
			CreatedAt: start, UpdatedAt: start,
		}, v)
		require.EqualValues(t, 1, count(t, f.db, `SELECT COUNT(*) FROM negotiation_strategies
			WHERE id = $1 AND llm_provider = '' AND llm_model IS NULL`, v.ID))
	})
}
