package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Defaults of Options.
const (
	DefaultMaxDelay   = 500 * time.Millisecond
	DefaultRetryAfter = time.Second
	DefaultLag        = 10
)

// Options say which node a proxy is in front of, and how it misbehaves.
type Options struct {
	// RPCURL is the node's JSON-RPC interface, http or https, and WSURL its WebSocket interface, ws or wss. Both are required.
	RPCURL, WSURL string
	// Seed decides what happens to which request.
	Seed uint64
	// Rates say how often faults happen; without any the proxy passes everything on as it is.
	Rates Rates
	// MaxDelay is the longest that a request or a notification is delayed. Zero is DefaultMaxDelay.
	MaxDelay time.Duration
	// RetryAfter is what 429 asks for, in whole seconds. Zero is DefaultRetryAfter.
	RetryAfter time.Duration
	// Lag is how many slots behind a stale answer is at least; it is at most five times that. Zero is DefaultLag.
	Lag uint64
	// Past is what can be repeated as a stale answer. Nil is what has gone through this proxy.
	Past *Past
	// Sent is told of each transaction that the node has answered, before the client is, with the path of the client's URL: clients
	// that are given different paths can be told apart. Nil is not told.
	Sent func(path string)
}

// Proxy is in front of a node, on a port of its own of this machine, for HTTP and WebSocket alike.
type Proxy struct {
	options  Options
	dice     *dice
	tally    tally
	address  string
	server   *http.Server
	client   *http.Client
	dialer   websocket.Dialer
	upgrader websocket.Upgrader

	closing context.Context
	close   context.CancelFunc
	lock    sync.Mutex
	running sync.WaitGroup
	served  chan error
}

// Start starts a proxy. It runs until Close.
func Start(options Options) (*Proxy, error) {
	if err := options.Rates.check(); err != nil {
		return nil, err
	}
	for _, address := range []string{options.RPCURL, options.WSURL} {
		if parsed, err := url.Parse(address); err != nil || parsed.Host == "" {
			return nil, fmt.Errorf("faults: %q is no URL of a node", address)
		}
	}
	if options.MaxDelay < 0 || options.RetryAfter < 0 {
		return nil, errors.New("faults: MaxDelay and RetryAfter cannot be negative")
	}
	options.MaxDelay = cmp.Or(options.MaxDelay, DefaultMaxDelay)
	options.RetryAfter = cmp.Or(options.RetryAfter, DefaultRetryAfter)
	options.Lag = cmp.Or(options.Lag, DefaultLag)
	if options.Past == nil {
		options.Past = NewPast()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("faults: %w", err)
	}
	p := &Proxy{
		options: options,
		dice:    newDice(options.Seed),
		address: listener.Addr().String(),
		client:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connectionsKept}, Timeout: nodeLimit},
		dialer:  websocket.Dialer{HandshakeTimeout: nodeLimit},
		// A node serves pages of any origin, too.
		upgrader: websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }},
		served:   make(chan error, 1),
	}
	p.closing, p.close = context.WithCancel(context.Background())
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: nodeLimit}
	go func() { p.served <- p.server.Serve(listener) }()
	return p, nil
}

const (
	// connectionsKept is how many idle connections to the node are kept.
	connectionsKept = 64
	// nodeLimit is how long the node may take for anything.
	nodeLimit = 30 * time.Second
)

// URL is the proxy's JSON-RPC endpoint. A path may follow it, which the node does not get to see.
func (p *Proxy) URL() string { return "http://" + p.address }

// WSURL is the proxy's WebSocket endpoint.
func (p *Proxy) WSURL() string { return "ws://" + p.address }

// Counts say what has happened until now.
func (p *Proxy) Counts() Counts { return p.tally.read() }

// Close ends all connections and returns when nothing of the proxy runs any more. Calling it again does nothing.
func (p *Proxy) Close() error {
	p.lock.Lock()
	first := p.closing.Err() == nil
	p.close()
	p.lock.Unlock()
	if !first {
		return nil
	}
	err := p.server.Close()
	if served := <-p.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	p.running.Wait()
	p.client.CloseIdleConnections()
	return err
}

// enter has Close wait for something; false if the proxy is closed.
func (p *Proxy) enter() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.closing.Err() != nil {
		return false
	}
	p.running.Add(1)
	return true
}

// ServeHTTP takes a request, or a WebSocket connection.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.running.Done()
	if websocket.IsWebSocketUpgrade(r) {
		p.connect(w, r)
		return
	}
	p.request(w, r)
}

// sleep waits, unless the context ends first.
func sleep(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
