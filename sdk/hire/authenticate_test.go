package hire

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// eventsOf is the target for reading the seeker's events.
const eventsOf = "/hire/events?agent=" + seeker

// keyOfSeeker knows the seeker only.
func keyOfSeeker(_ context.Context, id string) (ed25519.PublicKey, error) {
	if id != seeker {
		return nil, refuse(ReasonIdentity, "unknown")
	}
	return publicOf(seeker), nil
}

// signatureParams is a valid signature's parameter list at the start.
func signatureParams(components ...string) httpsig.Params {
	params := httpsig.Params{Created: start, Expires: start.Add(time.Minute), Tag: httpsig.TagHaggle}
	for _, name := range append([]string{"@method", "@authority", "@path", "@query"}, components...) {
		params.Components = append(params.Components, httpsig.Component{Name: name})
	}
	return params
}

// signedRequest returns a request as a home at origin receives it.
func signedRequest(t testing.TB, method, target, body string, params httpsig.Params, key ed25519.PrivateKey) *http.Request {
	t.Helper()
	signed, err := http.NewRequestWithContext(t.Context(), method, origin+target, strings.NewReader(body))
	require.NoError(t, err)
	if params.Covers("content-digest") {
		signed.Header.Set("Content-Digest", httpsig.ContentDigest([]byte(body)))
	}
	require.NoError(t, params.Sign(signed, "sig1", key))
	received := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	received.Host, received.Header = signed.Host, signed.Header
	return received
}

func TestSignedRequestNamesItsAgent(t *testing.T) {
	r := signedRequest(t, http.MethodGet, eventsOf, "", signatureParams(), keyOf(seeker))
	agent, err := Authenticate(r, origin, keyOfSeeker, start)
	require.NoError(t, err)
	require.Equal(t, seeker, agent)

	const body = "a logo"
	target := DeliveriesPath + string(hashOf([]byte(body))) + "?agent=" + seeker
	r = signedRequest(t, http.MethodPut, target, body, signatureParams("content-digest"), keyOf(seeker))
	agent, err = Authenticate(r, origin, keyOfSeeker, start)
	require.NoError(t, err)
	require.Equal(t, seeker, agent)
	require.NoError(t, httpsig.VerifyContentDigest(r.Header, []byte(body)))
	r.Header.Set("Content-Digest", httpsig.ContentDigest([]byte("a virus")))
	_, err = Authenticate(r, origin, keyOfSeeker, start)
	requireReason(t, ReasonSignature, err)

	failed := errors.New("database")
	_, err = Authenticate(r, origin, func(context.Context, string) (ed25519.PublicKey, error) {
		return nil, failed
	}, start)
	require.Equal(t, failed, err)
}

func TestForgedRequestsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		reason Reason
		alter  func(r *http.Request)
	}{
		"method":    {ReasonSignature, func(r *http.Request) { r.Method = http.MethodPut }},
		"path":      {ReasonSignature, func(r *http.Request) { retarget(r, "/hire/log?agent="+seeker) }},
		"query":     {ReasonSignature, func(r *http.Request) { retarget(r, eventsOf+"&after=1") }},
		"host":      {ReasonSignature, func(r *http.Request) { r.Host = "other.example" }},
		"port":      {ReasonSignature, func(r *http.Request) { r.Host += ":8443" }},
		"agent":     {ReasonIdentity, func(r *http.Request) { retarget(r, "/hire/events?agent="+worker) }},
		"no agent":  {ReasonMalformed, func(r *http.Request) { retarget(r, "/hire/events") }},
		"empty":     {ReasonMalformed, func(r *http.Request) { retarget(r, "/hire/events?agent=") }},
		"two":       {ReasonMalformed, func(r *http.Request) { retarget(r, eventsOf+"&agent="+worker) }},
		"long id":   {ReasonMalformed, func(r *http.Request) { retarget(r, eventsOf+strings.Repeat("x", MaxIDLength)) }},
		"semicolon": {ReasonMalformed, func(r *http.Request) { retarget(r, eventsOf+"&a;b") }},
		"unsigned": {ReasonSignature, func(r *http.Request) {
			r.Header.Del("Signature")
			r.Header.Del("Signature-Input")
		}},
		"no input": {ReasonSignature, func(r *http.Request) { r.Header.Del("Signature-Input") }},
		"another's": {ReasonSignature, func(r *http.Request) {
			r.Header.Set("Signature", "sig1=:"+strings.Repeat("A", 86)+"==:")
		}},
	} {
		r := signedRequest(t, http.MethodGet, eventsOf, "", signatureParams(), keyOf(seeker))
		c.alter(r)
		agent, err := Authenticate(r, origin, keyOfSeeker, start)
		require.Empty(t, agent, name)
		var refusal *Refusal
		require.ErrorAs(t, err, &refusal, name)
		require.Equal(t, c.reason, refusal.Reason, name)
	}
}

// Homes cannot reuse agents' requests at another home.
func TestRequestIsForOneHome(t *testing.T) {
	r := signedRequest(t, http.MethodGet, eventsOf, "", signatureParams(), keyOf(seeker))
	for _, other := range []string{"https://other.example", origin + ":8443", "https://agent.example.other", ""} {
		_, err := Authenticate(r, other, keyOfSeeker, start)
		requireReason(t, ReasonSignature, err)
	}
}

// retarget sends a signed request to another path or query.
func retarget(r *http.Request, target string) {
	r.RequestURI = target
	r.URL, _ = url.ParseRequestURI(target)
}

