package rest_test

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// A time's year in UTC, or its time zone, can be one that Go reads but cannot write. Such a request gets a
// response, and it does not break later responses: the list of keys would contain the time.
func TestTimesOutsideOfTheCalendar(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		k := g.register(t)
		api := g.negotiation + "/api/"
		for _, at := range []string{
			"9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00", "0000-01-01T00:00:00Z",
		} {
			body := `{"name":"n","expires_at":"` + at + `"}`
			got := must(t, 422, call(t, "POST", api+"keys", k.publisher, body))
			require.Contains(t, got["detail"], "expires_at: year ")
			for _, query := range []string{
				"analytics/negotiations?from=", "analytics/negotiations?until=", "publishers/1/schedule?at=",
			} {
				got := must(t, 422, call(t, "GET", api+query+url.QueryEscape(at), k.publisher, ""))
				require.Contains(t, got["detail"], ": year ", query)
			}
		}
		last := `{"name":"n","expires_at":"9999-12-31T23:59:59Z"}`
		must(t, 201, call(t, "POST", api+"keys", k.publisher, last))
		listed := must(t, 200, call(t, "GET", api+"keys", k.publisher, ""))
		require.Len(t, listed["items"], 2)
		last = `{"name":"n","expires_at":"2999-12-31T00:00:00+24:00"}`
		key := must(t, 201, call(t, "POST", api+"keys", k.publisher, last, "Idempotency-Key", "24"))
		require.Equal(t, "2999-12-30T00:00:00Z", key["expires_at"])
		query := "analytics/negotiations?until=" + url.QueryEscape("2026-06-30T00:00:00+24:00")
		got := must(t, 200, call(t, "GET", api+query, k.publisher, ""))
		require.Equal(t, "2026-06-29T00:00:00Z", got["until"])

		body := `{"valid_from":"2026-01-02T00:00:00+24:00"}`
		changed := must(t, 200, call(t, "PATCH", api+"strategies/1", k.publisher, body))
		require.Equal(t, "2026-01-01T00:00:00Z", changed["valid_from"])
		id, err := json.Marshal(changed["id"])
		require.NoError(t, err)
		body = `{"valid_from":"2026-01-01T01:00:00+01:00"}`
		same := must(t, 200, call(t, "PATCH", api+"strategies/"+string(id), k.publisher, body))
		require.Equal(t, changed["id"], same["id"], "the same time is no change")
		body = `{"valid_until":"9999-12-31T23:59:59-01:00"}`
		must(t, 422, call(t, "PATCH", api+"strategies/1", k.publisher, body))
	})
}
