// Package rpcpool asks several JSON-RPC nodes of one chain as if they were one, without believing any of them more than it has to.
//
// A read goes to the first endpoint that is well, to a second one too when the first is slow, and to the others when it fails; it
// never goes back behind a slot that an earlier read has shown. A transaction goes to several endpoints at once. An endpoint that
// fails is left alone for a while, or for as long as it asks to be.
package rpcpool

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"golang.org/x/time/rate"
)

// Node is an endpoint: where it is, for people, and how it is asked.
type Node struct {
	// Host names the endpoint; it has no path and no query, because those contain keys.
	Host      string
	Transport Transport
}

// Options are a pool's.
type Options struct {
	// Nodes are the endpoints, the preferred ones first; at least one.
	Nodes []Node
	// GenesisHash says which cluster the endpoints have to be of; zero is that of the first one, or until that has answered the
	// one that answers first, if there are several.
	GenesisHash solana.Hash
	// RequestsPerSecond is the most that each endpoint is asked; zero is no limit.
	RequestsPerSecond float64
	// HedgeAfter is after how long a second endpoint is asked too; zero adapts to the endpoint, negative is never.
	HedgeAfter time.Duration
	// Logger is told of endpoints that fail and recover.
	Logger *slog.Logger
	// Observer is told of calls; nil if nobody is.
	Observer Observer
}

// Pool asks endpoints. It may be used by several goroutines.
type Pool struct {
	endpoints   []*endpoint
	cluster     cluster
	slots       slots
	orientation orientation
	hedges      hedgeBudget
	hedgeAfter  time.Duration
	logger      *slog.Logger
	observer    Observer

	closing context.Context
	close   context.CancelFunc
	lock    sync.Mutex
	running sync.WaitGroup
}

// New makes a pool. It asks nobody yet.
func New(options Options) *Pool {
	pool := &Pool{
		cluster:    cluster{genesis: options.GenesisHash, pinned: !options.GenesisHash.IsZero()},
		hedgeAfter: options.HedgeAfter,
		logger:     options.Logger,
		observer:   options.Observer,
	}
	pool.closing, pool.close = context.WithCancel(context.Background())
	// A single node has nobody to be mixed up with.
	skipCheck := len(options.Nodes) == 1 && options.GenesisHash.IsZero()
	for i, node := range options.Nodes {
		e := &endpoint{index: i, host: node.Host, transport: node.Transport, meeting: make(chan struct{}, 1)}
		e.met.Store(skipCheck)
		if options.RequestsPerSecond > 0 {
			e.limiter = rate.NewLimiter(rate.Limit(options.RequestsPerSecond), max(1, int(options.RequestsPerSecond)))
		}
		pool.endpoints = append(pool.endpoints, e)
	}
	return pool
}

// Close ends what is left of calls that have been answered, and releases idle connections.
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

// start runs something that Close waits for; false if the pool is closed.
func (p *Pool) start(run func()) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.closing.Err() != nil {
		return false
	}
	p.running.Go(run)
	return true
}

// Call makes a request and decodes its result into out, which stays as it is if there is an error.
func (p *Pool) Call(ctx context.Context, out any, method string, params []any) error {
	if p.observer == nil {
		return p.call(ctx, newRequest(method, params, out))
	}
	request := newRequest(method, params, out)
	ctx, request.observation = p.observer.Begin(ctx, method)
	err := p.call(ctx, request)
	request.observation.End(err)
	return err
}

func (p *Pool) call(ctx context.Context, request *request) error {
	if request.kind == broadcast {
		return p.broadcast(ctx, request)
	}
	return p.ask(ctx, request)
}

// Callback makes a request of the first endpoint that is well, and leaves its answer to the callback.
func (p *Pool) Callback(ctx context.Context, method string, params []any, callback func(*http.Request, *http.Response) error) error {
	return p.passOn(ctx, method, func(ctx context.Context, transport Transport) error {
		return transport.Callback(ctx, method, params, callback)
	})
}

// Batch makes several requests at once, of the first endpoint that is well.
func (p *Pool) Batch(ctx context.Context, requests jsonrpc.RPCRequests) (jsonrpc.RPCResponses, error) {
	var responses jsonrpc.RPCResponses
	err := p.passOn(ctx, "batch", func(ctx context.Context, transport Transport) (err error) {
		responses, err = transport.Batch(ctx, requests)
		return err
	})
	return responses, err
}

// passOn has something done at the first endpoint that is well. What it is and whether it may be done again is not known here.
func (p *Pool) passOn(ctx context.Context, method string, do func(context.Context, Transport) error) error {
	request := newRequest(method, nil, nil)
	var e *endpoint
	for e == nil {
		if err := p.awaitAnyone(ctx, request, nil); err != nil {
			return err
		}
		if never, banned := p.nobody(); banned {
			return p.failed([]Failure{never})
		}
		e = p.next(request, nil)
	}
	err := p.admit(ctx, e, new(stopwatch))
	if err == nil {
		err = e.await(ctx)
	}
	if err == nil {
		err = do(ctx, e.transport)
	}
	if err != nil {
		return p.failed([]Failure{e.failure(err)})
	}
	return nil
}
