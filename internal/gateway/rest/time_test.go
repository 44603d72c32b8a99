package rest_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// A time at an end of the calendar can have a year in UTC that JSON does not have, and a query a time zone
// that JSON does not have. Such a request gets an answer, and it does not stop later answers: the list of keys
// would have the time.
func TestTimesThatJSONDoesNotHave(t *testing.T) {
	for name, address := range map[string]func(*testing.T) string{
		"sqlite": sqlite, "postgres": func(t *testing.T) string { return server.Create(t) },
	} {
		t.Run(name, func(t *testing.T) {
			g := open(t, address(t))
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
			query := "analytics/negotiations?until=" + url.QueryEscape("2026-06-30T00:00:00+24:00")
			got := must(t, 200, call(t, "GET", api+query, k.publisher, ""))
			require.Equal(t, "2026-06-29T00:00:00Z", got["until"])
		})
	}
}
