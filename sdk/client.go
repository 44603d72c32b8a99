package haggle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/internal/fifocache"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/feed"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Config configures a client.
type Config struct {
	// Endpoint is the URL of a node's JSON-RPC interface, http or https. It is required.
	Endpoint string
	// WSEndpoint is the URL of the node's WebSocket interface, ws or wss. By default it is derived from
	// Endpoint as Solana's tools do: with scheme ws or wss, and the next port if a port is given. It serves
	// subscriptions alone.
	WSEndpoint string
	// Commitment is the commitment for reading state and for counting a transaction as done. By default it is
	// rpc.CommitmentConfirmed; rpc.CommitmentFinalized takes about 13 seconds longer. rpc.CommitmentProcessed
	// is refused, because a processed block can be dropped.
	Commitment rpc.CommitmentType
	// MaxPriorityFee is the most paid per transaction for earlier execution, in lamports, on top of 5,000
	// lamports per signature. Up to that, the client pays the fee that sufficed in three quarters of the
	// recent blocks for the transaction's accounts. If zero, no priority fee is paid.
	MaxPriorityFee uint64
	// Journal records each transaction before it is sent, so the outcome can be found after a crash: see
	// [Client.Recover]. Several clients can share a store. If nil, nothing is recorded.
	Journal JournalStore

	// Fallbacks lists the URLs of more nodes of the same chain, http or https, for when the node at Endpoint
	// is down, slow, limited or behind: the first healthy node serves the request. A transaction is sent to
	// several nodes at once. Before the first decision about money the client requests the slot of all nodes,
	// for up to 2 seconds, and then uses no response from a node that is behind.
	Fallbacks []string
	// WSFallbacks lists the URLs of their WebSocket interfaces, ws or wss. By default they are derived from
	// Fallbacks as WSEndpoint is from Endpoint.
	WSFallbacks []string
	// GenesisHash is the genesis hash that the chain must have. If zero, the node at Endpoint determines it,
	// or until that node responds, the first of the Fallbacks to respond; with a single node it is not
	// checked.
	GenesisHash solana.Hash
	// RequestsPerSecond is the most requests that the client sends to each node per second; zero is no limit.
	// A request above it goes to another node, or waits.
	RequestsPerSecond float64
	// HedgeAfter is the time until an unanswered read is also sent to a second node; the first good response
	// counts. If zero, it is the time that suffices for nineteen of twenty requests to the node; a negative
	// time turns this off. It needs Fallbacks.
	HedgeAfter time.Duration
	// Source notifies subscriptions of new transactions. If nil, the nodes' WebSocket interfaces are used.
	Source events.Source
	// HTTPClient sends the JSON-RPC requests. By default the client creates it, with limits of 30 seconds and
	// 128 MiB per request. CheckRedirect is not used: nodes may redirect to the same host only.
	HTTPClient *http.Client
	// DialContext opens the connections for WebSockets and the client's own HTTPClient. If nil, they are TCP
	// connections, or use the proxy that the environment names.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)

	// Logger logs failures and recoveries of nodes. If nil, nothing is logged. It names nodes by their hosts,
	// never by their whole URLs.
	Logger *slog.Logger
	// TracerProvider receives a span for each action and JSON-RPC call; nil turns tracing off.
	TracerProvider trace.TracerProvider
	// MeterProvider receives the metrics that the package's documentation lists; nil turns metrics off.
	MeterProvider metric.MeterProvider
}

// Client reads negotiations and acts on them. It is safe for concurrent use.
type Client struct {
	rpc        *rpc.Client
	pool       *rpcpool.Pool
	logger     *slog.Logger
	telemetry  *telemetry
	wsEndpoint string
	// wsFallbacks holds the remaining nodes' WebSocket interfaces, in Config.Fallbacks order.
	wsFallbacks    []string
	commitment     rpc.CommitmentType
	maxPriorityFee uint64
	// mints caches the mints that cannot change.
	mints *fifocache.Map[solana.PublicKey, token.Mint]
	// compared holds the mints whose decimals no node contradicts.
	compared *fifocache.Map[solana.PublicKey, struct{}]
	// inFlight uses the journal; nil if there is none.
	inFlight *inFlight
	sender   *send.Sender
	// prepared holds the descriptions of the latest transactions that this client built.
	prepared *fifocache.Map[messageHash, preparedTx]
	// observers are notified of final outcomes. settlements holds the latest outcomes that this client
	// proved.
	observers   observers
	settlements *fifocache.Map[solana.Signature, settlement]
	// resolving limits the number of transactions that are resolved in the background at once; background
	// holds their wallets.
	resolving  chan struct{}
	background sync.Map
	// source sends the hints; nil is the nodes' WebSocket interfaces. feed is shared by all subscriptions;
	// nil before the first subscription.
	source events.Source
	feed   *feed.Feed
	// dial opens the connections of WebSockets; nil is TCP.
	dial feed.Dial

	// closing ends with Close, which then waits for running. The lock ensures that nothing starts in between.
	closing context.Context
	close   context.CancelFunc
	lock    sync.Mutex
	running sync.WaitGroup
}

