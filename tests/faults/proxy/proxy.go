package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
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

// Options configures a proxy's node and faults.
type Options struct {
	// RPCURL is the node's JSON-RPC interface, http or https, and WSURL the WebSocket interface, ws or wss.
	// Both are required.
	RPCURL, WSURL string
	// Seed determines the faults.
	Seed uint64
	// Rates holds the fault rates. If nil, the proxy passes everything on.
	Rates Rates
	// Lies change every response that they concern. Stale responses and notifications are true.
	Lies []Lie
	// MaxDelay is the longest delay for a request or notification. If zero, DefaultMaxDelay is used.
	MaxDelay time.Duration
	// RetryAfter is the Retry-After value sent with status 429, in whole seconds. If zero, DefaultRetryAfter
	// is used.
	RetryAfter time.Duration
	// Lag is the least age for stale responses, in slots; the largest age is five times Lag. If zero,
	// DefaultLag is used.
	Lag uint64
	// Past contains the responses that can be returned as stale. If nil, only this proxy's responses are
	// used.
	Past *Past
	// Sent is called with each transaction that the node has responded to, before the response is returned,
	// with the path of the client's URL, so that clients with different paths can be distinguished. It may be
	// nil.
	Sent func(path string)
}

// Proxy is a proxy in front of a node, using a separate local port for HTTP and WebSocket.
type Proxy struct {
	options  Options
	dice     *dice
	stats    stats
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
	for _, lie := range options.Lies {
		if !slices.Contains(Lies(), lie) {
			return nil, fmt.Errorf("faults: there is no lie %q", lie)
		}
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
		// A node also serves pages of any origin.
		upgrader: websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }},
		served:   make(chan error, 1),
	}
	p.closing, p.close = context.WithCancel(context.Background())
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: nodeLimit}
	go func() { p.served <- p.server.Serve(listener) }()
	return p, nil
}

const (
	// connectionsKept is the number of idle connections to the node that are kept.
	connectionsKept = 64
	// nodeLimit is the time limit for the node's responses.
	nodeLimit = 30 * time.Second
)

// URL returns the proxy's JSON-RPC endpoint. A path may follow it, which is not passed on.
func (p *Proxy) URL() string { return "http://" + p.address }

// WSURL returns the proxy's WebSocket endpoint.
func (p *Proxy) WSURL() string { return "ws://" + p.address }

// Counts returns the counts so far.
func (p *Proxy) Counts() Counts { return p.stats.read() }

// Close ends all connections and waits until all goroutines of the proxy have ended. A second call does
// nothing.
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

// enter makes Close wait until leave is called. It returns false if the proxy is closed.
func (p *Proxy) enter() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.closing.Err() != nil {
		return false
	}
	p.running.Add(1)
	return true
}

// ServeHTTP serves a request or a WebSocket connection.
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

// sleep waits for a duration or the end of the context.
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
