package identity_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// registry is a Registry in maps.
type registry struct {
	keys    map[string]identity.KeyRecord
	clients map[string]identity.Registration // by public key, or by agent, space, thumbprint
	nonces  map[string]bool                  // by key ID, space, nonce
	full    bool                             // no space for nonces
	err     error
}

func (g *registry) KeyByHash(_ context.Context, hash string) (identity.KeyRecord, error) {
	record, ok := g.keys[hash]
	return record, g.result(ok)
}

func (g *registry) ClientByPublicKey(
	_ context.Context, key ed25519.PublicKey,
) (identity.Registration, error) {
	client, ok := g.clients[string(key)]
	return client, g.result(ok)
}

func (g *registry) ClientByAgent(_ context.Context, agent, thumbprint string) (identity.Registration, error) {
	client, ok := g.clients[agent+" "+thumbprint]
	return client, g.result(ok)
}

func (g *registry) UseNonce(_ context.Context, keyID, nonce string, _ time.Time) error {
	used := keyID + " " + nonce
	switch {
	case g.nonces[used]:
		return identity.ErrReplayed
	case g.full:
		return identity.ErrTooManyNonces
	}
	g.nonces[used] = true
	return g.err
}

func (g *registry) result(found bool) error {
	if g.err == nil && !found {
		return identity.ErrUnknown
	}
	return g.err
}

const agent = "https://crawler.example"

// gateway is a server behind the middleware, with registered identities.
type gateway struct {
	*httptest.Server
	registry *registry
	now      time.Time
	private  ed25519.PrivateKey
	key      identity.APIKey
	// caller and body belong to the last request that passed the middleware.
	caller *identity.Caller
	body   string
}

func newGateway(t *testing.T, change func(c *identity.Config)) *gateway {
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	g := &gateway{private: private, key: identity.NewAPIKey(), now: time.Now()}
	g.registry = &registry{
		keys: map[string]identity.KeyRecord{g.key.Hash(): {
			ID: "k1", Hash: g.key.Hash(), Kind: identity.Publisher, Owner: 3, OwnerName: "Daily News",
			Scopes: []identity.Scope{identity.StrategiesRead, identity.Negotiate, "moon:write"},
		}},
		nonces: map[string]bool{},
		clients: map[string]identity.Registration{
			string(public):                           {ID: 7, Name: "Reader AI", PublicKey: public},
			agent + " " + httpsig.Thumbprint(public): {ID: 8, Name: "Crawler AI", PublicKey: public},
		},
	}
	g.Server = httptest.NewUnstartedServer(nil)
	config := identity.Config{
		Registry: g.registry, Authorities: []string{g.Listener.Addr().String(), "gateway.example"},
		Now: func() time.Time { return g.now },
	}
	if change != nil {
		change(&config)
	}
	authenticator, err := identity.New(config)
	require.NoError(t, err)
	g.Config.Handler = authenticator.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		caller, ok := identity.FromContext(r.Context())
		assert.True(t, ok)
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		g.caller, g.body = &caller, string(body)
	}))
	g.Start()
	t.Cleanup(g.Close)
	return g
}

func (g *gateway) request(t *testing.T, method, body string) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), method, g.URL+"/v1/negotiations?a=b",
		strings.NewReader(body))
	require.NoError(t, err)
	return r
}

// send returns a response's status and problem. The problem is empty if the request passed.
func (g *gateway) send(t *testing.T, r *http.Request, transport http.RoundTripper) (int, identity.Problem) {
	g.caller = nil
	if transport == nil {
		transport = http.DefaultTransport
	}
	response, err := transport.RoundTrip(r)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var problem identity.Problem
	if response.StatusCode != http.StatusOK {
		assert.Nil(t, g.caller, "the handler must not run")
		assert.Equal(t, "application/problem+json", response.Header.Get("Content-Type"))
		require.NoError(t, json.NewDecoder(response.Body).Decode(&problem))
		assert.Equal(t, response.StatusCode, problem.Status)
		assert.Equal(t, response.StatusCode == 401, response.Header.Get("WWW-Authenticate") != "")
	}
	return response.StatusCode, problem
}

