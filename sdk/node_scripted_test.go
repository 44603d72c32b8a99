package haggle

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// busyAttempts is the number of requests to a node that is always too busy.
const busyAttempts = rpcpool.BusyRounds

// oneNode is the JSON-RPC client for a scripted node.
type oneNode struct {
	jsonrpc.RPCClient
}

// scriptedPools holds the pools of the nodes, which keep their health.
var scriptedPools sync.Map

func (n oneNode) pool() *rpcpool.Pool {
	pool, known := scriptedPools.Load(n.RPCClient)
	if !known {
		pool, _ = scriptedPools.LoadOrStore(n.RPCClient, scriptedPool(n.RPCClient))
	}
	return pool.(*rpcpool.Pool)
}

// useNodes makes a client use scripted nodes.
func (c *Client) useNodes(played ...jsonrpc.RPCClient) {
	defer func() { c.sender.RPC, c.sender.Pool = c.rpc, c.pool }()
	if len(played) == 1 {
		c.pool = oneNode{played[0]}.pool()
		c.rpc = rpc.NewWithCustomRPCClient(oneNode{played[0]})
		return
	}
	c.pool = scriptedPool(played...)
	c.rpc = rpc.NewWithCustomRPCClient(nodes{pool: c.pool})
}

func (n oneNode) CallForInto(ctx context.Context, out any, method string, params []any) error {
	return nodes{pool: n.pool()}.CallForInto(ctx, out, method, params)
}

func (n oneNode) Close() error { return nodes{pool: n.pool()}.Close() }

// scriptedPool returns a pool of scripted nodes, named one, two and so on.
func scriptedPool(clients ...jsonrpc.RPCClient) *rpcpool.Pool {
	options := rpcpool.Options{Logger: slog.New(slog.DiscardHandler)}
	for i, client := range clients {
		options.Nodes = append(options.Nodes,
			rpcpool.Node{Host: []string{"one", "two", "three"}[i], Transport: scriptedTransport{client}})
	}
	return rpcpool.New(options)
}

// scriptedTransport sends requests to a scripted node.
type scriptedTransport struct {
	client jsonrpc.RPCClient
}

func (s scriptedTransport) Call(
	ctx context.Context, method string, params []any,
) (result json.RawMessage, err error) {
	err = s.client.CallForInto(ctx, &result, method, params)
	var answered *jsonrpc.RPCError
	var status *jsonrpc.HTTPError
	switch {
	case errors.As(err, &answered):
		err = &transaction.NodeError{Code: answered.Code, Message: answered.Message, Data: answered.Data, Err: answered}
	case errors.As(err, &status):
		err = &transaction.NodeError{Code: status.Code, Status: status.Code, Message: http.StatusText(status.Code), Err: status}
	}
	return result, err
}

