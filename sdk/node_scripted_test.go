package haggle

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
)

// busyAttempts is how often a node is asked that is always too busy.
const busyAttempts = rpcpool.BusyRounds

// node is the JSON-RPC client of a node that a test plays.
type node struct {
	jsonrpc.RPCClient
}

// scriptedPools are those of the nodes, which remember what they have been told.
var scriptedPools sync.Map

func (n node) pool() *rpcpool.Pool {
	pool, known := scriptedPools.Load(n.RPCClient)
	if !known {
		pool, _ = scriptedPools.LoadOrStore(n.RPCClient, scriptedPool(n.RPCClient))
	}
	return pool.(*rpcpool.Pool)
}

// talkTo has a client talk to nodes that a test plays.
func (c *Client) talkTo(played ...jsonrpc.RPCClient) {
	if len(played) == 1 {
		c.pool = node{played[0]}.pool()
		c.rpc = rpc.NewWithCustomRPCClient(node{played[0]})
		return
	}
	c.pool = scriptedPool(played...)
	c.rpc = rpc.NewWithCustomRPCClient(nodes{c.pool})
}

func (n node) CallForInto(ctx context.Context, out any, method string, params []any) error {
	return nodes{n.pool()}.CallForInto(ctx, out, method, params)
}

func (n node) Close() error { return nodes{n.pool()}.Close() }

// scriptedPool is a pool of nodes that a test plays, named one, two and so on.
func scriptedPool(clients ...jsonrpc.RPCClient) *rpcpool.Pool {
	options := rpcpool.Options{Logger: slog.New(slog.DiscardHandler)}
	for i, client := range clients {
		options.Nodes = append(options.Nodes, rpcpool.Node{Host: []string{"one", "two", "three"}[i], Transport: scriptedTransport{client}})
	}
	return rpcpool.New(options)
}

// scriptedTransport asks a node that a test plays.
type scriptedTransport struct {
	client jsonrpc.RPCClient
}

func (s scriptedTransport) Call(ctx context.Context, method string, params []any) (result json.RawMessage, err error) {
	err = s.client.CallForInto(ctx, &result, method, params)
	return result, err
}

func (s scriptedTransport) Callback(ctx context.Context, method string, params []any, callback func(*http.Request, *http.Response) error) error {
	return s.client.CallWithCallback(ctx, method, params, callback)
}

func (s scriptedTransport) Batch(ctx context.Context, requests jsonrpc.RPCRequests) (jsonrpc.RPCResponses, error) {
	return s.client.CallBatch(ctx, requests)
}

func (s scriptedTransport) Stream(ctx context.Context, method string, params []any) (*rpcpool.Stream, error) {
	result, err := s.Call(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return &rpcpool.Stream{Body: io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","result":` + string(result) + `}`))}, nil
}

func (s scriptedTransport) CloseIdleConnections() {}
