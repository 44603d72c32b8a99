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

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
)

// Config says which chain a client talks to, and how.
type Config struct {
	// Endpoint is the URL of a node's JSON-RPC interface, http or https. It is required.
	Endpoint string
	// WSEndpoint is the URL of its WebSocket interface, ws or wss. By default it is derived from Endpoint as Solana's tools do:
	// the other scheme, and the next port where a port is given. Only subscriptions use it.
	WSEndpoint string
	// Commitment is how certain a state has to be to be read, and a transaction to be called done. By default
	// rpc.CommitmentConfirmed; rpc.CommitmentFinalized takes about 13 seconds longer. rpc.CommitmentProcessed is refused: what it
	// tells may never have happened.
	Commitment rpc.CommitmentType
	// MaxPriorityFee is the most that a transaction pays in lamports to be executed earlier, on top of 5,000 lamports per
	// signature. The client pays what the transaction's accounts have recently cost, up to that. Zero pays none.
	MaxPriorityFee uint64
	// PriorityFeePercentile says which of the recent fees of the accounts that a transaction writes it pays: 1 to 100, by default
	// 75, which is what three quarters of the recent blocks have asked at most.
	PriorityFeePercentile int
	// ComputeMarginPercent is how much more compute a transaction may consume than its simulation did, in percent. Zero is the
	// default of 10.
	ComputeMarginPercent int
	// Journal is where transactions are written down before they are sent, so that what has become of them is known after a crash:
	// see [Client.Recover]. Nil writes nothing.
	Journal Journal

	// Fallbacks are the URLs of more nodes of the same chain, http or https, for when the one at Endpoint is down, slow, limited or
	// behind: the first that is well is asked. A transaction is sent to several of them at once. Before the client decides about money
	// for the first time it asks all of them how far the chain has come, for up to 2 seconds, and believes none that is behind.
	Fallbacks []string
	// WSFallbacks are the URLs of their WebSocket interfaces, ws or wss. By default they are derived from Fallbacks as WSEndpoint is
	// from Endpoint.
	WSFallbacks []string
	// GenesisHash says which chain it has to be. With zero it is that of the node at Endpoint, or until that has answered of the first
	// of the Fallbacks that answers; a single node is then not asked.
	GenesisHash solana.Hash
	// RequestsPerSecond is the most that the client asks of each node; zero is no limit. A request that would be one too many goes
	// to another node, or waits.
	RequestsPerSecond float64
	// HedgeAfter is after how long a read that has not been answered is made of a second node too; the first good answer counts.
	// With zero that is when the node is slower than it is with nineteen of twenty requests; negative is never. It needs Fallbacks.
	HedgeAfter time.Duration
	// Source is where subscriptions learn that something has happened. Nil is the nodes' WebSocket interfaces.
	Source EventSource
	// HTTPClient sends the JSON-RPC requests. By default one of the client's own, with limits of 30 seconds and of
	// 128 MiB per request. Its CheckRedirect is not used: a node may redirect to its own host only.
	HTTPClient *http.Client

	// Logger is told what goes wrong with nodes; nil tells nobody. Nodes are named by their hosts, never by their whole URLs.
	Logger *slog.Logger
	// TracerProvider gets a span for each action and for each JSON-RPC call; nil is none.
	TracerProvider trace.TracerProvider
	// MeterProvider gets the metrics that the package's documentation lists; nil is none.
	MeterProvider metric.MeterProvider
}

// Client reads negotiations and acts on them. Its methods may be called from several goroutines.
type Client struct {
	rpc        *rpc.Client
	pool       *rpcpool.Pool
	logger     *slog.Logger
	telemetry  *telemetry
	wsEndpoint string
	// wsFallbacks are the WebSocket interfaces of the other nodes, in the order of Config.Fallbacks.
	wsFallbacks    []string
	commitment     rpc.CommitmentType
	maxPriorityFee uint64
	feePercentile  int
	computeMargin  uint64
	mints          mintCache
	// inFlight has the journal; nil if there is none.
	inFlight *inFlight
	statuses *statusPoller
	drafts   drafts
	// observers receive the outcomes of transactions.
	observers observers
	// resolving limits how many transactions are resolved in the background at once; background has the wallets whose
	// transactions are.
	resolving  chan struct{}
	background sync.Map
	// source gives the hints; nil is the nodes' WebSocket interfaces. stream is the one that all subscriptions share; nil until the
	// first one.
	source EventSource
	stream *stream

	// closing ends with Close, which then waits for what is running. The lock keeps anything from starting in between.
	closing context.Context
	close   context.CancelFunc
	lock    sync.Mutex
	running sync.WaitGroup
}

