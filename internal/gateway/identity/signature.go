package identity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

const (
	// maxLifetime is the longest time between a signature's creation and expiry.
	maxLifetime = 5 * time.Minute
	// maxCrawlLifetime is maxLifetime for GET and HEAD with Web Bot Auth.
	maxCrawlLifetime = 24 * time.Hour
	// clockSkew is the accepted difference between the caller's and the gateway's clocks.
	clockSkew = 30 * time.Second
	minNonce  = 16
	maxNonce  = 256
)

// bySignature returns a signed request's caller. It reads the body, checks it, and puts it back.
func (a *Authenticator) bySignature(r *http.Request) (Caller, error) {
	s, err := selectSignature(r.Header)
	if err != nil {
		return Caller{}, err
	}
	scheme, crawl := schemeOf(r, a.config.TrustedProxies), isCrawl(r, s)
	if authority := httpsig.Authority(r, scheme); !slices.Contains(a.config.Authorities, authority) {
		return Caller{}, unauthenticated("signature-authority",
			"signature: %q is not a name of this gateway; sign requests for one of its names", authority)
	}
	if err := checkTimes(s, crawl, a.config.Now()); err != nil {
		return Caller{}, err
	}
	if err := checkNonce(s, crawl); err != nil {
		return Caller{}, err
	}
	if err := checkCoverage(r, s, crawl); err != nil {
		return Caller{}, err
	}
	registration, method, err := a.registration(r, s)
	if err != nil {
		return Caller{}, err
	}
	if err := s.Verify(r, scheme, registration.PublicKey); err != nil {
		return Caller{}, unauthenticated("signature-invalid", "%s", err)
	}
	// Only the key holder learns the key's state.
	if err := registration.check(); err != nil {
		return Caller{}, err
	}
	// The body is read only once the signature is verified, so unauthenticated callers cannot make the
	// gateway buffer bodies.
	if err := a.checkBody(r, s); err != nil {
		return Caller{}, err
	}
	if err := a.useNonce(r.Context(), s); err != nil {
		return Caller{}, err
	}
	return Caller{
		Kind: Client, ID: registration.ID, Name: registration.Name, Scopes: ScopesOf(Client),
		Method: method, KeyID: s.KeyID,
	}, nil
}

// selectSignature returns the only signature with one of the gateway's tags. Proxies can add signatures with
// other tags. With two gateway tags, the sending client would be ambiguous.
func selectSignature(header http.Header) (s httpsig.Signature, err error) {
	signatures, err := httpsig.Parse(header)
	if err != nil {
		return s, unauthenticated("signature-malformed", "%s", err)
	}
	found := 0
	for _, candidate := range signatures {
		if candidate.Tag == httpsig.TagHaggle || candidate.Tag == httpsig.TagWebBotAuth {
			s = candidate
			found++
		}
	}
	switch found {
	case 0:
		return s, unauthenticated("signature-tag", "signature: no tag is %q or %q; sign with one of them",
			httpsig.TagHaggle, httpsig.TagWebBotAuth)
	case 1:
		return s, nil
	}
	return s, unauthenticated("signature-ambiguous",
		"signature: the request has %d signatures of clients; send one", found)
}

