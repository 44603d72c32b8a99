// Package rpcpool combines several JSON-RPC nodes on the same chain and checks their responses against each
// other.
//
// A read goes to the fittest healthy endpoint, to a second endpoint too if that is slow, and to the others if
// it fails; it never returns a state before a slot that an earlier read showed. A transaction goes to several
// endpoints at once. An endpoint that fails receives no requests for a while, or for the Retry-After period.
package rpcpool

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"golang.org/x/time/rate"
)

// Node is an endpoint: a name and a transport.
type Node struct {
	// Host names the endpoint in logs and errors. It has no path and no query, because these contain keys.
	Host      string
	Transport Transport
}

// Options configure a pool.
type Options struct {
	// Nodes lists the endpoints, the preferred endpoints first; at least one.
	Nodes []Node
	// GenesisHash identifies the cluster of the endpoints. If zero, the first endpoint determines it; until
	// that responds, the endpoint that responds first.
	GenesisHash solana.Hash
	// RequestsPerSecond limits the requests to each endpoint. If zero, there is no limit.
	RequestsPerSecond float64
	// HedgeAfter is the time until a second endpoint receives a read too. If zero, it adapts to the endpoint;
	// if negative, there are no hedges.
	HedgeAfter time.Duration
	// Logger logs endpoints that fail and recover.
	Logger *slog.Logger
	// Observer observes calls; nil is none.
	Observer Observer
}

// Pool sends requests to endpoints. It is safe for concurrent use.
type Pool struct {
	endpoints  []*endpoint
	cluster    cluster
	slots      slots
	slotSync   slotSync
	hedges     hedgeBudget
	hedgeAfter time.Duration
	logger     *slog.Logger
	observer   Observer

	closing context.Context
	close   context.CancelFunc
	lock    sync.Mutex
	running sync.WaitGroup
}

// New returns a pool and sends nothing.
func New(options Options) *Pool {
	pool := &Pool{
		cluster:    cluster{genesis: options.GenesisHash, pinned: !options.GenesisHash.IsZero()},
		hedgeAfter: options.HedgeAfter,
		logger:     options.Logger,
		observer:   options.Observer,
	}
	pool.closing, pool.close = context.WithCancel(context.Background())
	// A single node cannot contradict others about the cluster.
	skipCheck := len(options.Nodes) == 1 && options.GenesisHash.IsZero()
	for i, node := range options.Nodes {
		e := &endpoint{index: i, host: node.Host, transport: node.Transport, admitting: make(chan struct{}, 1)}
		e.admitted.Store(skipCheck)
		if options.RequestsPerSecond > 0 {
			e.limiter = rate.NewLimiter(rate.Limit(options.RequestsPerSecond), max(1, int(options.RequestsPerSecond)))
		}
		pool.endpoints = append(pool.endpoints, e)
	}
	return pool
}

// Close cancels the requests that still run after their calls returned, and releases idle connections.
func (p *Pool) Close() {
	p.lock.Lock()
	p.close()
	p.lock.Unlock()
	p.running.Wait()
	for _, e := range p.endpoints {
		e.transport.CloseIdleConnections()
	}
}

// ErrClosed: the pool has been closed.
var ErrClosed = errors.New("the client is closed")

// start runs a function that Close waits for. It returns false if the pool is closed.
func (p *Pool) start(run func()) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.closing.Err() != nil {
		return false
	}
	p.running.Go(run)
	return true
}

// Call sends a request and decodes the result into out, which does not change if there is an error.
func (p *Pool) Call(ctx context.Context, out any, method string, params []any) error {
	request := newRequest(method, params, out)
	if request.kind == broadcast {
		return p.observed(ctx, request, p.broadcast)
	}
	return p.observed(ctx, request, p.retry)
}

// observed makes a call, and reports its beginning and end to the observer.
func (p *Pool) observed(
	ctx context.Context, r *request, call func(context.Context, *request) error,
) error {
	if p.observer != nil {
		ctx, r.observation = p.observer.Begin(ctx, r.method)
	}
	err := r.outErr
	if err == nil {
		err = call(ctx, r)
	}
	if r.observation != nil {
		r.observation.End(err)
	}
	return err
}
