package rest_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/rest"
)

// statements are texts that change a query if a statement is built from them.
var statements = []string{
	`'; DROP TABLE negotiations; --`, `" OR ""="`, `1 OR 1=1`, `') UNION SELECT hash, 1 FROM api_keys --`,
	`$1`, `%s`, `\`,
	`x' || (SELECT text FROM audit_entries) || '`,
}

// A string containing a statement is stored as it is or refused, in every field, query and header, and
// changes no table.
func TestStatementsInTextsAreNotExecuted(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		k := g.register(t)
		api := g.negotiation + "/api/"
		proposal := `{"publisher_hostname":"site-a.local","proposed_terms":{"price_per_fetch_micro":1500,
			"token_ttl_seconds":600,"burst_rps":10,"purposes":["inference"]}}`
		created := must(t, 201, call(t, "POST", api+"negotiations", k.client, proposal))
		id, _ := inner(created, "negotiation", "id").(string)
		require.NotEmpty(t, id)
		for _, statement := range statements {
			quoted, err := json.Marshal(statement)
			require.NoError(t, err)
			text, escaped := string(quoted), url.QueryEscape(statement)
			for _, request := range [][4]string{
				{"POST", "publishers", k.administrator, `{"hostname":` + text + `,"name":"A"}`},
				{"POST", "publishers", k.administrator, `{"hostname":"b.example","name":` + text + `,"currency":` + text + `}`},
				{"PATCH", "publishers/1", k.publisher, `{"name":` + text + `}`},
				{"POST", "clients", k.administrator, `{"client_name":` + text + `}`},
				{"POST", "keys", k.administrator, `{"publisher_id":1,"name":` + text + `}`},
				{"POST", "strategies", k.publisher, strings.TrimSuffix(strategy, "}") + `,"strategy_name":` + text +
					`,"system_prompt":` + text + `,"llm_model":` + text + `}`},
				{"POST", "negotiations", k.client, strings.ReplaceAll(proposal, `"site-a.local"`, text)},
				{"POST", "negotiations", k.client, strings.ReplaceAll(proposal, `"inference"`, text)},
				{"GET", "publishers?hostname=" + escaped, "", ""},
				{"GET", "publishers?cursor=" + escaped, "", ""},
				{"GET", "negotiations?status=" + escaped, k.client, ""},
				{"GET", "negotiations?bundle_id=" + escaped, k.client, ""},
				{"GET", "negotiations/" + url.PathEscape(statement), k.client, ""},
				{"GET", "audit/" + url.PathEscape(statement), k.publisher, ""},
				{"GET", "analytics/negotiations?from=" + escaped, k.publisher, ""},
			} {
				got := call(t, request[0], api+request[1], request[2], request[3], "Idempotency-Key", escaped)
				require.Less(t, got.status, 500, "%s %s %s: %s", request[0], request[1], request[3], got.text)
				if stored, is := got.body["client_name"]; is {
					require.Equal(t, statement, stored)
				}
			}
		}
		must(t, 200, call(t, "GET", api+"negotiations/"+id, k.client, ""))
		entries := must(t, 200, call(t, "GET", api+"audit/"+id, k.publisher, ""))
		require.NotEmpty(t, entries)
	})
}

// Oversized requests are refused before they cost anything.
func TestOversizedRequestsAreRefused(t *testing.T) {
	g := open(t, sqlite(t))
	k := g.register(t)
	api := g.negotiation + "/api/"
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for name, body := range map[string]string{
		"a long name":    `{"client_name":"` + strings.Repeat("x", 1<<17) + `"}`,
		"a deep list":    `{"client_name":` + deep + `}`,
		"a huge number":  `{"client_name":1e99999}`,
		"a long body":    `{"client_name":"` + strings.Repeat("x", rest.MaxBody) + `"}`,
		"not a document": strings.Repeat("\x00", 1000),
	} {
		got := call(t, "POST", api+"clients", k.administrator, body)
		require.GreaterOrEqual(t, got.status, 400, name)
		require.Less(t, got.status, 500, name)
	}
	got := call(t, "GET", api+"publishers", "", "", "X-Long", strings.Repeat("x", 2<<20))
	require.Equal(t, 431, got.status)
}

// The log contains no API key and no hidden limit, also at debug level and for refused requests.
func TestTheLogHasNoSecrets(t *testing.T) {
	g := open(t, sqlite(t))
	k := g.register(t)
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { slog.SetDefault(before) })
	config := newConfig(t, g.store)
	config.Log = slog.Default()
	api := newServer(t, rest.Negotiation(config)) + "/api/"
	hidden := `{"min_price_per_fetch_micro":1234567,"preferred_price_per_fetch_micro":2345678,
		"max_price_per_fetch_micro":3456789}`
	must(t, 201, call(t, "POST", api+"strategies", k.publisher, hidden))
	call(t, "POST", api+"strategies", k.publisher, strings.Replace(hidden, "1234567", "9234567", 1))
	call(t, "POST", api+"negotiations", k.client, `{"publisher_hostname":"site-a.local","proposed_terms":{
		"price_per_fetch_micro":1234566,"token_ttl_seconds":600,"burst_rps":10,"purposes":["inference"]}}`)
	added := must(t, 201, call(t, "POST", api+"keys", k.publisher, `{"name":"second"}`))
	rotated := must(t, 200, call(t, "POST", api+"keys/"+added["id"].(string)+"/rotate", k.publisher, ""))
	require.Contains(t, log.String(), "API key rotated")
	call(t, "GET", api+"negotiations", k.client+"x", "")
	call(t, "GET", api+"negotiations?api_key="+k.client, "", "")
	require.NoError(t, g.store.Close())
	must(t, 500, call(t, "GET", api+"publishers", "", ""))
	require.NotEmpty(t, log.String(), "the error of the database is logged")
	for name, secret := range map[string]string{
		"administrator's key": k.administrator, "publisher's key": k.publisher, "client's key": k.client,
		"created key": added["api_key"].(string), "new key": rotated["api_key"].(string),
		"minimum": "1234567", "preferred price": "2345678",
	} {
		require.NotContains(t, log.String(), secret, name)
	}
}
