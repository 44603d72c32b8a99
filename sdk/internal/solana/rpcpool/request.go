package rpcpool

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
)

// kind decides whether a request may be repeated.
type kind int

const (
	// once: the request is sent again only after a temporary refusal.
	once kind = iota
	// read changes nothing; it may be sent repeatedly, and to several endpoints at once.
	read
	// broadcast sends a transaction, which is executed once however often it is sent.
	broadcast
)

func kindOf(method string) kind {
	switch {
	case method == "sendTransaction":
		return broadcast
	case strings.HasPrefix(method, "get"), method == "isBlockhashValid", method == "simulateTransaction":
		return read
	}
	return once
}

// level is a commitment level; a slot reached at any level is also reached at the lower levels.
type level int

const (
	processed level = iota
	confirmed
	finalized
	levels = 3
)

func levelOf(commitment string) level {
	switch commitment {
	case string(rpc.CommitmentProcessed):
		return processed
	case string(rpc.CommitmentConfirmed):
		return confirmed
	}
	return finalized
}

// request is a call of the pool.
type request struct {
	method string
	params []any
	kind   kind
	level  level
	// floor is the lowest slot that the response may belong to.
	floor uint64
	// out is a pointer to the destination of the result; invalid if the result is not needed.
	out         reflect.Value
	outErr      error
	observation Observation
}

func newRequest(method string, params []any, out any) *request {
	r := &request{method: method, params: params, kind: kindOf(method), level: finalized}
	if method == "getSignatureStatuses" {
		r.level = processed
	}
	for _, param := range params {
		if options := optionsIn(param); options != nil && options["commitment"] != nil {
			r.level = levelOf(fmt.Sprint(options["commitment"]))
		}
	}
	if out != nil {
		r.out = reflect.ValueOf(out)
		if r.out.Kind() != reflect.Pointer || r.out.IsNil() {
			r.outErr = fmt.Errorf("the result cannot be put into a %T", out)
		}
	}
	return r
}

// optionsIn returns a parameter as an object with options, or nil.
func optionsIn(param any) map[string]any {
	switch options := param.(type) {
	case rpc.M:
		return options
	case map[string]any:
		return options
	}
	return nil
}

// showsItsSlot reports whether the response shows its slot.
func (r *request) showsItsSlot() bool {
	switch r.method {
	case "getSignaturesForAddress", "getTransactionsForAddress", "getTransaction", "getBlock", "getBlocks", "getBlocksWithLimit",
		"getBlockHeight", "getBlockTime", "getTransactionCount":
		return false
	}
	return true
}

// takesFloor reports whether the node accepts the floor as minContextSlot. The pool sends it only where the
// response shows no slot.
func (r *request) takesFloor() bool {
	switch r.method {
	case "getSignaturesForAddress", "getTransactionsForAddress", "getBlockHeight", "getTransactionCount":
		return true
	}
	return false
}

const minContextSlot = "minContextSlot"

// paramsFrom returns the parameters with the floor.
func (r *request) paramsFrom(floor uint64) []any {
	if floor == 0 || !r.takesFloor() {
		return r.params
	}
	last := len(r.params) - 1
	if last >= 0 {
		if options, ok := r.params[last].(rpc.M); ok {
			if options[minContextSlot] != nil {
				return r.params
			}
			options = maps.Clone(options)
			options[minContextSlot] = floor
			return append(r.params[:last:last], options)
		}
	}
	return r.params
}

// decode decodes a result into a new value of the type of out.
func (r *request) decode(result json.RawMessage) (reflect.Value, error) {
	if !r.out.IsValid() {
		return reflect.Value{}, nil
	}
	decoded := reflect.New(r.out.Type().Elem())
	if err := (&jsonrpc.RPCResponse{Result: result}).GetObject(decoded.Interface()); err != nil {
		return reflect.Value{}, fmt.Errorf("the node's answer cannot be decoded: %w", err)
	}
	return decoded, nil
}

func (r *request) deliver(decoded reflect.Value) {
	if decoded.IsValid() {
		r.out.Elem().Set(decoded.Elem())
	}
}

// mustShowItsSlot reports whether a response without a slot is malformed.
func (r *request) mustShowItsSlot() bool {
	switch r.method {
	case "getSlot", "getEpochInfo", "getMultipleAccounts", "getAccountInfo", "getBalance", "getLatestBlockhash", "isBlockhashValid",
		"getSignatureStatuses", "getTokenAccountsByOwner", "getTokenAccountBalance", "simulateTransaction":
		return true
	}
	return false
}
