package haggle

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"
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
	// repeated says that an attempt before this one has failed, of which it is not known what the node made.
	repeated bool
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

// Answers to sendTransaction of a node that has found fault with the transaction.
const (
	preflightFailure    = -32002
	signatureNotCorrect = -32003
)

// meansNotForwarded says whether an answer to sendTransaction makes certain that the node has not passed the transaction on.
func (e *NodeError) meansNotForwarded() bool {
	switch e.Code {
	case methodNotFound, invalidParams, preflightFailure, signatureNotCorrect:
		return true
	}
	return false
}

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
		err := n.callOnce(ctx, out, method, params)
		var refused *NodeError
		if errors.As(err, &refused) {
			refused.repeated = attempt > 1
		}
		if err == nil || attempt == busyAttempts || !errors.As(err, &refused) || !refused.busy() {
			return err
		}
		if sleep(ctx, pause) != nil {
			return err
		}
		pause = min(2*pause, busyPauseMost)
	}
}

func (n node) callOnce(ctx context.Context, out any, method string, params []any) error {
	var result json.RawMessage
	if err := n.RPCClient.CallForInto(ctx, &result, method, params); err != nil {
		return nodeError(method, err)
	}
	if err := refuseCompressed(result); err != nil {
		return nodeError(method, err)
	}
	return nodeError(method, (&jsonrpc.RPCResponse{Result: result}).GetObject(out))
}

var errCompressed = errors.New("the node answers with compressed data, which has not been asked for")

// refuseCompressed finds data in an answer that would be decompressed while it is decoded: a few kilobytes can become more than
// fits into memory.
func refuseCompressed(result []byte) error {
	// A string can spell the encoding's name with escapes.
	if !bytes.Contains(result, []byte("zstd")) && !bytes.Contains(result, []byte(`\u`)) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(result))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if token == string(solana.EncodingBase64Zstd) {
			return errCompressed
		}
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