// rejected requires a status and a problem code.
func (g *gateway) rejected(
	t *testing.T, r *http.Request, transport http.RoundTripper, status int, code string,
) identity.Problem {
	t.Helper()
	got, problem := g.send(t, r, transport)
	assert.Equal(t, status, got)
	assert.Equal(t, "urn:haggle:problem:"+code, problem.Type, problem.Detail)
	return problem
}

func (g *gateway) accepted(t *testing.T, r *http.Request, transport http.RoundTripper) identity.Caller {
	t.Helper()
	status, problem := g.send(t, r, transport)
	require.Equal(t, http.StatusOK, status, problem.Detail)
	return *g.caller
}

func TestARequestWithoutCredentialsIsAnonymous(t *testing.T) {
	g := newGateway(t, nil)
	caller := g.accepted(t, g.request(t, "POST", "x"), nil)
	assert.Equal(t, identity.Caller{
		Kind: identity.Anonymous, Scopes: []identity.Scope{identity.Negotiate},
		Address: netip.MustParsePrefix("127.0.0.0/24"),
	}, caller)
	assert.Equal(t, "anonymous:127.0.0.0/24", caller.LimitKey())
}

func TestAnAPIKeyGivesItsOwnersNameAndScopes(t *testing.T) {
	g := newGateway(t, nil)
	transport := &httpsig.BearerTransport{Origin: g.URL, APIKey: g.key.Reveal()}
	caller := g.accepted(t, g.request(t, "GET", ""), transport)
	// Negotiate is not a scope of publishers, and moon:write is none at all.
	assert.Equal(t, identity.Caller{
		Kind: identity.Publisher, ID: 3, Name: "Daily News",
		Scopes: []identity.Scope{identity.StrategiesRead}, Method: identity.ByAPIKey, KeyID: "k1",
		Address: netip.MustParsePrefix("127.0.0.0/24"),
	}, caller)
	assert.Equal(t, "publisher:3", caller.LimitKey())
	assert.NoError(t, caller.Require(identity.StrategiesRead))
	assert.EqualError(t, caller.RequireAll([]identity.Scope{identity.StrategiesRead, identity.StrategiesWrite}),
		"the credentials lack the scope strategies:write; use an API key that has it")
}

func TestWrongAPIKeysAreRejected(t *testing.T) {
	g := newGateway(t, nil)
	key, other := g.key.Reveal(), identity.NewAPIKey().Reveal()
	mistyped := []byte(key)
	mistyped[10] ^= 'a' ^ 'b' // Another character of the alphabet, or none of it.
	for name, c := range map[string]struct{ authorization, code string }{
		"unknown":        {"Bearer " + other, "api-key-unknown"},
		"mistyped":       {"Bearer " + string(mistyped), "api-key-malformed"},
		"truncated":      {"Bearer " + key[:len(key)-1], "api-key-malformed"},
		"in capitals":    {"Bearer " + strings.ToUpper(key), "api-key-malformed"},
		"other token":    {"Bearer eyJhbGciOiJIUzI1NiJ9.e30.x", "api-key-malformed"},
		"empty":          {"Bearer ", "api-key-malformed"},
		"no field value": {"", "authorization-scheme"},
		"basic":          {"Basic dXNlcjpwYXNz", "authorization-scheme"},
		"without Bearer": {key, "authorization-scheme"},
	} {
		t.Run(name, func(t *testing.T) {
			r := g.request(t, "GET", "")
			r.Header["Authorization"] = []string{c.authorization}
			problem := g.rejected(t, r, nil, 401, c.code)
			assert.NotContains(t, problem.Detail, key[4:20])
			assert.NotContains(t, problem.Detail, "eyJ")
		})
	}
}