// isCrawl reports whether the minimum of Web Bot Auth is sufficient.
func isCrawl(r *http.Request, s httpsig.Signature) bool {
	return s.Tag == httpsig.TagWebBotAuth && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

func checkTimes(s httpsig.Signature, crawl bool, now time.Time) error {
	limit := maxLifetime
	if crawl {
		limit = maxCrawlLifetime
	}
	switch {
	case s.Created.IsZero() || s.Expires.IsZero():
		return unauthenticated("signature-times", `signature: lacks "created" or "expires"; send both`)
	case !s.Expires.After(s.Created) || s.Expires.Sub(s.Created) > limit:
		return unauthenticated("signature-times",
			"signature: expires not within %s after its creation; change the lifetime", limit)
	case s.Created.After(now.Add(clockSkew)):
		return unauthenticated("signature-future",
			"signature: created at %s, which is in the future; set the clock", s.Created.UTC().Format(time.RFC3339))
	case s.Expires.Add(clockSkew).Before(now):
		return unauthenticated("signature-expired", "signature: expired at %s; sign the request again",
			s.Expires.UTC().Format(time.RFC3339))
	}
	return nil
}

func checkNonce(s httpsig.Signature, crawl bool) error {
	if s.Nonce == "" && crawl {
		return nil
	}
	if len(s.Nonce) < minNonce || len(s.Nonce) > maxNonce {
		return unauthenticated("signature-nonce",
			"signature: nonce has %d characters, not %d to %d; send a random one", len(s.Nonce), minNonce, maxNonce)
	}
	return nil
}

func checkCoverage(r *http.Request, s httpsig.Signature, crawl bool) error {
	var required []string
	if !s.Covers("@target-uri") {
		required = append(required, "@authority")
		if !crawl {
			required = append(required, "@path", "@query")
		}
	}
	if !crawl {
		required = append(required, "@method")
		for _, field := range []string{"idempotency-key", "mcp-session-id"} {
			if len(r.Header.Values(field)) > 0 {
				required = append(required, field)
			}
		}
	}
	if r.ContentLength != 0 {
		required = append(required, "content-digest")
	}
	for _, name := range required {
		if !s.Covers(name) {
			return unauthenticated("signature-coverage", "signature: does not cover %q; sign it too", name)
		}
	}
	return nil
}

func (a *Authenticator) registration(r *http.Request, s httpsig.Signature) (Registration, Method, error) {
	var registration Registration
	method := ByEd25519
	key, err := httpsig.DecodePublicKey(s.KeyID)
	switch s.Tag {
	case httpsig.TagHaggle:
		if err != nil {
			return registration, method, unauthenticated("signature-key-id", "signature: key ID: %s", err)
		}
		registration, err = a.config.Registry.ClientByPublicKey(r.Context(), key)
		if err == nil && !key.Equal(registration.PublicKey) {
			err = fmt.Errorf("client %d: registered key differs from the query", registration.ID)
		}
	default:
		method = ByWebBotAuth
		if err != nil {
			// A SHA-256 has as many bytes as a key.
			return registration, method, unauthenticated("signature-key-id",
				"signature: key ID is not a JWK thumbprint by SHA-256 in base64url; send the thumbprint")
		}
		agent, agentErr := coveredAgent(r, s)
		if agentErr != nil {
			return registration, method, unauthenticated("signature-agent", "%s", agentErr)
		}
		registration, err = a.config.Registry.ClientByAgent(r.Context(), agent, s.KeyID)
		if err == nil && httpsig.Thumbprint(registration.PublicKey) != s.KeyID {
			err = fmt.Errorf("client %d: thumbprint of the registered key differs from the query", registration.ID)
		}
	}
	switch {
	case errors.Is(err, ErrUnknown):
		return registration, method, unauthenticated("signature-key-unknown",
			"signature: no client is registered with this key; register it with the gateway's operator")
	case err != nil:
		return registration, method, unavailable(err)
	}
	return registration, method, nil
}

// coveredAgent returns the signed Signature-Agent: one member of the dictionary, or the string of older
// drafts. Unsigned members can come from another sender.
func coveredAgent(r *http.Request, s httpsig.Signature) (string, error) {
	const field = "signature-agent"
	var covered []httpsig.Component
	for _, component := range s.Components {
		if component.Name == field {
			covered = append(covered, component)
		}
	}
	if len(covered) != 1 {
		return "", fmt.Errorf("signature: covers %d members of Signature-Agent, not one; sign one", len(covered))
	}
	var item httpsfv.Item
	if name := covered[0].Member; name == "" {
		parsed, err := httpsfv.UnmarshalItem(r.Header.Values(field))
		if err != nil {
			return "", fmt.Errorf("field Signature-Agent: not a string: %w", err)
		}
		item = parsed
	} else {
		dictionary, err := httpsfv.UnmarshalDictionary(r.Header.Values(field))
		if err != nil {
			return "", fmt.Errorf("field Signature-Agent: not a dictionary: %w", err)
		}
		member, _ := dictionary.Get(name)
		item, _ = member.(httpsfv.Item)
	}
	agent, ok := item.Value.(string)
	if !ok {
		return "", errors.New("field Signature-Agent: not a string; send the origin of the agent's keys")
	}
	if kind, ok := item.Params.Get("type"); ok && kind != httpsfv.Token("directory") {
		return "", errors.New("field Signature-Agent: type is not supported; use directory")
	}
	return NormalizeAgent(agent)
}

func (a *Authenticator) checkBody(r *http.Request, s httpsig.Signature) error {
	if r.Body == nil || r.Body == http.NoBody {
		r.Body = http.NoBody
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, a.config.MaxBody+1))
	if err != nil {
		return unauthenticated("signature-body", "body: not received completely; send the request again")
	}
	if int64(len(body)) > a.config.MaxBody {
		return &Error{
			Status: http.StatusRequestEntityTooLarge, Code: "body-too-large",
			Detail: fmt.Sprintf("body: more than %d bytes; send a smaller one", a.config.MaxBody),
		}
	}
	_ = r.Body.Close()
	r.Body = io.NopCloser(bytes.NewReader(body))
	if len(body) == 0 && !s.Covers("content-digest") {
		return nil
	}
	if err := httpsig.VerifyContentDigest(r.Header, body); err != nil {
		return unauthenticated("signature-digest", "%s", err)
	}
	return nil
}

func (a *Authenticator) useNonce(ctx context.Context, s httpsig.Signature) error {
	if s.Nonce == "" {
		return nil
	}
	switch err := a.config.Registry.UseNonce(ctx, s.KeyID, s.Nonce, s.Expires.Add(clockSkew)); {
	case errors.Is(err, ErrReplayed):
		return unauthenticated("signature-replayed", "signature: nonce used before; sign the request again")
	case errors.Is(err, ErrTooManyNonces):
		return &Error{
			Status: http.StatusTooManyRequests, Code: "too-many-signatures", cause: err,
			Detail: "signature: too many unexpired signatures of this key; repeat the request later",
		}
	case err != nil:
		return unavailable(err)
	}
	return nil
}