// NewClient makes a client. It does not connect yet.
func NewClient(config Config) (*Client, error) {
	// No error quotes an endpoint: it may contain a key.
	endpoint, err := parseEndpoint(config.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("haggle: Endpoint: %w", err)
	}
	if config.WSEndpoint == "" {
		if config.WSEndpoint, err = webSocketEndpoint(endpoint); err != nil {
			return nil, fmt.Errorf("haggle: WSEndpoint is not given and does not follow from Endpoint: %w", err)
		}
	} else if err := checkWebSocket(config.WSEndpoint); err != nil {
		return nil, fmt.Errorf("haggle: WSEndpoint: %w", err)
	}
	switch config.Commitment {
	case "":
		config.Commitment = rpc.CommitmentConfirmed
	case rpc.CommitmentConfirmed, rpc.CommitmentFinalized:
	default:
		return nil, fmt.Errorf("haggle: commitment %q: use %q or %q", config.Commitment, rpc.CommitmentConfirmed, rpc.CommitmentFinalized)
	}
	percentile, err := feePercentile(config.PriorityFeePercentile)
	if err != nil {
		return nil, err
	}
	margin, err := computeMargin(config.ComputeMarginPercent)
	if err != nil {
		return nil, err
	}
	if !(config.RequestsPerSecond >= 0) || math.IsInf(config.RequestsPerSecond, 0) {
		return nil, fmt.Errorf("haggle: RequestsPerSecond %v: it has to be zero or a positive number", config.RequestsPerSecond)
	}
	if config.HTTPClient == nil {
		config.HTTPClient = newHTTPClient()
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
		feePercentile:  percentile,
		computeMargin:  margin,
		inFlight:       newInFlight(config.Journal),
		resolving:      make(chan struct{}, resolversMost),
		source:         config.Source,
		logger:         config.Logger,
		telemetry:      telemetry,
	}
	if err := telemetry.watch(client.pool); err != nil {
		return nil, err
	}
	client.rpc = rpc.NewWithCustomRPCClient(nodes{client.pool})
	client.statuses = newStatusPoller(client)
	client.closing, client.close = context.WithCancel(context.Background())
	return client, nil
}

// commitmentOf returns the commitment at which an entry's transaction counts as confirmed.
func (c *Client) commitmentOf(entry *JournalEntry) rpc.CommitmentType {
	if entry.Commitment == "" {
		return c.commitment
	}
	return entry.Commitment
}

// RPC is the client's JSON-RPC client, for everything that is not Haggle's.
func (c *Client) RPC() *rpc.Client { return c.rpc }

// Close ends the client's subscriptions and releases its idle connections. Calling it again does nothing.
func (c *Client) Close() error {
	c.lock.Lock()
	c.close()
	c.lock.Unlock()
	c.running.Wait()
	return errors.Join(c.telemetry.unwatch(), c.rpc.Close())
}

// NodeHealth is what a client has learned of one of its nodes.
type NodeHealth struct {
	// Host is the node's, without the rest of its URL.
	Host string
	// Resting is until when the node is asked only if no other is well, or not at all because it has asked for that; zero if it is
	// well.
	Resting time.Time
	// Failures is how often in a row it has failed until now.
	Failures int
	// Requests is how often it has been asked, and Errors how often in vain.
	Requests, Errors uint64
	// Latency is what nineteen of twenty of its recent answers did not take longer than; zero if there are none yet. Of several
	// methods it is the slowest one's.
	Latency time.Duration
	// Slot is the newest that it has answered with, and Lag how many slots it was behind the newest that the client had seen when it
	// last answered.
	Slot, Lag uint64
	// Err is what was wrong with its last answer; nil if nothing was. It is ErrOtherCluster for good if the node is of another chain.
	Err error
}

// Nodes says how the client's nodes are: the one at Config.Endpoint, then those of Config.Fallbacks.
func (c *Client) Nodes() []NodeHealth {
	var all []NodeHealth
	for _, known := range c.pool.Health() {
		health := NodeHealth{
			Host: known.Host, Resting: known.Resting, Failures: known.Failures, Requests: known.Requests, Errors: known.Errors,
			Latency: known.Latency, Slot: known.Slot, Lag: known.Lag,
		}
		if known.Err != nil {
			health.Err = nodeError(known.Method, known.Err)
		}
		all = append(all, health)
	}
	return all
}

func newPool(config Config, telemetry *telemetry) *rpcpool.Pool {
	options := rpcpool.Options{
		GenesisHash: config.GenesisHash, RequestsPerSecond: config.RequestsPerSecond, HedgeAfter: config.HedgeAfter,
		Logger: config.Logger,
	}
	if telemetry != nil {
		options.Observer = telemetry
	}
	for _, endpoint := range append([]string{config.Endpoint}, config.Fallbacks...) {
		parsed, err := url.Parse(endpoint)
		if err != nil {
			continue // it has been parsed before
		}
		options.Nodes = append(options.Nodes, rpcpool.Node{Host: parsed.Host, Transport: rpcpool.NewHTTP(endpoint, config.HTTPClient)})
	}
	return rpcpool.New(options)
}

// fallbackWebSockets checks the other nodes' URLs, and finds out where their WebSocket interfaces are.
func fallbackWebSockets(config Config) ([]string, error) {
	if config.WSFallbacks != nil && len(config.WSFallbacks) != len(config.Fallbacks) {
		return nil, fmt.Errorf("haggle: there are %d WSFallbacks for %d Fallbacks", len(config.WSFallbacks), len(config.Fallbacks))
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
			return nil, fmt.Errorf("haggle: WSFallbacks are not given and do not follow from Fallbacks[%d]: %w", i, err)
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

// Limits of the client's own HTTP client. A node is asked several things at once; a listing may be long.
const (
	requestTimeout      = 30 * time.Second
	connectTimeout      = 10 * time.Second
	connectionsPerNode  = 16
	idleConnectionsKept = 90 * time.Second
)

func newHTTPClient() *http.Client {
	return &http.Client{
		Timeout: requestTimeout,
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: connectTimeout, KeepAlive: connectTimeout}).DialContext,
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
		return nil, errors.New("the URL names no host")
	}
	if text := parsed.Port(); text != "" {
		if _, err := strconv.ParseUint(text, 10, 16); err != nil {
			return nil, errors.New("not a port")
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
			return "", errors.New("there is no port after " + text)
		}
		derived.Host = net.JoinHostPort(endpoint.Hostname(), strconv.FormatUint(port+1, 10))
	}
	return derived.String(), nil
}