func (s scriptedTransport) Stream(ctx context.Context, method string, params []any) (*rpcpool.Stream, error) {
	result, err := s.Call(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return &rpcpool.Stream{Body: io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","result":` + string(result) + `}`))}, nil
}

func (s scriptedTransport) CloseIdleConnections() {}

// scriptedNode responds as a node does in rare states: it loses transactions, does not respond, is behind.
// The test controls the node's time.
type scriptedNode struct {
	jsonrpc.RPCClient
	answers map[string]func(call int) (any, error)
	// accounts answers getMultipleAccounts, if it is set.
	accounts map[solana.PublicKey]any
	// list answers getSignaturesForAddress.
	list func(options rpc.M) any
	// transaction answers getTransaction, if it is set.
	transaction func(signature solana.Signature) any
	// history is called when the history is searched for a status, if it is set.
	history func()
	// statusOf answers getSignatureStatuses, if it is set.
	statusOf func(signature solana.Signature) any
	// sent receives each sendTransaction, if it is set.
	sent func(encoded string)
	// each answers getMultipleAccounts for each address, and simulated simulateTransaction if the request
	// names accounts; if they are set.
	each      func(address solana.PublicKey) any
	simulated func(addresses []solana.PublicKey) any

	lock  sync.Mutex
	calls map[string]int
}

func (n *scriptedNode) CallForInto(ctx context.Context, out any, method string, params []any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n.lock.Lock()
	n.calls[method]++
	call := n.calls[method]
	n.lock.Unlock()
	answer, ok := n.answers[method]
	if method == "getSignaturesForAddress" {
		answer, ok = always(n.list(params[1].(rpc.M))), true
	}
	each := n.each
	if each == nil && n.accounts != nil {
		each = func(address solana.PublicKey) any { return n.accounts[address] }
	}
	if method == "getMultipleAccounts" && each != nil {
		values := []any{}
		for _, address := range params[0].([]solana.PublicKey) {
			value := each(address)
			if value == nil && address == solana.SysVarClockPubkey {
				value = storedClock(0)
			}
			values = append(values, value)
		}
		answer, ok = always(object{"context": object{"slot": testSlot}, "value": values}), true
	}
	if method == "simulateTransaction" && n.simulated != nil {
		var addresses []solana.PublicKey
		if requested, ok := params[1].(rpc.M)["accounts"].(rpc.M); ok {
			addresses = requested["addresses"].([]solana.PublicKey)
		}
		answer, ok = always(n.simulated(addresses)), true
	}
	if method == "getTransaction" && n.transaction != nil {
		answer, ok = always(n.transaction(params[0].(solana.Signature))), true
	}
	if method == "getSignatureStatuses" && n.statusOf != nil {
		values := []any{}
		for _, signature := range params[0].([]solana.Signature) {
			values = append(values, n.statusOf(signature))
		}
		answer, ok = always(object{"context": object{"slot": testSlot}, "value": values}), true
	}
	if method == "getSignatureStatuses" && n.history != nil && len(params) > 1 &&
		params[1].(rpc.M)["searchTransactionHistory"] == true {
		n.history()
	}
	if method == "isBlockhashValid" && !ok && n.answers["getEpochInfo"] != nil {
		answer, ok = n.blockhashValid, true
	}
	if method == "sendTransaction" && n.sent != nil {
		n.sent(params[0].(string))
	}
	if !ok {
		return fmt.Errorf("unexpected call of %s", method)
	}
	value, err := answer(call)
	if err != nil {
		return err
	}
	if all, isObject := value.(object); isObject && method == "getSignatureStatuses" && n.statusOf == nil {
		// One status is used for all.
		var values []any
		for range params[0].([]solana.Signature) {
			values = append(values, all["value"].([]any)[0])
		}
		value = object{"context": all["context"], "value": values}
	}
	if method == "getMultipleAccounts" {
		value = withClock(value, params[0].([]solana.PublicKey))
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, out)
}

// blockhashValid answers isBlockhashValid: each blockhash is valid up to testLastValid.
func (n *scriptedNode) blockhashValid(call int) (any, error) {
	epoch, err := n.answers["getEpochInfo"](call)
	if err != nil {
		return nil, err
	}
	height, err := strconv.Atoi(fmt.Sprint(epoch.(object)["blockHeight"]))
	return object{"context": object{"slot": epoch.(object)["absoluteSlot"]}, "value": height <= testLastValid}, err
}

// storedClock returns the Clock sysvar at this Unix time.
func storedClock(now int64) any {
	data := make([]byte, clockSize)
	binary.LittleEndian.PutUint64(data[clockOffsetUnixTime:], uint64(now))
	return storedAccount(sysvarOwner, data)
}

// withClock adds the Clock sysvar to a scripted response that contains just the preceding account.
func withClock(answer any, requested []solana.PublicKey) any {
	scripted, ok := answer.(object)
	if !ok {
		return answer
	}
	values, ok := scripted["value"].([]any)
	if ok && len(values) == len(requested)-1 && requested[len(requested)-1] == solana.SysVarClockPubkey {
		return object{"context": scripted["context"],
			"value": append(values[:len(values):len(values)], storedClock(0))}
	}
	return answer
}

func (n *scriptedNode) Close() error { return nil }

func (n *scriptedNode) called(method string) int {
	n.lock.Lock()
	defer n.lock.Unlock()
	return n.calls[method]
}

// confirmedAfter returns the statuses of transactions that are confirmed after a delay from now.
func confirmedAfter(delay time.Duration) func(solana.Signature) any {
	began := time.Now()
	return func(solana.Signature) any {
		if time.Since(began) < delay {
			return nil
		}
		return executedStatus("confirmed", nil)
	}
}
