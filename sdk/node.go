package haggle

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
)

// NodeError is the error with which a node answers a request.
type NodeError struct {
	// Method is the JSON-RPC method.
	Method string
	// Code is the JSON-RPC error code, or the HTTP status if there was no JSON-RPC answer.
	Code int
	// Message is the node's message.
	Message string
	// Data is the node's additional data; nil if there is none.
	Data any
	err  error
	// status is the HTTP status; zero if it is not known.
	status int
	// repeated reports that an earlier attempt, or another node's, failed with an unknown effect.
	repeated bool
}

func (e *NodeError) Error() string {
	return fmt.Sprintf("haggle: %s: node returned error %d: %s", e.Method, e.Code, e.Message)
}

// Unwrap returns the JSON-RPC client's error.
func (e *NodeError) Unwrap() error { return e.err }

// Errors of a node that are permanent.
const (
	methodNotFound = rpcpool.MethodNotFound
	invalidParams  = rpcpool.InvalidParams
)

// busy reports whether the refusal is temporary: a limit of the node's, or because the node is behind.
func (e *NodeError) busy() bool {
	return rpcpool.IsBusy(e.Code, e.Message) || rpcpool.IsBusy(e.status, "")
}

// meansNotForwarded reports whether an answer to sendTransaction proves that the node has not forwarded the
// transaction. Unless it is repeated, that holds for all nodes that received the request.
func (e *NodeError) meansNotForwarded() bool { return rpcpool.MeansNotForwarded(e.Code) }

// ErrNodeBehind: every node is behind a slot that one of them has returned before.
var ErrNodeBehind = fmt.Errorf("haggle: %w", rpcpool.ErrBehind)

// ErrNodeWentBack: a node is more than about a minute behind its own earlier answers. Its state was rolled
// back, a local chain was restarted, or several nodes share one address and one of them is far behind. It is
// also an [ErrNodeBehind]. The client keeps sending requests, and uses the node's answers once the node has
// reached the earlier slot again, because money may have been sent in the slots between. For a chain that was
// restarted, make a new client.
var ErrNodeWentBack = fmt.Errorf("haggle: %w", rpcpool.ErrWentBack)

// ErrMalformedAnswer: a node's answer cannot be decoded, or lacks a required part.
var ErrMalformedAnswer = fmt.Errorf("haggle: %w", rpcpool.ErrMalformed)

// malformed returns an ErrMalformedAnswer with a description.
func malformed(text string, values ...any) error {
	return &nodesError{text: "haggle: " + fmt.Sprintf(text, values...), all: []error{ErrMalformedAnswer}}
}

// ErrOtherCluster: a node is of another chain than the client's other nodes, or than Config.GenesisHash. The
// client sends it no further requests.
var ErrOtherCluster = fmt.Errorf("haggle: %w", rpcpool.ErrOtherCluster)

// nodes is the JSON-RPC client that sends its requests through the pool and returns errors of this package.
type nodes struct {
	pool *rpcpool.Pool
}

// CallForInto sends a request and decodes its result.
func (n nodes) CallForInto(ctx context.Context, out any, method string, params []any) error {
	return nodeError(method, n.pool.Call(ctx, out, method, params))
}

// CallWithCallback sends a request to one node and passes the answer to the callback.
func (n nodes) CallWithCallback(
	ctx context.Context, method string, params []any, callback func(*http.Request, *http.Response) error,
) error {
	return nodeError(method, n.pool.Callback(ctx, method, params, callback))
}

// CallBatch sends several requests at once to one node.
func (n nodes) CallBatch(ctx context.Context, requests jsonrpc.RPCRequests) (jsonrpc.RPCResponses, error) {
	responses, err := n.pool.Batch(ctx, requests)
	return responses, nodeError("batch", err)
}

// Close releases the pool's connections.
func (n nodes) Close() error {
	n.pool.Close()
	return nil
}

// eachNode calls do with one node after the other, the fittest first, until do returns false. The answers of
// a single node are consistent; those of several nodes need not be.
func (c *Client) eachNode(do func(node *rpc.Client) (next bool)) {
	c.pool.Each("getSignatureStatuses", func(single rpcpool.Single) bool {
		return do(rpc.NewWithCustomRPCClient(singleNode{single}))
	})
}

