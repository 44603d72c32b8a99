package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/jsonapi"
)

// RegistryConfig says which registry is asked. The registry has SAID's shape:
//
//	GET <Endpoint>/api/verify/<address>
//	    answers {"wallet": "<address>", "registered": true, "verified": true, "trustScore": {"score": 0 to 100}}
//
// and 404 for an agent that it does not know.
type RegistryConfig struct {
	// Endpoint is the registry's URL. It has to be https, or http to this very machine.
	Endpoint string
	// APIKey is sent as a bearer token; empty for none.
	APIKey string
	// Path replaces "api/verify/". The address is appended.
	Path string
	// Timeout is how long one request may take. Zero is 15 seconds.
	Timeout time.Duration
	// CacheFor is how long an answer is remembered. Zero is a minute; negative remembers none. Failures are never remembered, and an
	// answer that is older is not used instead of one.
	CacheFor time.Duration
	// HTTPClient sends the requests. Nil is one of the registry's own. Redirects are not followed, whatever it says.
	HTTPClient *http.Client
	// Now is the clock that the cache goes by. Nil is the machine's.
	Now func() time.Time
}

const (
	defaultCacheFor = time.Minute
	// mostCached is how many answers are remembered at most.
	mostCached = 10_000
)

// Registry is a Source over HTTPS. Its methods may be called from several goroutines.
type Registry struct {
	service  *jsonapi.Service
	path     string
	cacheFor time.Duration
	now      func() time.Time

	lock   sync.Mutex
	cached map[solana.PublicKey]answer
}

type answer struct {
	trust Trust
	until time.Time
}

// NewRegistry makes a source of a registry. It does not ask it yet.
func NewRegistry(config RegistryConfig) (*Registry, error) {
	service, err := jsonapi.New(jsonapi.Config{
		Endpoint: config.Endpoint, APIKey: config.APIKey, Timeout: config.Timeout, HTTPClient: config.HTTPClient,
	})
	if err != nil {
		return nil, fmt.Errorf("haggle: identity: %w", err)
	}
	r := &Registry{service: service, path: config.Path, cacheFor: config.CacheFor, now: config.Now, cached: map[solana.PublicKey]answer{}}
	if r.path == "" {
		r.path = "api/verify/"
	}
	if r.cacheFor == 0 {
		r.cacheFor = defaultCacheFor
	}
	if r.now == nil {
		r.now = time.Now
	}
	return r, nil
}

// String is the registry's host.
func (r *Registry) String() string { return r.service.String() }

// Trust is what the registry says about an agent, now or not long ago.
func (r *Registry) Trust(ctx context.Context, agent solana.PublicKey) (Trust, error) {
	if trust, ok := r.remembered(agent); ok {
		return trust, nil
	}
	trust, err := r.ask(ctx, agent)
	if err != nil {
		return Trust{}, fmt.Errorf("haggle: identity: %w", err)
	}
	r.remember(agent, trust)
	return trust, nil
}

func (r *Registry) remembered(agent solana.PublicKey) (Trust, bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	known, ok := r.cached[agent]
	// An answer of a time that has not come yet is from before the clock was set back.
	if now := r.now(); !ok || !now.Before(known.until) || now.Before(known.until.Add(-r.cacheFor)) {
		return Trust{}, false
	}
	return known.trust, true
}

func (r *Registry) remember(agent solana.PublicKey, trust Trust) {
	if r.cacheFor < 0 {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if len(r.cached) >= mostCached {
		clear(r.cached)
	}
	r.cached[agent] = answer{trust: trust, until: r.now().Add(r.cacheFor)}
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
