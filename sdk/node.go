package haggle

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// malformed returns a [transaction.ErrMalformed] with a description.
func malformed(text string, values ...any) error {
	return fmt.Errorf("haggle: %w", rpcpool.Malformed(text, values...))
}

// nodes is the JSON-RPC client that sends requests through the pool and returns errors of this package.
type nodes struct {
	oneByOne
	pool *rpcpool.Pool
}

// CallForInto sends a request and decodes the result.
func (n nodes) CallForInto(ctx context.Context, out any, method string, params []any) error {
	return nodeError(method, n.pool.Call(ctx, out, method, params))
}

// errOneByOne is the error for batches and requests with a callback: the pool could not check the responses.
var errOneByOne = errors.New("haggle: batches and callbacks are not supported: send single requests")

// oneByOne implements the methods of a JSON-RPC client that are not supported.
type oneByOne struct{}

// CallWithCallback returns an error.
func (oneByOne) CallWithCallback(
	context.Context, string, []any, func(*http.Request, *http.Response) error,
) error {
	return errOneByOne
}

// CallBatch returns an error.
func (oneByOne) CallBatch(context.Context, jsonrpc.RPCRequests) (jsonrpc.RPCResponses, error) {
	return nil, errOneByOne
}

// Close releases the pool's connections.
func (n nodes) Close() error {
	n.pool.Close()
	return nil
}

// syncSlot requests the slot of the nodes before the client's first decision about money. Afterwards
// responses from a node that is behind are not used, even if it is the first node.
func (c *Client) syncSlot(ctx context.Context) { c.pool.SyncSlot(ctx, c.commitment) }

// clientOfNode returns a client for a single node among several.
func clientOfNode(single rpcpool.Single) *rpc.Client {
	return rpc.NewWithCustomRPCClient(singleNode{single: single})
}

// singleNode is the JSON-RPC client for a single node among several. It serves read requests only.
type singleNode struct {
	oneByOne
	single rpcpool.Single
}

// CallForInto sends a request and decodes the result.
func (n singleNode) CallForInto(ctx context.Context, out any, method string, params []any) error {
	return nodeError(method, n.single.Call(ctx, out, method, params))
}

// nodeError adds the method to an error of the pool. If the pool is closed, so is the client.
func nodeError(method string, err error) error {
	if err == nil {
		return nil
	}
	var failures rpcpool.Failures
	var refusal *transaction.NodeError
	if !errors.As(err, &failures) && errors.As(err, &refusal) && refusal.Method != "" {
		method = refusal.Method // the pool's own request, before the caller's
	}
	if errors.Is(err, rpcpool.ErrClosed) {
		err = closedError{err}
	}
	return &transaction.RequestError{Method: method, Err: err}
}

// closedError is the error when the pool is closed.
type closedError struct{ error }

func (e closedError) Unwrap() []error { return []error{ErrClientClosed, e.error} }