// NewClient returns a client. It sends no requests.
func NewClient(config Config) (*Client, error) {
	// No error quotes an endpoint, because it may contain a key.
	endpoint, err := parseEndpoint(config.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("haggle: Endpoint: %w", err)
	}
	if config.WSEndpoint == "" {
		if config.WSEndpoint, err = webSocketEndpoint(endpoint); err != nil {
			return nil, fmt.Errorf("haggle: WSEndpoint not set, and cannot be derived from Endpoint: %w", err)
		}
	} else if err := checkWebSocket(config.WSEndpoint); err != nil {
		return nil, fmt.Errorf("haggle: WSEndpoint: %w", err)
	}
	if config.Commitment, err = commitmentOr(config.Commitment, rpc.CommitmentConfirmed); err != nil {
		return nil, err
	}
	if !(config.RequestsPerSecond >= 0) || math.IsInf(config.RequestsPerSecond, 0) {
		return nil, fmt.Errorf("haggle: RequestsPerSecond must be zero or positive: %v",
			config.RequestsPerSecond)
	}
	if config.HTTPClient == nil {
		config.HTTPClient = newHTTPClient(config.DialContext)
	}
	wsFallbacks, err := fallbackWebSockets(config)
	if err != nil {
		return nil, err
	}
	telemetry, err := newTelemetry(config.TracerProvider, config.MeterProvider)
	if err != nil {
		return nil, err
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	client := &Client{
		pool:           newPool(config, telemetry),
		wsEndpoint:     config.WSEndpoint,
		wsFallbacks:    wsFallbacks,
		commitment:     config.Commitment,
		maxPriorityFee: config.MaxPriorityFee,
		mints:          fifocache.NewMap[solana.PublicKey, token.Mint](mintsKept),
		compared:       fifocache.NewMap[solana.PublicKey, struct{}](mintsKept),
		prepared:       fifocache.NewMap[messageHash, preparedTx](maxPrepared),
		settlements:    fifocache.NewMap[solana.Signature, settlement](maxSettlements),
		resolving:      make(chan struct{}, maxResolvers),
		source:         config.Source,
		dial:           config.DialContext,
		logger:         config.Logger,
		telemetry:      telemetry,
	}
	if err := telemetry.watch(client.pool); err != nil {
		return nil, err
	}
	client.rpc = rpc.NewWithCustomRPCClient(nodes{pool: client.pool})
	client.inFlight = newInFlight(config.Journal)
	client.closing, client.close = context.WithCancel(context.Background())
	client.sender = send.New(send.Options{
		RPC: client.rpc, Pool: client.pool, Node: clientOfNode, Commitment: client.commitment,
		Closing: client.closing, Closed: ErrClientClosed, Start: client.start, Explain: explainFailure,
		Logger: client.logger,
	})
	return client, nil
}

// commitmentOf returns the commitment required to confirm an entry's transaction.
func (c *Client) commitmentOf(entry *JournalEntry) rpc.CommitmentType {
	if entry.Commitment == "" {
		return c.commitment
	}
	return entry.Commitment
}

// start runs a function that Close waits for. It returns false if the client is closed.
func (c *Client) start(run func()) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closing.Err() != nil {
		return false
	}
	c.running.Go(run)
	return true
}

// RPC returns the client's JSON-RPC client, for requests that do not concern Haggle. It sends single
// requests: batches, and requests with a callback, are errors.
func (c *Client) RPC() *rpc.Client { return c.rpc }

// Close ends the client's subscriptions, leases on journal entries and idle connections. Calling it again
// does nothing.
func (c *Client) Close() error {
	c.lock.Lock()
	c.close()
	c.lock.Unlock()
	c.sharedFeed().Close()
	c.running.Wait()
	return errors.Join(c.inFlight.close(), c.telemetry.unwatch(), c.rpc.Close())
}