func TestSignatureMustCoverTheRequest(t *testing.T) {
	whole := signatureParams()
	for i, left := range whole.Components {
		params := whole
		params.Components = append(append([]httpsig.Component{}, whole.Components[:i]...), whole.Components[i+1:]...)
		r := signedRequest(t, http.MethodGet, eventsOf, "", params, keyOf(seeker))
		_, err := Authenticate(r, origin, keyOfSeeker, start)
		requireReason(t, ReasonSignature, err)
		require.ErrorContains(t, err, "does not cover "+left.Name)
	}
	r := signedRequest(t, http.MethodPut, eventsOf, "x", whole, keyOf(seeker))
	_, err := Authenticate(r, origin, keyOfSeeker, start)
	require.ErrorContains(t, err, "does not cover content-digest")

	r.ContentLength = -1 // chunked
	_, err = Authenticate(r, origin, keyOfSeeker, start)
	require.ErrorContains(t, err, "does not cover content-digest")

	r = signedRequest(t, http.MethodGet, eventsOf, "", whole, keyOf(worker))
	_, err = Authenticate(r, origin, keyOfSeeker, start)
	requireReason(t, ReasonSignature, err)

	other := whole
	other.Tag = "other"
	r = signedRequest(t, http.MethodGet, eventsOf, "", other, keyOf(seeker))
	_, err = Authenticate(r, origin, keyOfSeeker, start)
	requireReason(t, ReasonSignature, err)
}

// Proxy signatures are ignored, but two agent signatures are ambiguous.
func TestOneSignatureIsTheAgents(t *testing.T) {
	r := signedRequest(t, http.MethodGet, eventsOf, "", signatureParams(), keyOf(seeker))
	r.Header.Add("Signature-Input", `proxy=("@authority");tag="cdn"`)
	r.Header.Add("Signature", "proxy=:AA==:")
	_, err := Authenticate(r, origin, keyOfSeeker, start)
	require.NoError(t, err)
	more := signedRequest(t, http.MethodGet, eventsOf, "", signatureParams(), keyOf(seeker))
	for _, field := range []string{"Signature-Input", "Signature"} {
		r.Header.Add(field, strings.Replace(more.Header.Get(field), "sig1", "sig2", 1))
	}
	_, err = Authenticate(r, origin, keyOfSeeker, start)
	requireReason(t, ReasonSignature, err)
}

func TestSignatureExpires(t *testing.T) {
	for name, c := range map[string]struct {
		created, expires time.Duration
		reason           Reason
	}{
		"longest":             {0, 5 * time.Minute, ""},
		"too long":            {0, 5*time.Minute + time.Second, ReasonSignature},
		"no time":             {0, 0, ReasonSignature},
		"backwards":           {time.Second, 0, ReasonSignature},
		"clock 30 s ahead":    {30 * time.Second, time.Minute, ""},
		"future":              {31 * time.Second, time.Minute, ReasonClock},
		"expired 30 s ago":    {-time.Minute, -30 * time.Second, ""},
		"expired before that": {-time.Minute, -31 * time.Second, ReasonClock},
	} {
		params := signatureParams()
		params.Created, params.Expires = start.Add(c.created), start.Add(c.expires)
		r := signedRequest(t, http.MethodGet, eventsOf, "", params, keyOf(seeker))
		_, err := Authenticate(r, origin, keyOfSeeker, start)
		if c.reason == "" {
			require.NoError(t, err, name)
			continue
		}
		require.Error(t, err, name)
		requireReason(t, c.reason, err)
	}
	for _, left := range []func(*httpsig.Params){
		func(p *httpsig.Params) { p.Created = time.Time{} }, func(p *httpsig.Params) { p.Expires = time.Time{} },
	} {
		params := signatureParams()
		left(&params)
		r := signedRequest(t, http.MethodGet, eventsOf, "", params, keyOf(seeker))
		_, err := Authenticate(r, origin, keyOfSeeker, start)
		requireReason(t, ReasonSignature, err)
	}
}

// Only the signed request authenticates.
func FuzzAuthenticate(f *testing.F) {
	signed := signedRequest(f, http.MethodPut, eventsOf, "a logo", signatureParams("content-digest"), keyOf(seeker))
	input, signature := signed.Header.Get("Signature-Input"), signed.Header.Get("Signature")
	digest := signed.Header.Get("Content-Digest")
	f.Add(http.MethodPut, eventsOf, signed.Host, input, signature, digest, int64(6))
	f.Add(http.MethodGet, eventsOf+"&after=1", "agent.example:443", input, "", "", int64(0))
	f.Add("", "https://agent.example"+eventsOf, "", strings.ReplaceAll(input, `"@query"`, `"a";key="b"`), signature,
		`sha-512=:AA==:`, int64(-1))
	f.Fuzz(func(t *testing.T, method, target, host, input, signature, digest string, length int64) {
		parsed, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		r := &http.Request{
			Method: method, URL: parsed, RequestURI: target, Host: host, ContentLength: length, Header: http.Header{
				"Signature-Input": {input}, "Signature": {signature}, "Content-Digest": {digest},
			},
		}
		agent, err := Authenticate(r, origin, keyOfSeeker, start)
		if err != nil {
			require.ErrorAs(t, err, new(*Refusal))
			require.Empty(t, agent)
			return
		}
		require.Equal(t, seeker, agent)
		require.Equal(t, signed.Method, method)
		require.Equal(t, signed.URL.EscapedPath(), parsed.EscapedPath())
		require.Equal(t, signed.URL.RawQuery, parsed.RawQuery)
		require.Equal(t, "agent.example", httpsig.Authority(r, "https"))
		require.NoError(t, httpsig.VerifyContentDigest(r.Header, []byte("a logo")))
	})
}
