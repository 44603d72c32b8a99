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

// NodeError is what a node answers a request with that it does not fulfil.
type NodeError struct {
	// Method is the JSON-RPC method.
	Method string
	// Code is the JSON-RPC error code, or the HTTP status where there was no JSON-RPC answer.
	Code int
	// Message is the node's.
	Message string
	// Data is what the node adds; nil if that is nothing.
	Data any
	err  error
	// status is the HTTP status; zero if it is not known.
	status int
	// repeated says that an attempt before this one, or another node's, has failed, of which it is not known what came of it.
	repeated bool
}

func (e *NodeError) Error() string {
	return fmt.Sprintf("haggle: the node answers %s with error %d: %s", e.Method, e.Code, e.Message)
}

// Unwrap is the JSON-RPC client's error.
func (e *NodeError) Unwrap() error { return e.err }

// A node's answers that no repetition changes.
const (
	methodNotFound = rpcpool.MethodNotFound
	invalidParams  = rpcpool.InvalidParams
)

// busy says whether the node has refused the request for the moment: for a limit of its own, or because it is behind.
func (e *NodeError) busy() bool {
	return rpcpool.IsBusy(e.Code, e.Message) || rpcpool.IsBusy(e.status, "")
}

// meansNotForwarded says whether an answer to sendTransaction makes certain that the node has not passed the transaction on. Unless
// it is repeated, that is true of all nodes that have been asked.
func (e *NodeError) meansNotForwarded() bool { return rpcpool.MeansNotForwarded(e.Code) }

// ErrNodeBehind: no node has come as far yet as one of them had already when it was asked before.
var ErrNodeBehind = fmt.Errorf("haggle: %w", rpcpool.ErrBehind)

// ErrNodeWentBack: a node is more than about a minute behind what it has shown itself: its state has been rolled back, a local chain
// has been started anew, or it is several nodes behind one address, one of which is far behind. It is an [ErrNodeBehind], too. The
// client goes on asking, and believes the node once it has come as far again: what has happened in between may be money that has been
// sent. For a chain that has been started anew, make a new client.
var ErrNodeWentBack = fmt.Errorf("haggle: %w", rpcpool.ErrWentBack)

// ErrMalformedAnswer: what a node has answered is none to what it has been asked: it cannot be decoded, or lacks what it has to have.
var ErrMalformedAnswer = fmt.Errorf("haggle: %w", rpcpool.ErrMalformed)

// malformed is an ErrMalformedAnswer that says what is wrong.
func malformed(text string, values ...any) error {
	return &nodesError{text: "haggle: " + fmt.Sprintf(text, values...), all: []error{ErrMalformedAnswer}}
}

// ErrOtherCluster: a node is of another chain than the client's other nodes, or than Config.GenesisHash says. It is not asked again.
var ErrOtherCluster = fmt.Errorf("haggle: %w", rpcpool.ErrOtherCluster)

// nodes is the JSON-RPC client whose requests the pool makes, and whose errors can be read.
type nodes struct {
	pool *rpcpool.Pool
}

// CallForInto makes a request and decodes its result.
func (n nodes) CallForInto(ctx context.Context, out any, method string, params []any) error {
	return nodeError(method, n.pool.Call(ctx, out, method, params))
}

// CallWithCallback makes a request of one node and leaves its answer to the callback.
func (n nodes) CallWithCallback(ctx context.Context, method string, params []any, callback func(*http.Request, *http.Response) error) error {
	return nodeError(method, n.pool.Callback(ctx, method, params, callback))
}

// CallBatch makes several requests at once, of one node.
func (n nodes) CallBatch(ctx context.Context, requests jsonrpc.RPCRequests) (jsonrpc.RPCResponses, error) {
	responses, err := n.pool.Batch(ctx, requests)
	return responses, nodeError("batch", err)
}

// Close releases the pool's connections.
func (n nodes) Close() error {
	n.pool.Close()
	return nil
}

// eachNode calls do with one node after the other, the fittest first, until it returns false. The answers of a single node fit
// together, which those of several nodes need not.
func (c *Client) eachNode(do func(node *rpc.Client) (next bool)) {
	c.pool.Each("getSignatureStatuses", func(single rpcpool.Single) bool {
		return do(rpc.NewWithCustomRPCClient(singleNode{single}))
	})
}

// eachNodeHoweverOld is eachNode that accepts answers of nodes that are behind.
func (c *Client) eachNodeHoweverOld(do func(node *rpc.Client) (next bool)) {
	c.pool.Each("getSignatureStatuses", func(single rpcpool.Single) bool {
		return do(rpc.NewWithCustomRPCClient(singleNode{single.HoweverOld()}))
	})
}

// orient has the client know how far the chain has come before it decides about money for the first time: a node that lies behind is
// not believed then even if it is the first to be asked.
func (c *Client) orient(ctx context.Context) { c.pool.Orient(ctx, c.commitment) }

// singleNode is the JSON-RPC client of one of several nodes. It serves read requests only.
type singleNode struct {
	single rpcpool.Single
}

// CallForInto makes a request and decodes its result.
func (n singleNode) CallForInto(ctx context.Context, out any, method string, params []any) error {
	return nodeError(method, n.single.Call(ctx, out, method, params))
}

var errOnlyReads = errors.New("haggle: a single node serves read requests only")

// CallWithCallback is not used.
func (singleNode) CallWithCallback(context.Context, string, []any, func(*http.Request, *http.Response) error) error {
	return errOnlyReads
}

// CallBatch is not used.
func (singleNode) CallBatch(context.Context, jsonrpc.RPCRequests) (jsonrpc.RPCResponses, error) {
	return nil, errOnlyReads
}

// nodeError makes an error that says what has happened, and where only if there are several nodes, by their hosts.
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

// nodesError is why a request has failed, for several reasons at once.
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
