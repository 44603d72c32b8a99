package hire

import (
	"context"
	"crypto/ed25519"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// maxSignatureLife limits the time between a request signature's creation and expiry.
const maxSignatureLife = 5 * time.Minute

// Authenticate returns the agent that signed a request to the home with this origin: the id in the query
// parameter "agent". key resolves an id's key: see [Resolver.Resolve]. Authenticate does not read the body, so
// that strangers cannot make a home read much: compare the body with [httpsig.VerifyContentDigest].
//
// The request must carry exactly one signature tagged "haggle" (RFC 9421, Ed25519), as written by
// [httpsig.Transport]. The signature covers @method, @authority, @path and @query, and content-digest if
// there is a body, and expires within five minutes. Authenticate returns a [*Refusal] with [ReasonMalformed]
// if the query does not name one agent, with [ReasonClock] for signatures expired or created more than 30
// seconds in the future, or [ReasonSignature] otherwise. Errors returned by key are passed on unchanged.
func Authenticate(
	r *http.Request, origin string, key func(ctx context.Context, id string) (ed25519.PublicKey, error), now time.Time,
) (agent string, err error) {
	if agent, err = agentOf(r); err != nil {
		return "", err
	}
	signature, err := signatureOf(r)
	if err != nil {
		return "", err
	}
	scheme, host, _ := strings.Cut(origin, "://")
	switch {
	// Otherwise a home could forward agents' requests to another home.
	case httpsig.Authority(r, scheme) != httpsig.Authority(&http.Request{Host: host}, scheme):
		return "", refuse(ReasonSignature, "signature: for a request to another host")
	case r.ContentLength != 0 && !signature.Covers("content-digest"):
		return "", refuse(ReasonSignature, "signature: does not cover content-digest")
	}
	if err := checkTimes(signature, now); err != nil {
		return "", err
	}
	public, err := key(r.Context(), agent)
	if err != nil {
		return "", err
	}
	if err := signature.Verify(r, scheme, public); err != nil {
		return "", refuse(ReasonSignature, "signature: does not match the request and the agent's key")
	}
	return agent, nil
}

// agentOf returns the id in the query.
func agentOf(r *http.Request) (string, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	ids := query["agent"]
	if err != nil || len(ids) != 1 || ids[0] == "" || len(ids[0]) > MaxIDLength {
		return "", refuse(ReasonMalformed, "agent: the query must name one agent")
	}
	return ids[0], nil
}

// signatureOf returns the agent's signature. Proxies can add signatures with other tags.
func signatureOf(r *http.Request) (found httpsig.Signature, err error) {
	signatures, err := httpsig.Parse(r.Header)
	if err != nil {
		return found, refuse(ReasonSignature, "signature: missing or malformed")
	}
	count := 0
	for _, signature := range signatures {
		if signature.Tag == httpsig.TagHaggle {
			found = signature
			count++
		}
	}
	if count != 1 {
		return found, refuse(ReasonSignature, "signature: %d with the tag %s instead of one", count, httpsig.TagHaggle)
	}
	for _, name := range []string{"@method", "@authority", "@path", "@query"} {
		if !found.Covers(name) {
			return found, refuse(ReasonSignature, "signature: does not cover %s", name)
		}
	}
	return found, nil
}

func checkTimes(s httpsig.Signature, now time.Time) error {
	switch {
	// A missing time is in the year 1.
	case !s.Expires.After(s.Created), s.Expires.Sub(s.Created) > maxSignatureLife:
		return refuse(ReasonSignature, "signature: must be valid for at most %s", maxSignatureLife)
	case s.Created.After(now.Add(maxSkew)):
		return refuse(ReasonClock, "signature: created in the future")
	case s.Expires.Before(now.Add(-maxSkew)):
		return refuse(ReasonClock, "signature: expired")
	}
	return nil
}
