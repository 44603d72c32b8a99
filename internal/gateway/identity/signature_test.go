package identity_test

import (
	"bytes"
	"crypto/ed25519"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// change is a RoundTripper that changes signed requests.
type change func(r *http.Request)

func (c change) RoundTrip(r *http.Request) (*http.Response, error) {
	c(r)
	return http.DefaultTransport.RoundTrip(r)
}

func (g *gateway) transports(base http.RoundTripper) map[string]*httpsig.Transport {
	return map[string]*httpsig.Transport{
		"Ed25519":      {Key: g.private, Base: base},
		"Web Bot Auth": {Key: g.private, Agent: agent, Base: base},
	}
}

func TestASignedRequestHasTheNameOfTheRegistration(t *testing.T) {
	g := newGateway(t, nil)
	public, _ := g.private.Public().(ed25519.PublicKey)
	transports := g.transports(nil)
	caller := g.accepted(t, g.request(t, "POST", `{"client_name":"Somebody Else"}`), transports["Ed25519"])
	assert.Equal(t, identity.Caller{
		Kind: identity.Client, ID: 7, Name: "Reader AI", Scopes: identity.ScopesOf(identity.Client),
		Method: identity.ByEd25519, KeyID: httpsig.EncodePublicKey(public),
		Address: netip.MustParsePrefix("127.0.0.0/24"),
	}, caller)
	assert.Equal(t, `{"client_name":"Somebody Else"}`, g.body, "the handler gets the body")

	caller = g.accepted(t, g.request(t, "POST", "{}"), transports["Web Bot Auth"])
	assert.Equal(t, "Crawler AI", caller.Name)
	assert.Equal(t, identity.ByWebBotAuth, caller.Method)
	assert.Equal(t, "client:8", caller.LimitKey())
}

func setBody(r *http.Request, body string) {
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
}

func TestAChangedRequestIsRejected(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		code   string
	}{
		"method":          {func(r *http.Request) { r.Method = "PUT" }, "signature-invalid"},
		"path":            {func(r *http.Request) { r.URL.Path = "/v1/strategies" }, "signature-invalid"},
		"query":           {func(r *http.Request) { r.URL.RawQuery = "a=c" }, "signature-invalid"},
		"other authority": {func(r *http.Request) { r.Host = "localhost:1" }, "signature-authority"},
		// The signature names another of the gateway's authorities.
		"own authority": {func(r *http.Request) { r.Host = "gateway.example" }, "signature-invalid"},
		"idempotency":   {func(r *http.Request) { r.Header.Set("Idempotency-Key", "2") }, "signature-invalid"},
		"body":          {func(r *http.Request) { setBody(r, "y") }, "signature-digest"},
		"no body":       {func(r *http.Request) { setBody(r, "") }, "signature-digest"},
		"body and digest": {func(r *http.Request) {
			setBody(r, "y")
			r.Header.Set("Content-Digest", httpsig.ContentDigest([]byte("y")))
		}, "signature-invalid"},
		"no input": {func(r *http.Request) { r.Header.Del("Signature-Input") }, "signature-malformed"},
		"no value": {func(r *http.Request) { r.Header.Del("Signature") }, "signature-malformed"},
		"tag": {func(r *http.Request) {
			r.Header.Set("Signature-Input", strings.Replace(r.Header.Get("Signature-Input"), `tag="`, `tag="x`, 1))
		}, "signature-tag"},
		"chunked": {func(r *http.Request) { setBody(r, "y"); r.ContentLength = -1 }, "signature-digest"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t, nil)
			for scheme, transport := range g.transports(c.change) {
				t.Run(scheme, func(t *testing.T) {
					r := g.request(t, "POST", "x")
					r.Header.Set("Idempotency-Key", "1")
					g.rejected(t, r, transport, 401, c.code)
				})
			}
		})
	}
}

// TestAFieldThatIsAddedToASignedRequest shows that fields with an effect must be signed.
func TestAFieldThatIsAddedToASignedRequest(t *testing.T) {
	g := newGateway(t, nil)
	add := change(func(r *http.Request) { r.Header.Set("Idempotency-Key", "1") })
	for _, transport := range g.transports(add) {
		problem := g.rejected(t, g.request(t, "POST", "x"), transport, 401, "signature-coverage")
		assert.Equal(t, `signature: does not cover "idempotency-key"; sign it too`, problem.Detail)
	}
	g.rejected(t, g.request(t, "DELETE", ""), g.transports(change(func(r *http.Request) {
		setBody(r, "x")
	}))["Ed25519"], 401, "signature-coverage")
}

