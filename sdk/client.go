package haggle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
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
	// HTTPClient sends the JSON-RPC requests. By default one of the client's own, with limits of 30 seconds and of
	// 128 MiB per request.
	HTTPClient *http.Client
}

// Client reads negotiations and acts on them. Its methods may be called from several goroutines.
type Client struct {
	rpc            *rpc.Client
	wsEndpoint     string
	commitment     rpc.CommitmentType
	maxPriorityFee uint64
	mints          mintCache

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
	} else if parsed, err := url.Parse(config.WSEndpoint); err != nil || parsed.Scheme != "ws" && parsed.Scheme != "wss" {
		return nil, errors.New("haggle: WSEndpoint: not a ws or wss URL")
	}
	switch config.Commitment {
	case "":
		config.Commitment = rpc.CommitmentConfirmed
	case rpc.CommitmentConfirmed, rpc.CommitmentFinalized:
	default:
		return nil, fmt.Errorf("haggle: commitment %q: use %q or %q", config.Commitment, rpc.CommitmentConfirmed, rpc.CommitmentFinalized)
	}
	if config.HTTPClient == nil {
		config.HTTPClient = newHTTPClient()
	}
	transport := jsonrpc.NewClientWithOpts(config.Endpoint, &jsonrpc.RPCClientOpts{HTTPClient: config.HTTPClient})
	client := &Client{
		rpc:            rpc.NewWithCustomRPCClient(node{transport}),
		wsEndpoint:     config.WSEndpoint,
		commitment:     config.Commitment,
		maxPriorityFee: config.MaxPriorityFee,
	}
	client.closing, client.close = context.WithCancel(context.Background())
	return client, nil
}

// RPC is the client's JSON-RPC client, for everything that is not Haggle's.
func (c *Client) RPC() *rpc.Client { return c.rpc }

// Close ends the client's subscriptions and releases its idle connections. Calling it again does nothing.
func (c *Client) Close() error {
	c.lock.Lock()
	c.close()
	c.lock.Unlock()
	c.running.Wait()
	return c.rpc.Close()
}

// Limits of the client's own HTTP client. A node is asked several things at once; a listing may be long.
const (
	requestTimeout      = 30 * time.Second
	connectTimeout      = 10 * time.Second
	connectionsPerNode  = 16
	idleConnectionsKept = 90 * time.Second
	// answerLimit is room for more than 100,000 negotiations.
	answerLimit = 128 << 20
)

func newHTTPClient() *http.Client {
	return &http.Client{
		Timeout: requestTimeout,
		Transport: &boundedTransport{limit: answerLimit, Transport: http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: connectTimeout, KeepAlive: connectTimeout}).DialContext,
			ForceAttemptHTTP2:     true,
			MaxIdleConns:          connectionsPerNode,
			MaxIdleConnsPerHost:   connectionsPerNode,
			IdleConnTimeout:       idleConnectionsKept,
			TLSHandshakeTimeout:   connectTimeout,
			ExpectContinueTimeout: time.Second,
		}},
	}
}

// boundedTransport cuts an answer off that would not fit into memory.
type boundedTransport struct {
	http.Transport
	// limit is in bytes.
	limit int64
}

func (t *boundedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.Transport.RoundTrip(request)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, t.limit)
	}
	return response, err
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

// sleep waits, unless the context ends first.
func sleep(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
