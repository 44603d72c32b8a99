package rpcpool

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/gagliardetto/solana-go/rpc"
)

// kind says what may be done with a request.
type kind int

const (
	// once: it is made again only if it has been refused for the moment.
	once kind = iota
	// read changes nothing, and may be made as often as one likes, of several endpoints at once.
	read
	// broadcast is a transaction's, which is executed once however often it is sent.
	broadcast
)

func kindOf(method string) kind {
	switch {
	case method == "sendTransaction":
		return broadcast
	case strings.HasPrefix(method, "get"), method == "isBlockhashValid", method == "minimumLedgerSlot", method == "simulateTransaction":
		return read
	}
	return once
}

// level is how certain a state is; a slot that is seen at one level has been reached at those below it.
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

// request is one that a caller makes.
type request struct {
	method string
	params []any
	kind   kind
	level  level
	// floor is the slot that the answer must not be behind.
	floor uint64
	// out is a pointer to what the result is decoded into; nil if nothing is.
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

// optionsIn is a parameter as an object with options; nil if it is none.
func optionsIn(param any) map[string]any {
	switch options := param.(type) {
	case rpc.M:
		return options
	case map[string]any:
		return options
	}
	return nil
}

// showsItsSlot says whether the answer says of which slot it is.
func (r *request) showsItsSlot() bool {
	switch r.method {
	case "getSignaturesForAddress", "getTransactionsForAddress", "getTransaction", "getBlock", "getBlocks", "getBlocksWithLimit",
		"getBlockHeight", "getBlockTime", "getTransactionCount":
		return false
	}
	return true
}

// takesFloor says whether the node can be told, with minContextSlot, which slot the answer must not be behind. It is told so only
// where its answer does not say.
func (r *request) takesFloor() bool {
	switch r.method {
	case "getSignaturesForAddress", "getTransactionsForAddress", "getBlockHeight", "getTransactionCount":
		return true
	}
	return false
}

const minContextSlot = "minContextSlot"

// paramsFrom are the parameters with the floor in them.
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

// decode decodes a result into a new value of the type that the caller wants.
func (r *request) decode(result json.RawMessage) (reflect.Value, error) {
	if !r.out.IsValid() {
		return reflect.Value{}, nil
	}
	decoded := reflect.New(r.out.Type().Elem())
	if err := decodeResult(result, decoded.Interface()); err != nil {
		return reflect.Value{}, fmt.Errorf("the node's answer cannot be decoded: %w", err)
	}
	return decoded, nil
}

func (r *request) deliver(decoded reflect.Value) {
	if decoded.IsValid() {
		r.out.Elem().Set(decoded.Elem())
	}
}

// mustShowItsSlot says whether an answer is none that does not say of which slot it is.
func (r *request) mustShowItsSlot() bool {
	switch r.method {
	case "getSlot", "getEpochInfo", "getMultipleAccounts", "getAccountInfo", "getBalance", "getLatestBlockhash", "isBlockhashValid",
		"getSignatureStatuses", "getTokenAccountsByOwner", "getTokenAccountBalance", "simulateTransaction":
		return true
	}
	return false
}