// recorded keeps the last signed request, to send it again.
func recorded(r *http.Request, transport httpsig.Transport, t *testing.T) *http.Request {
	var kept *http.Request
	transport.Base = roundTrip(func(r *http.Request) (*http.Response, error) {
		kept = r
		if r.Body != nil {
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			kept.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
			kept.Body, _ = kept.GetBody()
		}
		return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
	})
	response, err := transport.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return kept
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func again(t *testing.T, r *http.Request) *http.Request {
	repeated := r.Clone(t.Context())
	if r.GetBody != nil {
		repeated.Body, _ = r.GetBody()
	}
	return repeated
}

func TestASignatureIsAcceptedOnce(t *testing.T) {
	g := newGateway(t, nil)
	for name, transport := range g.transports(nil) {
		t.Run(name, func(t *testing.T) {
			signed := recorded(g.request(t, "POST", "x"), *transport, t)
			tampered := again(t, signed)
			setBody(tampered, "y")
			g.rejected(t, tampered, nil, 401, "signature-digest")
			// A rejected request must not use up the nonce of the client.
			g.accepted(t, again(t, signed), nil)
			g.rejected(t, again(t, signed), nil, 401, "signature-replayed")
		})
	}
	g.registry.full = true
	g.rejected(t, g.request(t, "POST", "x"), &httpsig.Transport{Key: g.private}, 429, "too-many-signatures")
}

func TestASignatureExpires(t *testing.T) {
	for _, c := range []struct {
		shift time.Duration
		code  string
	}{{25 * time.Second, ""}, {85 * time.Second, ""}, {95 * time.Second, "signature-expired"},
		{-25 * time.Second, ""}, {-35 * time.Second, "signature-future"}} {
		g := newGateway(t, nil)
		signed := recorded(g.request(t, "POST", "x"), httpsig.Transport{Key: g.private}, t)
		g.now = g.now.Add(c.shift)
		if c.code == "" {
			g.accepted(t, signed, nil)
			continue
		}
		g.rejected(t, signed, nil, 401, c.code)
	}
	g := newGateway(t, nil)
	g.rejected(t, g.request(t, "POST", "x"), &httpsig.Transport{Key: g.private, Lifetime: 6 * time.Minute}, 401,
		"signature-times")
}

func TestUnknownKeysAreRejected(t *testing.T) {
	g := newGateway(t, nil)
	_, other, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	g.rejected(t, g.request(t, "POST", "x"), &httpsig.Transport{Key: other}, 401, "signature-key-unknown")
	g.rejected(t, g.request(t, "POST", "x"), &httpsig.Transport{Key: other, Agent: agent}, 401,
		"signature-key-unknown")
	// The key is registered with another agent: keys are found by the pair.
	otherAgent := &httpsig.Transport{Key: g.private, Agent: "https://other.example"}
	g.rejected(t, g.request(t, "POST", "x"), otherAgent, 401, "signature-key-unknown")
}

// TestASignatureWithTheKeyIDOfAnother shows that the key ID is not a proof.
func TestASignatureWithTheKeyIDOfAnother(t *testing.T) {
	g := newGateway(t, nil)
	_, other, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	params := full(g)
	r := g.request(t, "GET", "")
	require.NoError(t, params.Sign(r, "a", other))
	g.rejected(t, r, nil, 401, "signature-invalid")
}

func components(names ...string) (list []httpsig.Component) {
	for _, name := range names {
		list = append(list, httpsig.Component{Name: name})
	}
	return list
}

// full returns the parameters of an accepted signature over a request without body.
func full(g *gateway) httpsig.Params {
	public, _ := g.private.Public().(ed25519.PublicKey)
	return httpsig.Params{
		Components: components("@method", "@authority", "@path", "@query"),
		Created:    g.now, Expires: g.now.Add(time.Minute), Nonce: "0123456789abcdef",
		KeyID: httpsig.EncodePublicKey(public), Tag: httpsig.TagHaggle,
	}
}

func TestRequiredParameters(t *testing.T) {
	const coverage = "signature-coverage"
	for name, c := range map[string]struct {
		change func(p *httpsig.Params)
		code   string
	}{
		"complete":   {func(*httpsig.Params) {}, ""},
		"target URI": {func(p *httpsig.Params) { p.Components = components("@method", "@target-uri") }, ""},
		"no method":  {func(p *httpsig.Params) { p.Components = components("@target-uri") }, coverage},
		"no query":   {func(p *httpsig.Params) { p.Components = p.Components[:3] }, coverage},
		"no host":    {func(p *httpsig.Params) { p.Components = slices.Delete(p.Components, 1, 2) }, coverage},
		"no parts":   {func(p *httpsig.Params) { p.Components = nil }, coverage},
		"no nonce":   {func(p *httpsig.Params) { p.Nonce = "" }, "signature-nonce"},
		"long nonce": {func(p *httpsig.Params) { p.Nonce = strings.Repeat("a", 257) }, "signature-nonce"},
		"no start":   {func(p *httpsig.Params) { p.Created = time.Time{} }, "signature-times"},
		"no expiry":  {func(p *httpsig.Params) { p.Expires = time.Time{} }, "signature-times"},
		"reverse":    {func(p *httpsig.Params) { p.Expires = p.Created.Add(-time.Second) }, "signature-times"},
		"far expiry": {func(p *httpsig.Params) { p.Expires = time.Unix(999999999999999, 0) }, "signature-times"},
		"no key ID":  {func(p *httpsig.Params) { p.KeyID = "" }, "signature-key-id"},
		"algorithm":  {func(p *httpsig.Params) { p.Algorithm = "rsa-pss-sha512" }, "signature-invalid"},
		"thumbprint": {func(p *httpsig.Params) { p.Tag, p.KeyID = httpsig.TagWebBotAuth, "x" }, "signature-key-id"},
		"no agent":   {func(p *httpsig.Params) { p.Tag = httpsig.TagWebBotAuth }, "signature-agent"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t, nil)
			params, r := full(g), g.request(t, "GET", "")
			c.change(&params)
			require.NoError(t, params.Sign(r, "a", g.private))
			if c.code == "" {
				g.accepted(t, r, nil)
				return
			}
			g.rejected(t, r, nil, 401, c.code)
		})
	}
}

