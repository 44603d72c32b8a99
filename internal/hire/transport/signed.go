package transport

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// request is a signed request.
type request struct {
	*http.Request
	agent string
	// query contains the parameters.
	query map[string]string
}

// signed returns a handler for signed requests with the named parameters. These requests are idempotent, so
// signatures need no nonce.
func (h *handler) signed(serve func(http.ResponseWriter, request), names ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		query, err := parameters(r.URL.RawQuery, names)
		var agent string
		if err == nil {
			agent, err = h.authenticate(r)
		}
		if err != nil {
			h.fail(w, r, err)
			return
		}
		serve(w, request{r, agent, query})
	}
}

// authenticate returns a request's signer. If an origin's pinned key does not match, it reads the card again.
func (h *handler) authenticate(r *http.Request) (string, error) {
	by := func(key func(context.Context, string) (ed25519.PublicKey, error)) (string, error) {
		return hire.Authenticate(r, h.Origin, key, time.Now())
	}
	agent, err := by(h.Service.Key)
	var refusal *hire.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != hire.ReasonSignature ||
		hire.CheckOrigin(r.URL.Query().Get("agent")) != nil {
		return agent, err
	}
	again, retried := by(h.Service.CurrentKey)
	if retried == nil || errors.As(retried, &refusal) {
		return again, retried
	}
	return "", err // the origin does not respond
}

// parameters parses a query with the named parameters, each at most once. Ids are required.
func parameters(text string, names []string) (map[string]string, error) {
	all, err := url.ParseQuery(text)
	if err != nil {
		return nil, malformed("query: not valid")
	}
	query := make(map[string]string, len(all))
	for _, name := range append([]string{"agent"}, names...) {
		if len(all[name]) == 1 {
			query[name] = all.Get(name)
			delete(all, name)
		}
		isID := name == "agent" || name == "conversation_id" || name == "seeker"
		if isID && !service.IsID(query[name]) {
			return nil, malformed(name + ": must have 1 to 256 bytes")
		}
	}
	if len(all) > 0 {
		return nil, malformed("query: unknown or repeated parameter")
	}
	return query, nil
}
