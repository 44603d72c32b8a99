// Package license_test tests the AI company's client with the real gateway.
package license_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/mcp"
	"github.com/haggle-protocol/haggle/internal/gateway/rest"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
	"github.com/haggle-protocol/haggle/sdk/license"
)

var operator = identity.Caller{
	Kind: identity.Administrator, Name: "test", Scopes: identity.ScopesOf(identity.Administrator),
}

// gateway is a running gateway on a new SQLite database.
type gateway struct {
	cases *service.Service
	store *store.Store
	// negotiation and licensing are the interface URLs. MCP is at /mcp of the first.
	negotiation, licensing string
	// before is called with each request to the negotiation interface. If it returns false, the connection
	// breaks and no response is sent. after is called when the gateway has responded; false breaks the
	// connection.
	before, after hook
}

// hook decides about requests. A test sets it while the gateway may still serve an earlier request.
type hook struct {
	decide atomic.Pointer[func(*http.Request) bool]
}

func (h *hook) set(decide func(*http.Request) bool) { h.decide.Store(&decide) }

func (h *hook) allows(r *http.Request) bool {
	decide := h.decide.Load()
	return decide == nil || (*decide)(r)
}

func start(t testing.TB, limits store.Limits) *gateway {
	t.Helper()
	database, err := store.Open(t.Context(), store.Config{
		Address: "sqlite:" + filepath.Join(t.TempDir(), "gateway.db"), Limits: limits,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	g := &gateway{store: database}
	g.cases, err = service.New(service.Config{Store: database})
	require.NoError(t, err)
	negotiation, licensing := listen(t), listen(t)
	names := []string{negotiation.Listener.Addr().String(), licensing.Listener.Addr().String()}
	authenticator, err := identity.New(identity.Config{
		Registry: service.Registry{Store: database}, Authorities: names,
	})
	require.NoError(t, err)
	tools, err := mcp.New(mcp.Config{Service: g.cases, Caller: mcp.CallerOfRequest})
	require.NoError(t, err)
	config := rest.Config{Service: g.cases, Authenticator: authenticator}
	handler, mux := rest.Negotiation(config), http.NewServeMux()
	mux.Handle("/mcp", mcp.Handler(tools, authenticator, mcp.HTTPConfig{}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !g.before.allows(r) {
			panic(http.ErrAbortHandler)
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		if !g.after.allows(r) {
			panic(http.ErrAbortHandler)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
	negotiation.Config.Handler, licensing.Config.Handler = mux, rest.Licensing(config)
	negotiation.Start()
	licensing.Start()
	g.negotiation, g.licensing = negotiation.URL, licensing.URL
	return g
}

// listen returns a server that does not respond yet: signed requests name the server address, so the gateway
// must know it.
func listen(t testing.TB) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	t.Cleanup(server.Close)
	return server
}

// many holds limits too high for any test to reach.
var many = store.Limits{PerClientHour: 1_000_000, OpenPerClient: 1_000_000, OpenPerPublisher: 1_000_000}

// publisher registers a publisher with a strategy.
func (g *gateway) publisher(t testing.TB, hostname, rules string) {
	t.Helper()
	p, err := g.cases.CreatePublisher(t.Context(), operator, store.Publisher{
		Hostname: hostname, Name: hostname, Currency: "USD", Active: true,
	}, "")
	require.NoError(t, err)
	caller := identity.Caller{Kind: identity.Publisher, ID: p.ID, Scopes: identity.ScopesOf(identity.Publisher)}
	_, err = g.cases.CreateStrategy(t.Context(), caller, []byte(rules), "")
	require.NoError(t, err)
}

// key registers a company and returns an API key.
func (g *gateway) key(t testing.TB, name string) string {
	t.Helper()
	registered, err := g.cases.RegisterClient(t.Context(), operator, service.Client{Name: name})
	require.NoError(t, err)
	key, _, err := g.cases.CreateKey(t.Context(), operator,
		service.KeyRequest{ClientID: registered.ID, Name: "test"})
	require.NoError(t, err)
	return key.Reveal()
}

// client returns a new company's client.
func (g *gateway) client(t testing.TB) *license.Client {
	t.Helper()
	key := g.key(t, fmt.Sprintf("Company of %s", t.Name()))
	return g.with(t, originTransport{
		g.negotiation: &httpsig.BearerTransport{Origin: g.negotiation, APIKey: key},
		g.licensing:   &httpsig.BearerTransport{Origin: g.licensing, APIKey: key},
	})
}

// originTransport selects a transport by the origin of the request: the interfaces have different ports.
type originTransport map[string]http.RoundTripper

func (o originTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return o[r.URL.Scheme+"://"+r.URL.Host].RoundTrip(r)
}

func (g *gateway) with(t testing.TB, transport http.RoundTripper) *license.Client {
	t.Helper()
	client, err := license.NewClient(license.Config{
		BaseURL: g.negotiation, LicensingURL: g.licensing, HTTP: &http.Client{Transport: transport},
	})
	require.NoError(t, err)
	return client
}

// ordinary accepts 1,000 micro units or more, and prefers 2,000.
const ordinary = `{"min_price_per_fetch_micro": 1000, "preferred_price_per_fetch_micro": 2000,
	"max_price_per_fetch_micro": 5000, "published_floor_micro": 500,
	"allowed_purposes": ["inference", "search"]}`

// wanted is a request to a publisher, with room for a deal.
func wanted(id string, publishers ...string) license.Request {
	return license.Request{
		ID: id, Publishers: publishers, Purposes: []license.Purpose{license.Inference}, Fetches: 1_000,
		MaxPriceMicro: 2_500, BudgetMicro: 2_500_000 * uint64(len(publishers)), Strategy: strategy.Linear(),
	}
}

// negotiations returns the number of negotiations of all clients.
func (g *gateway) negotiations(t testing.TB) int {
	t.Helper()
	found, err := g.cases.Negotiations(t.Context(), operator, store.Filter{}, store.Page{Size: 200})
	require.NoError(t, err)
	return len(found.Items)
}

// approve approves an agreement for the publisher.
func (g *gateway) approve(t testing.TB, negotiation string) {
	t.Helper()
	details, err := g.cases.Status(t.Context(), operator, negotiation)
	require.NoError(t, err)
	caller := identity.Caller{
		Kind: identity.Publisher, ID: details.PublisherID, Scopes: identity.ScopesOf(identity.Publisher),
	}
	approval := service.ApprovalRequest{Negotiation: negotiation, Approved: true}
	_, err = g.cases.Approve(t.Context(), caller, approval)
	require.NoError(t, err)
}
