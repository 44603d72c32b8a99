package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/mcp"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// gateway is a gateway on an empty SQLite database, served over HTTP.
type gateway struct {
	*service.Service
	registry      service.Registry
	authenticator *identity.Authenticator
	server        *sdk.Server
	http          *httptest.Server
	administrator identity.Caller
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	database, err := store.Open(t.Context(), store.Config{
		Address: "sqlite:" + filepath.Join(t.TempDir(), "gateway.db"),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	g := &gateway{registry: service.Registry{Store: database}, administrator: identity.Caller{
		Kind: identity.Administrator, Scopes: identity.ScopesOf(identity.Administrator), KeyID: "k",
	}}
	g.Service, err = service.New(service.Config{Store: database})
	require.NoError(t, err)
	g.authenticator, err = identity.New(identity.Config{Registry: g.registry})
	require.NoError(t, err)
	g.server, err = mcp.New(mcp.Config{Service: g.Service, Caller: mcp.CallerOfRequest})
	require.NoError(t, err)
	g.http = httptest.NewServer(mcp.Handler(g.server, g.authenticator, mcp.HTTPConfig{}))
	t.Cleanup(g.http.Close)
	return g
}

// The limits of the strategy in the tests, which no client may learn.
const (
	hiddenMinimum   = "1003"
	hiddenPreferred = "2007"
	hiddenMaximum   = "5011"
)

func (g *gateway) publisher(t *testing.T, hostname, name string) identity.Caller {
	t.Helper()
	p, err := g.CreatePublisher(t.Context(), g.administrator, store.Publisher{
		Hostname: hostname, Name: name, Currency: "USD", Active: true,
	}, "")
	require.NoError(t, err)
	caller := identity.Caller{Kind: identity.Publisher, ID: p.ID, Scopes: identity.ScopesOf(identity.Publisher)}
	_, err = g.CreateStrategy(t.Context(), caller, []byte(`{"min_price_per_fetch_micro": `+hiddenMinimum+`,
		"preferred_price_per_fetch_micro": `+hiddenPreferred+`, "max_price_per_fetch_micro": `+hiddenMaximum+`,
		"published_floor_micro": 500, "approval_above_micro": 100000000}`), "")
	require.NoError(t, err)
	return caller
}

// client registers a client and returns an API key.
func (g *gateway) client(t *testing.T, name string) identity.APIKey {
	t.Helper()
	c, err := g.RegisterClient(t.Context(), g.administrator, service.Client{Name: name})
	require.NoError(t, err)
	key, _, err := g.CreateKey(t.Context(), g.administrator, service.KeyRequest{ClientID: c.ID, Name: "test"})
	require.NoError(t, err)
	return key
}

// withKey sends an API key with each request. An empty key sends none.
type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	if k != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(k))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// agent is connected to a server.
type agent struct {
	t *testing.T
	*sdk.ClientSession
}

func connect(t *testing.T, transport sdk.Transport) agent {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return agent{t, session}
}

// agent connects over HTTP with an API key; an empty one is anonymous.
func (g *gateway) agent(t *testing.T, key string) agent {
	t.Helper()
	return connect(t, &sdk.StreamableClientTransport{
		Endpoint: g.http.URL, HTTPClient: &http.Client{Transport: withKey(key)},
	})
}

// stdio connects to a server over stdio, with an API key in the environment.
func (g *gateway) stdio(t *testing.T, key string) agent {
	t.Helper()
	lookup := func(string) (string, bool) { return key, key != "" }
	server, err := mcp.New(mcp.Config{
		Service: g.Service, Caller: mcp.CallerOfEnvironment(g.authenticator, lookup),
	})
	require.NoError(t, err)
	ours, theirs := sdk.NewInMemoryTransports()
	session, err := server.Connect(t.Context(), theirs, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return connect(t, ours)
}

// call calls a tool and returns the structured result, which must name the next step.
func (a agent) call(tool string, arguments map[string]any, into any) *sdk.CallToolResult {
	a.t.Helper()
	result, err := a.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(a.t, err)
	require.NotNil(a.t, result.StructuredContent, "%v", text(result))
	content, err := json.Marshal(result.StructuredContent)
	require.NoError(a.t, err)
	require.NoError(a.t, json.NewDecoder(bytes.NewReader(content)).Decode(into), string(content))
	require.Contains(a.t, string(content), `"next":"`)
	return result
}

// fails calls a tool that must fail with this code.
func (a agent) fails(code, tool string, arguments map[string]any) mcp.Problem {
	a.t.Helper()
	var out struct {
		Error *mcp.Problem `json:"error"`
	}
	result := a.call(tool, arguments, &out)
	require.True(a.t, result.IsError)
	require.NotNil(a.t, out.Error)
	require.Equal(a.t, code, out.Error.Code, out.Error.Detail)
	require.True(a.t, strings.HasPrefix(text(result), code+": "), text(result))
	return *out.Error
}

func text(result *sdk.CallToolResult) string {
	if len(result.Content) == 0 {
		return ""
	}
	content, is := result.Content[0].(*sdk.TextContent)
	if !is {
		return ""
	}
	return content.Text
}
