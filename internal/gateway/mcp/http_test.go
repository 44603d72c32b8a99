package mcp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/mcp"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// post sends a request and returns the status.
func post(t *testing.T, address, body string, change func(*http.Request)) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	change(request)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response
}

func credentials(text string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", text) }
}

// Wrong credentials never count as an anonymous caller, and a foreign page cannot reach the gateway on the
// loopback address.
func TestRefusedRequests(t *testing.T) {
	g := newGateway(t)
	for name, one := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"anonymous":    {func(*http.Request) {}, http.StatusOK},
		"wrong key":    {credentials("Bearer hgl_x"), http.StatusUnauthorized},
		"other scheme": {credentials("Basic eDp5"), http.StatusUnauthorized},
		"rebound host": {func(r *http.Request) { r.Host = "attacker.example" }, http.StatusForbidden},
		"cross origin": {func(r *http.Request) {
			r.Header.Set("Origin", "https://attacker.example")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, one.status, post(t, g.http.URL, initialize, one.change).StatusCode)
		})
	}
	large := post(t, g.http.URL, `{"x":"`+strings.Repeat("x", 2<<20)+`"}`, func(*http.Request) {})
	require.Equal(t, http.StatusRequestEntityTooLarge, large.StatusCode)
	authenticator, err := identity.New(identity.Config{
		Registry: g.registry, Authorities: []string{"gateway.example"},
	})
	require.NoError(t, err)
	named := httptest.NewServer(mcp.Handler(g.server, authenticator, mcp.HTTPConfig{}))
	t.Cleanup(named.Close)
	own := post(t, named.URL, initialize, func(r *http.Request) { r.Host = "gateway.example" })
	require.Equal(t, http.StatusOK, own.StatusCode, "a proxy on the same machine")
}

// A session in memory belongs to the first caller.
func TestSessionOfAnotherCaller(t *testing.T) {
	g := newGateway(t)
	held := httptest.NewServer(mcp.Handler(g.server, g.authenticator, mcp.HTTPConfig{Sessions: true}))
	t.Cleanup(held.Close)
	owner, thief := g.client(t, "Owner").Reveal(), g.client(t, "Thief").Reveal()
	as := func(key string) func(*http.Request) { return credentials("Bearer " + key) }
	session := post(t, held.URL, initialize, as(owner)).Header.Get("Mcp-Session-Id")
	require.NotEmpty(t, session)
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for key, status := range map[string]int{owner: http.StatusOK, thief: http.StatusForbidden} {
		response := post(t, held.URL, ping, func(r *http.Request) {
			as(key)(r)
			r.Header.Set("Mcp-Session-Id", session)
		})
		require.Equal(t, status, response.StatusCode)
	}
}

// Every tool and resource refuses a suspended client and a revoked key, and says which of both it is.
func TestToolsRefuseSuspendedAndRevoked(t *testing.T) {
	g := newGateway(t)
	text := g.client(t, "Suspended")
	registered, err := g.Clients(t.Context(), g.administrator, store.Page{})
	require.NoError(t, err)
	id := registered.Items[0].ID
	revoked, key, err := g.CreateKey(t.Context(), g.administrator, service.KeyRequest{ClientID: id, Name: "revoked"})
	require.NoError(t, err)
	connected := map[string]agent{}
	for code, key := range map[string]identity.APIKey{"client-suspended": text, "api-key-revoked": revoked} {
		connected[code] = g.stdio(t, key.Reveal())
	}
	_, err = g.RevokeKey(t.Context(), g.administrator, key.ID)
	require.NoError(t, err)
	_, err = g.UpdateClient(t.Context(), g.administrator, id, service.ClientChange{Suspended: new(true)})
	require.NoError(t, err)
	for code, over := range connected {
		listed, err := over.ListTools(t.Context(), nil)
		require.NoError(t, err)
		require.NotEmpty(t, listed.Tools)
		for _, tool := range listed.Tools {
			arguments := map[string]any{}
			required, _ := tool.InputSchema.(map[string]any)["required"].([]any)
			for _, name := range required {
				arguments[name.(string)] = example[name.(string)]
			}
			over.fails(code, tool.Name, arguments)
		}
		_, err = over.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "haggle://licenses/1"})
		require.Error(t, err)
		require.Contains(t, err.Error(), map[string]string{
			"client-suspended": "suspended since", "api-key-revoked": "revoked",
		}[code])
	}
	for key, status := range map[identity.APIKey]int{text: http.StatusForbidden, revoked: http.StatusUnauthorized} {
		response := post(t, g.http.URL, initialize, credentials("Bearer "+key.Reveal()))
		require.Equal(t, status, response.StatusCode)
	}
}

// example holds values for the required arguments of all tools.
var example = map[string]any{
	"negotiation_id": "01890000-0000-7000-8000-000000000000", "publisher_hostname": "site-a.local",
	"reason": "price", "current_round": 1, "proposed_terms": map[string]any{
		"price_per_fetch_micro": 1500, "token_ttl_seconds": 600, "burst_rps": 10, "purposes": []any{"inference"},
	},
}

// Every tool defines schemas, and no argument is free text for another party.
func TestTools(t *testing.T) {
	g := newGateway(t)
	listed, err := g.agent(t, "").ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		require.NotNil(t, tool.OutputSchema, tool.Name)
		input := tool.InputSchema.(map[string]any)
		require.Equal(t, false, input["additionalProperties"], tool.Name)
		for name, schema := range input["properties"].(map[string]any) {
			if name == "reason" {
				require.NotEmpty(t, schema.(map[string]any)["enum"], "a reason is one of a list")
				continue
			}
			require.Contains(t, []string{"publisher_hostname", "proposed_terms", "proposals", "required",
				"negotiation_id", "current_round", "offers", "limit", "cursor", "wait_seconds", "idempotency_key"}, name)
		}
	}
	require.ElementsMatch(t, []string{"propose_license_terms", "counter_offer", "accept_terms",
		"leave_negotiation", "get_negotiation_status", "list_publishers", "get_publisher_strategy"}, names)
	_, err = mcp.New(mcp.Config{})
	require.ErrorContains(t, err, "set Config.Service and Config.Caller")
	_, err = g.agent(t, "").CallTool(t.Context(), &sdk.CallToolParams{Name: "haggle_offer"})
	require.ErrorContains(t, err, "unknown tool", "the gateway holds no wallet")
}
