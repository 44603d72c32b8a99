package rest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/store/storetest"
)

// write records a move in an open negotiation, as a job does. A client's move leaves the answer pending.
func (g *gateway) write(t *testing.T, id string, actor engine.Party, price int) {
	t.Helper()
	var document struct {
		Terms json.RawMessage `json:"proposed_terms"`
	}
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, proposal, price), &document))
	require.NoError(t, storetest.Move(t.Context(), g.store, id, store.Round{Actor: actor, Terms: document.Terms}))
}

func TestRetryAfterOfPendingAnswer(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		k := g.register(t)
		api := g.negotiation + "/api/negotiations"
		opened := call(t, "POST", api, k.client, fmt.Sprintf(proposal, 1500))
		id := fmt.Sprint(inner(must(t, 201, opened), "negotiation", "id"))
		require.Empty(t, opened.header.Get("Retry-After"))
		g.write(t, id, engine.PartyClient, 1600)
		waiting := call(t, "GET", api+"/"+id, k.client, "")
		require.Equal(t, true, must(t, 200, waiting)["answer_pending"])
		require.Equal(t, "1", waiting.header.Get("Retry-After"))
		_, terms, _ := strings.Cut(fmt.Sprintf(proposal, 1700), ",")
		early := call(t, "POST", api+"/"+id+"/counter", k.client, "{"+terms)
		require.Equal(t, "urn:haggle:problem:answer-pending", must(t, 409, early)["type"])
		require.Equal(t, "1", early.header.Get("Retry-After"))
		g.write(t, id, engine.PartyPublisher, 1900)
		answered := call(t, "GET", api+"/"+id, k.client, "")
		require.NotContains(t, must(t, 200, answered), "answer_pending")
		require.Empty(t, answered.header.Get("Retry-After"))
	})
}

// A repeated request returns the stored answer. The test stores pending answers, as a publisher with a language
// model gives them.
func TestRetryAfterOfPendingProposal(t *testing.T) {
	storetest.OnBoth(t, server, func(t *testing.T, d storetest.Database) {
		g := open(t, d.Address)
		k := g.register(t)
		document := fmt.Sprintf(proposal, 1500)
		send := func(g *gateway) (responses []response) {
			key := func(path, name, body string) response {
				return call(t, "POST", g.negotiation+"/api/"+path, k.client, body, "Idempotency-Key", name)
			}
			opened := key("negotiations", "opened", document)
			id := inner(must(t, 201, opened), "negotiation", "id")
			_, terms, _ := strings.Cut(document, ",")
			return []response{
				opened, key("bundles", "bundle", `{"proposals":[`+document+`]}`),
				key(fmt.Sprintf("negotiations/%s/counter", id), "counter", "{"+terms),
			}
		}
		for _, r := range send(g) {
			require.Less(t, r.status, 300, r.text)
			require.Empty(t, r.header.Get("Retry-After"))
		}
		changed, err := d.Open(t).ExecContext(t.Context(), `UPDATE idempotency_keys SET answer = replace(replace(answer,
			'"action":"counter"', '"action":"pending"'),
			'"current_offer_by":"publisher"', '"current_offer_by":"client","answer_pending":true')
			WHERE idempotency_key IN ('opened', 'bundle', 'counter')`)
		require.NoError(t, err)
		rows, err := changed.RowsAffected()
		require.NoError(t, err)
		require.EqualValues(t, 3, rows)
		for _, r := range send(open(t, d.Address)) {
			require.Less(t, r.status, 300, r.text)
			require.Equal(t, "pending", r.body["action"])
			require.Equal(t, "1", r.header.Get("Retry-After"))
		}
	})
}

// TestRetryAfterIsDescribed checks which statuses can carry the header, and the described meaning.
func TestRetryAfterIsDescribed(t *testing.T) {
	g := open(t, sqlite(t))
	for _, api := range []string{g.negotiation, g.licensing} {
		paths, _ := must(t, 200, call(t, "GET", api+"/openapi.json", "", ""))["paths"].(map[string]any)
		for path, operations := range paths {
			for method, operation := range operations.(map[string]any) {
				described := map[string]string{}
				responses, _ := inner(operation.(map[string]any), "responses").(map[string]any)
				for status, response := range responses {
					if header, _ := inner(response.(map[string]any), "headers", "Retry-After").(map[string]any); header != nil {
						described[status], _ = header["description"].(string)
						require.Equal(t, map[string]any{"type": "integer", "minimum": 1.0}, header["schema"])
					}
				}
				require.Contains(t, described["429"], "until a place can be free", "%s %s", method, path)
				require.Contains(t, described["503"], "if the credentials cannot be checked", "%s %s", method, path)
				if delete(described, "429"); method != "get" {
					require.Contains(t, described["409"], "negotiation-in-progress", "%s %s", method, path)
					require.Contains(t, described["409"], "answer-pending", "%s %s", method, path)
					delete(described, "409")
				}
				switch fmt.Sprint(method, " ", path) {
				case "post /api/negotiations", "post /api/bundles", "post /api/negotiations/{id}/counter",
					"get /api/negotiations/{id}":
					status := map[bool]string{true: "201", false: "200"}[!strings.Contains(path, "{id}")]
					require.Contains(t, described[status], "answer is pending", "%s %s", method, path)
					delete(described, status)
				}
				require.Len(t, described, 1, "%s %s", method, path)
			}
		}
	}
}
