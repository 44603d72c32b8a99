package license_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
	"github.com/haggle-protocol/haggle/sdk/license"
)

// agent is the origin of the client of Web Bot Auth.
const agent = "https://agent.example"

// signing registers a company that signs requests, and returns the transport. If an origin is given, it signs
// by Web Bot Auth.
func (g *gateway) signing(t testing.TB, name, origin string) *httpsig.Transport {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	_, err = g.cases.RegisterClient(t.Context(), operator, service.Client{
		Name: name, PublicKey: base64.RawURLEncoding.EncodeToString(public), Agent: origin,
	})
	require.NoError(t, err)
	return &httpsig.Transport{Key: private, Agent: origin}
}

// A company lacking an API key buys with signed requests, and the license states the registered name.
func TestADealWithSignedRequests(t *testing.T) {
	for scheme, origin := range map[string]string{"Ed25519": "", "Web Bot Auth": agent} {
		t.Run(scheme, func(t *testing.T) {
			g := start(t, many)
			g.publisher(t, "site-a.local", ordinary)
			transport := g.signing(t, scheme+" company", origin)
			client := g.with(t, transport)
			result, err := client.Buy(t.Context(), wanted("rest", "site-a.local"))
			require.NoError(t, err)
			bought := result.Purchases[0]
			require.Equal(t, license.Deal, bought.Outcome, "%+v", bought)
			require.Equal(t, scheme+" company", bought.License.Policy.Rules[0].Agent)
			for listed, err := range client.Licenses(t.Context()) {
				require.NoError(t, err)
				require.Equal(t, *bought.License, listed)
			}

			over, err := g.overMCP(t, transport).Buy(t.Context(), wanted("mcp", "site-a.local"))
			require.NoError(t, err)
			require.Equal(t, license.Deal, over.Purchases[0].Outcome, "%+v", over.Purchases[0])
			require.Equal(t, scheme+" company", over.Purchases[0].License.Policy.Rules[0].Agent)
			require.Equal(t, 2, g.negotiations(t))
		})
	}
}

// If a response is lost, the client repeats the request. The gateway refuses signature reuse, so each attempt
// is signed again, and the idempotency key prevents a second negotiation.
func TestARepeatedSignedRequest(t *testing.T) {
	for scheme, origin := range map[string]string{"Ed25519": "", "Web Bot Auth": agent} {
		t.Run(scheme, func(t *testing.T) {
			g := start(t, many)
			g.publisher(t, "site-a.local", ordinary)
			client := g.with(t, g.signing(t, "Company", origin))
			var used sync.Map
			var requests, replayed atomic.Int32
			g.before.set(func(r *http.Request) bool {
				if _, found := used.LoadOrStore(r.Header.Get("Signature"), true); found && r.Method == http.MethodPost {
					replayed.Add(1)
				}
				return true
			})
			g.after.set(func(*http.Request) bool { return requests.Add(1)%3 != 1 })
			result, err := client.Buy(t.Context(), wanted("lost", "site-a.local"))
			require.NoError(t, err)
			require.Equal(t, license.Deal, result.Purchases[0].Outcome, "%+v", result.Purchases[0])
			require.Greater(t, requests.Load(), int32(6))
			require.Zero(t, replayed.Load(), "signatures sent twice")
			require.Equal(t, 1, g.negotiations(t))
		})
	}
}

// An unregistered key, or a key registered for another agent, buys nothing.
func TestAnUnknownSignatureBuysNothing(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	registered := g.signing(t, "Company", agent)
	_, unknown, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	for name, transport := range map[string]*httpsig.Transport{
		"unknown key": {Key: unknown}, "unknown key of an agent": {Key: unknown, Agent: agent},
		"other agent": {Key: registered.Key, Agent: "https://other.example"}, "no agent": {Key: registered.Key},
	} {
		_, err := g.with(t, transport).Buy(t.Context(), wanted("none", "site-a.local"))
		var problem *license.Problem
		require.ErrorAs(t, err, &problem, name)
		require.Equal(t, http.StatusUnauthorized, problem.Status, name)
	}
	require.Zero(t, g.negotiations(t))
}
