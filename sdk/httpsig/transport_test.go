package httpsig_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// received sends a request through a transport, and returns the request and body received by the server.
func received(
	t *testing.T, r *http.Request, client func(origin string) http.RoundTripper,
) (got *http.Request, body string) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		bytes, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		got, body = r, string(bytes)
	}))
	defer server.Close()
	r.URL.Scheme, r.URL.Host = "http", strings.TrimPrefix(server.URL, "http://")
	response, err := client(server.URL).RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return got, body
}

func newRequest(t *testing.T, body string) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://gateway/v1/negotiations?dry_run",
		strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Idempotency-Key", "0f")
	return r
}

func TestTransportSignsTheRequestThatTheServerReceives(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	for _, c := range []struct{ agent, tag, keyID string }{
		{"", httpsig.TagHaggle, httpsig.EncodePublicKey(public)},
		{"https://agent.example", httpsig.TagWebBotAuth, httpsig.Thumbprint(public)},
	} {
		original := newRequest(t, `{"price":1}`)
		r, body := received(t, original, func(string) http.RoundTripper {
			return &httpsig.Transport{Key: private, Agent: c.agent}
		})
		assert.Equal(t, `{"price":1}`, body)
		assert.NoError(t, httpsig.VerifyContentDigest(r.Header, []byte(body)))
		s := parsed(t, r)
		assert.NoError(t, s.Verify(r, "http", public))
		assert.Equal(t, c.tag, s.Tag)
		assert.Equal(t, c.keyID, s.KeyID)
		assert.Equal(t, time.Minute, s.Expires.Sub(s.Created))
		assert.GreaterOrEqual(t, len(s.Nonce), 43)
		covered := []string{"@method", "@authority", "@path", "@query", "content-digest", "idempotency-key"}
		for _, name := range covered {
			assert.True(t, s.Covers(name), name)
		}
		assert.Empty(t, original.Header.Get("Signature"), "the caller's request is unchanged")
	}
}

func TestTransportNeverRepeatsANonce(t *testing.T) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	seen := map[string]bool{}
	for range 3 {
		r, _ := received(t, newRequest(t, ""), func(string) http.RoundTripper {
			return &httpsig.Transport{Key: private}
		})
		seen[parsed(t, r).Nonce] = true
	}
	assert.Len(t, seen, 3)
}

func TestTransportRejectsWrongSettings(t *testing.T) {
	_, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	for want, transport := range map[string]*httpsig.Transport{
		"set Key":                           {},
		"lifetime is under 1 s":             {Key: private, Lifetime: time.Millisecond},
		`agent "http://a" is not an origin`: {Key: private, Agent: "http://a"},
		`agent "https://a/b" is not an`:     {Key: private, Agent: "https://a/b"},
	} {
		_, err := transport.RoundTrip(newRequest(t, "x"))
		assert.ErrorContains(t, err, want)
	}
}

func TestBearerTransportSendsTheKeyOnlyToItsOrigin(t *testing.T) {
	const key = "hgl_secret"
	r, _ := received(t, newRequest(t, "x"), func(origin string) http.RoundTripper {
		return &httpsig.BearerTransport{Origin: origin, APIKey: key}
	})
	assert.Equal(t, "Bearer "+key, r.Header.Get("Authorization"))

	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other server received %s", r.Header.Get("Authorization"))
	}))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	client := &http.Client{Transport: &httpsig.BearerTransport{Origin: server.URL, APIKey: key}}
	_, err := client.Get(server.URL)
	require.ErrorContains(t, err, "is not the origin")
	assert.NotContains(t, err.Error(), key)

	plain := &httpsig.BearerTransport{Origin: "http://gateway.example", APIKey: key}
	r, err = http.NewRequest("GET", "http://gateway.example/", nil)
	require.NoError(t, err)
	_, err = plain.RoundTrip(r)
	assert.ErrorContains(t, err, "use https")
}

// A redirecting server would otherwise obtain a signed request to a target that it chose.
func TestARedirectIsNotSigned(t *testing.T) {
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &httpsig.Transport{Key: key}}
	_, err = client.Post(server.URL, "application/json", strings.NewReader("{}"))
	require.ErrorContains(t, err, "the server redirects the request")
	require.False(t, reached)
}

func TestBearerTransportIsPrintedWithoutTheKey(t *testing.T) {
	transport := &httpsig.BearerTransport{Origin: "https://gateway.example", APIKey: "hgl_secret"}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("client", "transport", transport, "value", *transport)
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		log.WriteString(fmt.Sprintf(format, transport) + fmt.Sprintf(format, *transport))
	}
	assert.NotContains(t, log.String(), "secret")
	assert.NotContains(t, log.String(), fmt.Sprintf("%x", "secret"))
}
