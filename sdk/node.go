package haggle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
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
}

func (e *NodeError) Error() string {
	return fmt.Sprintf("haggle: the node answers %s with error %d: %s", e.Method, e.Code, e.Message)
}

// Unwrap is the JSON-RPC client's error.
func (e *NodeError) Unwrap() error { return e.err }

// Numbers with which a node says that it does not have yet what it is asked for.
const (
	blockNotAvailable        = -32004
	nodeUnhealthy            = -32005
	blockStatusNotAvailable  = -32014
	minContextSlotNotReached = -32016
)

// busy says whether the node has refused the request for the moment: for a limit of its own, or because it is behind.
func (e *NodeError) busy() bool {
	switch e.Code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		blockNotAvailable, nodeUnhealthy, blockStatusNotAvailable, minContextSlotNotReached:
		return true
	case invalidParams:
		// How Agave tells of a slot that is not complete yet in its own ledger.
		return strings.Contains(e.Message, "slot unavailable")
	}
	return false
}

// A node's answers that no repetition changes.
const (
	methodNotFound = -32601
	invalidParams  = -32602
)

// A request that the node is too busy for is made again. Each method may be: a transaction that is sent twice is executed once.
const (
	busyAttempts  = 6
	busyPause     = 250 * time.Millisecond
	busyPauseMost = 4 * time.Second
)

// node is a JSON-RPC client that waits when the node is busy, and whose errors can be read.
type node struct {
	jsonrpc.RPCClient
}

// CallForInto makes a request and decodes its result.
func (n node) CallForInto(ctx context.Context, out any, method string, params []any) error {
	pause := busyPause
	for attempt := 1; ; attempt++ {
		err := nodeError(method, n.RPCClient.CallForInto(ctx, out, method, params))
		var refused *NodeError
		if err == nil || attempt == busyAttempts || !errors.As(err, &refused) || !refused.busy() {
			return err
		}
		if sleep(ctx, pause) != nil {
			return err
		}
		pause = min(2*pause, busyPauseMost)
	}
}

// nodeError makes an error that says what has happened and not where: endpoints contain keys.
func nodeError(method string, err error) error {
	var answered *jsonrpc.RPCError
	if errors.As(err, &answered) {
		return &NodeError{Method: method, Code: answered.Code, Message: answered.Message, Data: answered.Data, err: err}
	}
	var status *jsonrpc.HTTPError
	if errors.As(err, &status) {
		return &NodeError{Method: method, Code: status.Code, Message: http.StatusText(status.Code), err: err}
	}
	if err == nil {
		return nil
	}
	var transport *url.Error
	if errors.As(err, &transport) {
		err = transport.Err
	} else if strings.HasPrefix(err.Error(), "rpc call ") {
		err = cmp.Or(errors.Unwrap(err), errNoAnswer)
	}
	return fmt.Errorf("haggle: %s: %w", method, err)
}

var errNoAnswer = errors.New("the node does not answer")