func TestTwoSignatures(t *testing.T) {
	g := newGateway(t, nil)
	r := recorded(g.request(t, "GET", ""), httpsig.Transport{Key: g.private}, t)
	input, value := r.Header.Get("Signature-Input"), r.Header.Get("Signature")
	second := again(t, r)
	second.Header.Add("Signature-Input", strings.Replace(input, "sig1=", "sig2=", 1))
	second.Header.Add("Signature", strings.Replace(value, "sig1=", "sig2=", 1))
	g.rejected(t, second, nil, 401, "signature-ambiguous")

	// A proxy can sign the fields that it adds.
	r.Header.Add("Signature-Input", `proxy=("@method";tr);tag="proxy"`)
	r.Header.Add("Signature", "proxy=:AA==:")
	assert.Equal(t, "Reader AI", g.accepted(t, r, nil).Name)
}

// crawl signs a request as crawlers do: the draft's minimum, without nonce, valid for one day.
func crawl(t *testing.T, g *gateway, r *http.Request, component httpsig.Component, field string) {
	public, _ := g.private.Public().(ed25519.PublicKey)
	r.Header.Set("Signature-Agent", field)
	params := httpsig.Params{
		Components: append(components("@authority"), component), Created: g.now, Expires: g.now.Add(24 * time.Hour),
		KeyID: httpsig.Thumbprint(public), Tag: httpsig.TagWebBotAuth,
	}
	require.NoError(t, params.Sign(r, "sig2", g.private))
}