// eachNodeIncludingStale does the same as eachNode and accepts answers of nodes that are behind.
func (c *Client) eachNodeIncludingStale(do func(node *rpc.Client) (next bool)) {
	c.pool.Each("getSignatureStatuses", func(single rpcpool.Single) bool {
		return do(rpc.NewWithCustomRPCClient(singleNode{single.HoweverOld()}))
	})
}

// orient requests the slot of the nodes before the client's first decision about money. Afterwards the answer
// of a node that is behind is not used, even if that node is the first one.
func (c *Client) orient(ctx context.Context) { c.pool.Orient(ctx, c.commitment) }

// singleNode is the JSON-RPC client of one of several nodes. It serves read requests only.
type singleNode struct {
	single rpcpool.Single
}

// CallForInto sends a request and decodes its result.
func (n singleNode) CallForInto(ctx context.Context, out any, method string, params []any) error {
	return nodeError(method, n.single.Call(ctx, out, method, params))
}

var errOnlyReads = errors.New("haggle: a single node serves read requests only")

// CallWithCallback is not used.
func (singleNode) CallWithCallback(
	context.Context, string, []any, func(*http.Request, *http.Response) error,
) error {
	return errOnlyReads
}

// CallBatch is not used.
func (singleNode) CallBatch(context.Context, jsonrpc.RPCRequests) (jsonrpc.RPCResponses, error) {
	return nil, errOnlyReads
}

// nodeError returns an error of this package. If there are several nodes, it names their hosts.
func nodeError(method string, err error) error {
	if err == nil {
		return nil
	}
	var interrupted *rpcpool.Interrupted
	if errors.As(err, &interrupted) {
		if interrupted.Before == nil {
			return fmt.Errorf("haggle: %s: %w", method, opaque{interrupted.Cause})
		}
		return &nodesError{
			text: fmt.Sprintf("haggle: %s: %v, after %v", method, interrupted.Cause, interrupted.Before),
			all:  []error{opaque{interrupted.Cause}, nodeError(method, interrupted.Before)},
		}
	}
	var failures rpcpool.Failures
	if errors.As(err, &failures) {
		return newNodesError(method, failures)
	}
	return errorOfNode(method, err)
}

func errorOfNode(method string, err error) error {
	var refusal *rpcpool.Refusal
	if errors.As(err, &refusal) {
		if refusal.Method != "" {
			method = refusal.Method
		}
		return &NodeError{
			Method: method, Code: refusal.Code, Message: refusal.Message, Data: refusal.Data,
			err: refusal.Err, status: refusal.Status, repeated: refusal.Repeated,
		}
	}
	text := fmt.Sprintf("haggle: %s: %v", method, err)
	switch {
	case errors.Is(err, rpcpool.ErrWentBack):
		return &nodesError{text: text, all: []error{ErrNodeWentBack, ErrNodeBehind, err}}
	case errors.Is(err, rpcpool.ErrBehind):
		return &nodesError{text: text, all: []error{ErrNodeBehind, err}}
	case errors.Is(err, rpcpool.ErrMalformed):
		return &nodesError{text: text, all: []error{ErrMalformedAnswer, err}}
	case errors.Is(err, rpcpool.ErrOtherCluster):
		return &nodesError{text: text, all: []error{ErrOtherCluster, err}}
	case errors.Is(err, rpcpool.ErrClosed):
		return &nodesError{text: text, all: []error{ErrClientClosed, err}}
	}
	return fmt.Errorf("haggle: %s: %w", method, err)
}

// nodesError is the error of a request that failed for several reasons at once.
type nodesError struct {
	text string
	all  []error
}

func newNodesError(method string, failures rpcpool.Failures) error {
	texts, all := make([]string, len(failures)), make([]error, len(failures))
	for i, failure := range failures {
		texts[i] = failure.Host + ": " + failure.Err.Error()
		all[i] = errorOfNode(method, failure.Err)
	}
	return &nodesError{text: "haggle: " + method + ": " + strings.Join(texts, "; "), all: all}
}

func (e *nodesError) Error() string   { return e.text }
func (e *nodesError) Unwrap() []error { return e.all }
