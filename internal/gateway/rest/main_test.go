package rest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/rest"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

var server *testpostgres.Server

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	os.Exit(testpostgres.Run(m, &server))
}

// gateway is a running gateway on a database.
type gateway struct {
	negotiation, licensing string
	store                  *store.Store
}

func open(t *testing.T, address string) *gateway {
	t.Helper()
	database, err := store.Open(t.Context(), store.Config{Address: address, Limits: store.Limits{
		PerClientHour: 1000, OpenPerClient: 1000, OpenPerPublisher: 1000,
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	config := newConfig(t, database)
	return &gateway{newServer(t, rest.Negotiation(config)), newServer(t, rest.Licensing(config)), database}
}

func newConfig(t testing.TB, database *store.Store) rest.Config {
	t.Helper()
	cases, err := service.New(service.Config{Store: database})
	require.NoError(t, err)
	authenticator, err := identity.New(identity.Config{Registry: service.Registry{Store: database}})
	require.NoError(t, err)
	return rest.Config{Service: cases, Authenticator: authenticator}
}

// onBoth runs a test with a gateway on each kind of database.
func onBoth(t *testing.T, test func(t *testing.T, g *gateway)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, open(t, sqlite(t))) })
	t.Run("postgres", func(t *testing.T) { test(t, open(t, server.Create(t))) })
}

func sqlite(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "gateway.db") }

// administrator returns a new administrator key.
func (g *gateway) administrator(t *testing.T) string {
	t.Helper()
	key := identity.NewAPIKey()
	_, err := g.store.ReplaceAdministratorKeys(t.Context(), key.Hash())
	require.NoError(t, err)
	return key.Reveal()
}

// response is a response and the decoded document.
type response struct {
	status int
	header http.Header
	body   map[string]any
	text   string
}

// call sends a request. key is an API key; empty if the caller is anonymous. headers are names and values.
func call(t testing.TB, method, url, key, body string, headers ...string) response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewBufferString(body))
	require.NoError(t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return send(t, r)
}

func send(t testing.TB, r *http.Request) response {
	t.Helper()
	sent, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer sent.Body.Close()
	text, err := io.ReadAll(sent.Body)
	require.NoError(t, err)
	got := response{status: sent.StatusCode, header: sent.Header, text: string(text)}
	if len(text) > 0 && text[0] == '{' {
		require.NoError(t, json.Unmarshal(text, &got.body))
	}
	return got
}

// must asserts a response's status.
func must(t testing.TB, status int, r response) map[string]any {
	t.Helper()
	require.Equal(t, status, r.status, "%s", r.text)
	return r.body
}

// keys holds the parties' API keys.
type keys struct{ administrator, publisher, client, other string }

const strategy = `{"min_price_per_fetch_micro": 1000, "preferred_price_per_fetch_micro": 2000,
	"max_price_per_fetch_micro": 5000, "approval_above_micro": 100000000}`

// register registers a publisher and two clients over HTTP.
func (g *gateway) register(t *testing.T) keys {
	t.Helper()
	k := keys{administrator: g.administrator(t)}
	api := g.negotiation + "/api/"
	must(t, 201, call(t, "POST", api+"publishers", k.administrator, `{"hostname":"site-a.local","name":"A"}`))
	k.publisher, _ = must(t, 201, call(t, "POST", api+"keys", k.administrator,
		`{"publisher_id":1,"name":"main"}`))["api_key"].(string)
	must(t, 201, call(t, "POST", api+"strategies", k.publisher, strategy))
	for id, key := range map[string]*string{"1": &k.client, "2": &k.other} {
		name := map[string]string{"1": "OpenAI", "2": "Anthropic"}[id]
		client := must(t, 201, call(t, "POST", api+"clients", k.administrator, `{"client_name":"`+name+`"}`))
		number, err := json.Marshal(client["id"])
		require.NoError(t, err)
		*key, _ = must(t, 201, call(t, "POST", api+"keys", k.administrator,
			`{"client_id":`+string(number)+`,"name":"main"}`))["api_key"].(string)
	}
	return k
}