func TestTheMinimumOfWebBotAuthIsSufficientForReads(t *testing.T) {
	g := newGateway(t, nil)
	agent2 := httpsig.Component{Name: "signature-agent", Member: "agent2"}
	r := g.request(t, "GET", "")
	crawl(t, g, r, agent2, `agent2="`+agent+`", other="https://other.example"`)
	assert.Equal(t, "Crawler AI", g.accepted(t, again(t, r), nil).Name)
	r.URL.Path = "/v1/other"
	g.accepted(t, r, nil)
	g.now = g.now.Add(24*time.Hour + time.Minute)
	g.rejected(t, r, nil, 401, "signature-expired")

	g = newGateway(t, nil)
	r = g.request(t, "GET", "")
	crawl(t, g, r, httpsig.Component{Name: "signature-agent"}, `"HTTPS://Crawler.Example:443/"`)
	g.accepted(t, r, nil)

	r = g.request(t, "POST", "")
	crawl(t, g, r, agent2, `agent2="`+agent+`"`)
	g.rejected(t, r, nil, 401, "signature-times")

	for field, want := range map[string]string{
		`agent2="` + agent + `";type=jwks_uri`: "type is not supported",
		`agent2="http://crawler.example"`:      "not an origin",
		`agent2="` + agent + `/keys"`:          "not an origin",
		`agent2=1`:                             "not a string",
	} {
		r = g.request(t, "GET", "")
		crawl(t, g, r, agent2, field)
		assert.Contains(t, g.rejected(t, r, nil, 401, "signature-agent").Detail, want)
	}
}

func TestABodyOverTheLimitIsRejected(t *testing.T) {
	g := newGateway(t, func(c *identity.Config) { c.MaxBody = 10 })
	g.accepted(t, g.request(t, "POST", strings.Repeat("x", 10)), &httpsig.Transport{Key: g.private})
	g.rejected(t, g.request(t, "POST", strings.Repeat("x", 11)), &httpsig.Transport{Key: g.private}, 413,
		"body-too-large")
}

// TestASignatureBehindAProxyThatEndsTLS shows that the trusted scheme decides about the default port.
func TestASignatureBehindAProxyThatEndsTLS(t *testing.T) {
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	g := newGateway(t, func(c *identity.Config) { c.TrustedProxies = loopback })
	params := full(g)
	params.Components = components("@method", "@target-uri")
	r, err := http.NewRequestWithContext(t.Context(), "GET", "https://gateway.example/v1/negotiations", nil)
	require.NoError(t, err)
	require.NoError(t, params.Sign(r, "a", g.private))
	r.Host, r.URL.Host, r.URL.Scheme = "gateway.example:443", g.Listener.Addr().String(), "http"
	g.rejected(t, again(t, r), nil, 401, "signature-authority")
	r.Header.Set("X-Forwarded-Proto", "https")
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	assert.Equal(t, netip.MustParsePrefix("203.0.113.0/24"), g.accepted(t, r, nil).Address)
}

func FuzzIdentify(f *testing.F) {
	authenticator, err := identity.New(identity.Config{
		Registry: &registry{}, Authorities: []string{"example.com"},
		Now: func() time.Time { return time.Unix(1735689600, 0) },
	})
	require.NoError(f, err)
	f.Add("", `sig2=("@authority" "signature-agent";key="agent2");created=1735689600;expires=1735693200`+
		`;tag="web-bot-auth";keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"`,
		`sig2=:AA==:`, `agent2="https://a.test"`, "1.2.3.4", []byte{})
	f.Add("Bearer hgl_", "", "", "", ",::1", []byte("x"))
	f.Fuzz(func(t *testing.T, authorization, input, signature, agents, forwarded string, body []byte) {
		r := httptest.NewRequest("GET", "/a?b", bytes.NewReader(body))
		for name, value := range map[string]string{
			"Authorization": authorization, "Signature-Input": input, "Signature": signature,
			"Signature-Agent": agents, "X-Forwarded-For": forwarded,
		} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		caller, err := authenticator.Identify(r)
		if authorization+input+signature == "" {
			require.NoError(t, err)
			require.Equal(t, identity.Anonymous, caller.Kind)
			return
		}
		// The registry is empty, so all credentials are wrong. They must never become anonymous.
		var problem *identity.Error
		require.ErrorAs(t, err, &problem)
		require.Equal(t, http.StatusUnauthorized, problem.Status)
		require.Empty(t, caller.Kind)
		require.Empty(t, caller.Scopes)
	})
}
