package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/fifocache"
	"github.com/haggle-protocol/haggle/sdk/internal/jsonapi"
)

// RegistryConfig identifies the registry. The interface follows SAID:
//
//	GET <Endpoint>/api/verify/<address>
//	    answers {"wallet": "<address>", "registered": true, "verified": true, "trustScore": {"score": 0 to 100}}
//
// or 404 for unknown agents.
type RegistryConfig struct {
	// Endpoint is the registry's URL. The scheme must be https, or http for the local machine.
	Endpoint string
	// APIKey, if not empty, is sent as a bearer token.
	APIKey string
	// Path replaces "api/verify/". The agent's address is appended.
	Path string
	// Timeout limits one request. If zero, 15 s is used.
	Timeout time.Duration
	// CacheFor is how long responses are cached. If zero, a minute is used; if negative, nothing is cached.
	// Failures are never cached, and expired responses are never used instead of a failure.
	CacheFor time.Duration
	// HTTPClient sends all requests. If nil, the registry creates a client. Redirects are never followed.
	HTTPClient *http.Client
	// Now is the cache's clock. If nil, the machine's clock is used.
	Now func() time.Time
}

const (
	defaultCacheFor = time.Minute
	// mostCached is the maximum number of cached responses.
	mostCached = 10_000
)

// Registry is a Source over HTTPS. It is safe for concurrent use.
type Registry struct {
	service  *jsonapi.Service
	path     string
	cacheFor time.Duration
	now      func() time.Time
	// cached has an answer for each of the agents that were added last.
	cached *fifocache.Map[solana.PublicKey, answer]
}

type answer struct {
	trust Trust
	until time.Time
}

// NewRegistry returns a Registry. It sends no request.
func NewRegistry(config RegistryConfig) (*Registry, error) {
	service, err := jsonapi.New(jsonapi.Config{
		Endpoint: config.Endpoint, APIKey: config.APIKey, Timeout: config.Timeout, HTTPClient: config.HTTPClient,
	})
	if err != nil {
		return nil, fmt.Errorf("haggle: identity: %w", err)
	}
	r := &Registry{service: service, path: cmp.Or(config.Path, "api/verify/"),
		cacheFor: cmp.Or(config.CacheFor, defaultCacheFor), now: config.Now,
		cached: fifocache.NewMap[solana.PublicKey, answer](mostCached)}
	if r.now == nil {
		r.now = time.Now
	}
	return r, nil
}

// String returns the registry's host.
func (r *Registry) String() string { return r.service.String() }

// Trust returns the registry's trust in an agent, which may be cached.
func (r *Registry) Trust(ctx context.Context, agent solana.PublicKey) (Trust, error) {
	if trust, ok := r.remembered(agent); ok {
		return trust, nil
	}
	trust, err := r.ask(ctx, agent)
	if err != nil {
		return Trust{}, fmt.Errorf("haggle: identity: %w", err)
	}
	if r.cacheFor > 0 {
		r.cached.Put(agent, answer{trust: trust, until: r.now().Add(r.cacheFor)})
	}
	return trust, nil
}

func (r *Registry) remembered(agent solana.PublicKey) (Trust, bool) {
	known, ok := r.cached.Get(agent)
	// A response from the future was cached before the clock was set back.
	if now := r.now(); !ok || !now.Before(known.until) || now.Before(known.until.Add(-r.cacheFor)) {
		return Trust{}, false
	}
	return known.trust, true
}

var (
	errAnotherAgent = errors.New("the answer is about another agent")
	errNoTrustScore = errors.New("the answer has no trust score")
)

func (r *Registry) ask(ctx context.Context, agent solana.PublicKey) (Trust, error) {
	var said struct {
		Wallet     string `json:"wallet"`
		Registered bool   `json:"registered"`
		Verified   bool   `json:"verified"`
		TrustScore *struct {
			Score *float64 `json:"score"`
		} `json:"trustScore"`
	}
	err := r.service.Get(ctx, r.path+agent.String(), &said)
	var failure *jsonapi.Error
	if errors.As(err, &failure) && failure.Refused() && failure.Status == http.StatusNotFound {
		return Trust{}, nil
	}
	if err != nil {
		return Trust{}, err
	}
	switch {
	case said.Wallet != agent.String():
		return Trust{}, fmt.Errorf("%s: %w", r.service.Host(), errAnotherAgent)
	case !said.Registered:
		return Trust{}, nil
	case said.TrustScore == nil || said.TrustScore.Score == nil:
		return Trust{}, fmt.Errorf("%s: %w", r.service.Host(), errNoTrustScore)
	}
	trust := Trust{Score: *said.TrustScore.Score, Registered: true, Verified: said.Verified}
	if !trust.valid() {
		return Trust{}, fmt.Errorf("%s: %w", r.service.Host(), errNoScore)
	}
	return trust, nil
}