// Nodes returns the health of the client's nodes: first Config.Endpoint, then Config.Fallbacks.
func (c *Client) Nodes() []transaction.NodeHealth {
	all := c.pool.Health()
	for i := range all {
		all[i].Err = nodeError(all[i].Method, all[i].Err)
	}
	return all
}

func newPool(config Config, telemetry *telemetry) *rpcpool.Pool {
	options := rpcpool.Options{
		GenesisHash: config.GenesisHash, RequestsPerSecond: config.RequestsPerSecond,
		HedgeAfter: config.HedgeAfter,
		Logger:     config.Logger,
	}
	if telemetry != nil {
		options.Observer = telemetry
	}
	for _, endpoint := range append([]string{config.Endpoint}, config.Fallbacks...) {
		parsed, err := url.Parse(endpoint)
		if err != nil {
			continue // NewClient parsed it
		}
		options.Nodes = append(options.Nodes,
			rpcpool.Node{Host: parsed.Host, Transport: rpcpool.NewHTTP(endpoint, config.HTTPClient)})
	}
	return rpcpool.New(options)
}

// fallbackWebSockets checks the remaining nodes' URLs and returns the URLs of their WebSocket interfaces.
func fallbackWebSockets(config Config) ([]string, error) {
	if config.WSFallbacks != nil && len(config.WSFallbacks) != len(config.Fallbacks) {
		return nil, fmt.Errorf("haggle: WSFallbacks: %d URLs for %d Fallbacks", len(config.WSFallbacks),
			len(config.Fallbacks))
	}
	var found []string
	for i, fallback := range config.Fallbacks {
		parsed, err := parseEndpoint(fallback)
		if err != nil {
			return nil, fmt.Errorf("haggle: Fallbacks[%d]: %w", i, err)
		}
		if config.WSFallbacks != nil {
			if err := checkWebSocket(config.WSFallbacks[i]); err != nil {
				return nil, fmt.Errorf("haggle: WSFallbacks[%d]: %w", i, err)
			}
			found = append(found, config.WSFallbacks[i])
			continue
		}
		derived, err := webSocketEndpoint(parsed)
		if err != nil {
			return nil, fmt.Errorf("haggle: WSFallbacks not set, and cannot be derived from Fallbacks[%d]: %w", i, err)
		}
		found = append(found, derived)
	}
	return found, nil
}

func checkWebSocket(endpoint string) error {
	parsed, err := url.Parse(endpoint)
	if err != nil || parsed.Scheme != "ws" && parsed.Scheme != "wss" {
		return errors.New("not a ws or wss URL")
	}
	return nil
}

// Limits of the client's own HTTP client. A node receives several requests at once; a listing may be long.
const (
	requestTimeout      = 30 * time.Second
	connectTimeout      = 10 * time.Second
	connectionsPerNode  = 16
	idleConnectionsKept = 90 * time.Second
)

func newHTTPClient(dial feed.Dial) *http.Client {
	proxy := http.ProxyFromEnvironment
	if dial == nil {
		dial = (&net.Dialer{Timeout: connectTimeout, KeepAlive: connectTimeout}).DialContext
	} else {
		proxy = nil
	}
	return &http.Client{
		Timeout: requestTimeout,
		Transport: &http.Transport{
			Proxy:                 proxy,
			DialContext:           dial,
			ForceAttemptHTTP2:     true,
			MaxIdleConns:          connectionsPerNode,
			MaxIdleConnsPerHost:   connectionsPerNode,
			IdleConnTimeout:       idleConnectionsKept,
			TLSHandshakeTimeout:   connectTimeout,
			ExpectContinueTimeout: time.Second,
		},
	}
}

func parseEndpoint(endpoint string) (*url.URL, error) {
	parsed, err := url.Parse(endpoint)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	if parsed.Scheme != "http" && parsed.Scheme != "https" {
		return nil, errors.New("not an http or https URL")
	}
	if parsed.Hostname() == "" {
		return nil, errors.New("URL has no host")
	}
	if text := parsed.Port(); text != "" {
		if _, err := strconv.ParseUint(text, 10, 16); err != nil {
			return nil, errors.New("invalid port")
		}
	}
	return parsed, nil
}

func webSocketEndpoint(endpoint *url.URL) (string, error) {
	derived := *endpoint
	derived.Scheme = "ws"
	if endpoint.Scheme == "https" {
		derived.Scheme = "wss"
	}
	if text := endpoint.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == math.MaxUint16 {
			return "", errors.New("no port after " + text)
		}
		derived.Host = net.JoinHostPort(endpoint.Hostname(), strconv.FormatUint(port+1, 10))
	}
	return derived.String(), nil
}