func TestAnAPIKeyEndsAtItsExpiryAndItsRevocation(t *testing.T) {
	g := newGateway(t, nil)
	transport := &httpsig.BearerTransport{Origin: g.URL, APIKey: g.key.Reveal()}
	record := g.registry.keys[g.key.Hash()]
	record.Expires = g.now.Add(time.Second)
	g.registry.keys[g.key.Hash()] = record
	g.accepted(t, g.request(t, "GET", ""), transport)
	g.now = record.Expires
	g.rejected(t, g.request(t, "GET", ""), transport, 401, "api-key-expired")
	record.Expires, record.Revoked = time.Time{}, g.now.Add(-time.Hour)
	g.registry.keys[g.key.Hash()] = record
	g.rejected(t, g.request(t, "GET", ""), transport, 401, "api-key-revoked")
}

func TestSeveralCredentialsAreRejected(t *testing.T) {
	g := newGateway(t, nil)
	r := g.request(t, "GET", "")
	r.Header.Set("Authorization", "Bearer "+g.key.Reveal())
	g.rejected(t, r, &httpsig.Transport{Key: g.private}, 401, "credentials-ambiguous")
	r.Header["Authorization"] = []string{"Bearer " + g.key.Reveal(), "Bearer " + g.key.Reveal()}
	g.rejected(t, r, nil, 401, "credentials-ambiguous")
}

func TestAFailedLookupIsNeitherAnonymousNorUnauthorised(t *testing.T) {
	var log strings.Builder
	g := newGateway(t, func(c *identity.Config) { c.Log = textLog(&log) })
	g.registry.err = context.DeadlineExceeded
	for _, transport := range []http.RoundTripper{
		&httpsig.BearerTransport{Origin: g.URL, APIKey: g.key.Reveal()},
		&httpsig.Transport{Key: g.private}, &httpsig.Transport{Key: g.private, Agent: agent},
	} {
		problem := g.rejected(t, g.request(t, "POST", "x"), transport, 503, "identity-unavailable")
		assert.NotContains(t, problem.Detail, "deadline")
	}
	assert.Equal(t, 3, strings.Count(log.String(), "context deadline exceeded"))
	assert.NotContains(t, log.String(), g.key.Reveal())
}

func TestACallerOverStdioHasAKeyInTheEnvironment(t *testing.T) {
	g := newGateway(t, nil)
	authenticator, err := identity.New(identity.Config{Registry: g.registry})
	require.NoError(t, err)
	from := func(value string, ok bool) (identity.Caller, error) {
		return authenticator.FromEnvironment(t.Context(), func(name string) (string, bool) {
			assert.Equal(t, "HAGGLE_API_KEY", name)
			return value, ok
		})
	}
	caller, err := from("", false)
	require.NoError(t, err)
	assert.Equal(t, identity.Anonymous, caller.Kind)
	assert.Equal(t, "anonymous:local", caller.LimitKey())
	caller, err = from(g.key.Reveal(), true)
	require.NoError(t, err)
	assert.Equal(t, "Daily News", caller.Name)
	_, err = from("", true)
	assert.EqualError(t, err, "HAGGLE_API_KEY: empty; set a key, or unset it")
	_, err = from(identity.NewAPIKey().Reveal(), true)
	assert.EqualError(t, err, "API key: unknown to this gateway; use a key that it issued")
}

func TestNewRejectsWrongConfigurations(t *testing.T) {
	for want, config := range map[string]identity.Config{
		"registry not set":               {},
		`authority "https://a"`:          {Registry: &registry{}, Authorities: []string{"https://a"}},
		`authority "A"`:                  {Registry: &registry{}, Authorities: []string{"A"}},
		"trusted proxy: not a network":   {Registry: &registry{}, TrustedProxies: []netip.Prefix{{}}},
		"maximum body is -1 bytes; use ": {Registry: &registry{}, MaxBody: -1},
	} {
		_, err := identity.New(config)
		assert.ErrorContains(t, err, want)
	}
}
