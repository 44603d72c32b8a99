package httpsig

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/dunglas/httpsfv"
)

// The tags of the signatures that the gateway accepts.
const (
	// TagHaggle marks clients known to the gateway by Ed25519 key.
	TagHaggle = "haggle"
	// TagWebBotAuth marks Web Bot Auth.
	TagWebBotAuth = "web-bot-auth"
)

const (
	label           = "sig1"
	defaultLifetime = time.Minute
)

// Transport is an [http.RoundTripper] that signs each request. It covers the method, the authority, the path,
// the query, the body and the fields Idempotency-Key and Mcp-Session-Id. It reads the body into memory.
//
// Each signature is valid once: the gateway refuses a second use with status 401 and the problem
// "signature-replayed". Repeat requests through the Transport, not in Base. [http.Transport] itself repeats a
// GET if a reused connection breaks.
type Transport struct {
	// Key signs all requests.
	Key ed25519.PrivateKey
	// Agent is the origin, such as "https://agent.example", where the signer publishes keys. If set, the
	// Transport signs by Web Bot Auth. If empty, it signs with [TagHaggle].
	Agent string
	// Lifetime limits the age of signatures, at least 1 s. If zero, 1 minute is used. The gateway accepts at
	// most 5 minutes.
	Lifetime time.Duration
	// Base sends the signed requests. If nil, [http.DefaultTransport] is used.
	Base http.RoundTripper
}

// RoundTrip signs a copy of the request and sends it.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	signed, err := t.sign(r)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return base(t.Base).RoundTrip(signed)
}

func base(transport http.RoundTripper) http.RoundTripper {
	if transport == nil {
		return http.DefaultTransport
	}
	return transport
}

func (t *Transport) sign(r *http.Request) (*http.Request, error) {
	// The server has chosen the target and knows the body, so it could use the signed request to accept
	// elsewhere.
	if r.Response != nil {
		return nil, errors.New("transport: the server redirects the request; use the final URL")
	}
	if len(t.Key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("transport: key has %d bytes, not %d; set Key", len(t.Key),
			ed25519.PrivateKeySize)
	}
	public, lifetime, now := t.Key.Public().(ed25519.PublicKey), t.Lifetime, time.Now()
	if lifetime == 0 {
		lifetime = defaultLifetime
	}
	if lifetime < time.Second {
		return nil, errors.New("transport: lifetime is under 1 s; use a longer one")
	}
	// The nonce's 256 bits make each signature different from all others.
	nonce := make([]byte, 32)
	_, _ = rand.Read(nonce) // It never returns an error.
	params := Params{
		Created: now, Expires: now.Add(lifetime), Nonce: base64.RawURLEncoding.EncodeToString(nonce),
		KeyID: EncodePublicKey(public), Algorithm: "ed25519", Tag: TagHaggle,
		Components: []Component{{Name: "@method"}, {Name: "@authority"}, {Name: "@path"}, {Name: "@query"}},
	}
	r = r.Clone(r.Context())
	if err := coverBody(r, &params); err != nil {
		return nil, err
	}
	for _, field := range []string{"idempotency-key", "mcp-session-id"} {
		if len(r.Header.Values(field)) > 0 {
			params.Components = append(params.Components, Component{Name: field})
		}
	}
	if t.Agent != "" {
		if err := coverAgent(r, t.Agent, &params); err != nil {
			return nil, err
		}
		params.KeyID, params.Tag = Thumbprint(public), TagWebBotAuth
	}
	return r, params.Sign(r, label, t.Key)
}

func coverBody(r *http.Request, params *Params) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if closeErr := r.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("body: %w", err)
	}
	// With GetBody, http.Transport sends a request with an Idempotency-Key again when a connection breaks,
	// with the same signature. The gateway refuses it.
	r.Body, r.GetBody = io.NopCloser(bytes.NewReader(body)), nil
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Digest", ContentDigest(body))
	params.Components = append(params.Components, Component{Name: "content-digest"})
	return nil
}

func coverAgent(r *http.Request, agent string, params *Params) error {
	parsed, err := url.Parse(agent)
	if err != nil || parsed.Host == "" || "https://"+parsed.Host != agent {
		return fmt.Errorf("transport: agent %q is not an origin; use the form https://agent.example", agent)
	}
	agents := httpsfv.NewDictionary()
	agents.Add(label, httpsfv.NewItem(agent))
	text, err := httpsfv.Marshal(agents)
	if err != nil {
		return fmt.Errorf("transport: agent %q: %w", agent, err)
	}
	r.Header.Set("Signature-Agent", text)
	params.Components = append(params.Components, Component{Name: "signature-agent", Member: label})
	return nil
}
