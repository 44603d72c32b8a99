package rpcpool

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type object = map[string]any

// fakeNode is an endpoint that a test controls. Fields that are nil give a healthy node's responses.
type fakeNode struct {
	// slot is the node's slot.
	slot uint64
	// genesis is the cluster's genesis hash; empty means the hash that all others use.
	genesis string
	// latency delays each response.
	latency time.Duration
	// fail, if set, returns a call's error.
	fail func(method string, call int) error
	// answer, if set, returns the result of calls that do not fail.
	answer func(method string, params []any) any

	lock  sync.Mutex
	calls []string
	gone  int
}

// genesisHash belongs to no real cluster.
const genesisHash = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"

func (p *fakeNode) Call(ctx context.Context, method string, params []any) (json.RawMessage, error) {
	p.lock.Lock()
	p.calls = append(p.calls, method)
	call := p.countLocked(method)
	p.lock.Unlock()
	if err := wait.For(ctx, p.latency); err != nil {
		p.lock.Lock()
		p.gone++
		p.lock.Unlock()
		return nil, ctx.Err()
	}
	if p.fail != nil {
		if err := p.fail(method, call); err != nil {
			return nil, refusalIn(err)
		}
	}
	result := p.result(method, params)
	if refused, ok := result.(*jsonrpc.RPCError); ok {
		return nil, refusalIn(refused)
	}
	return json.Marshal(result)
}

// refusalIn returns a node's response as the HTTP transport returns it.
func refusalIn(err error) error {
	var answered *jsonrpc.RPCError
	var status *jsonrpc.HTTPError
	switch {
	case errors.As(err, &answered):
		return &transaction.NodeError{Code: answered.Code, Message: answered.Message, Data: answered.Data, Err: answered}
	case errors.As(err, &status):
		return &transaction.NodeError{Code: status.Code, Status: status.Code, Message: http.StatusText(status.Code), Err: status}
	}
	return err
}

func (p *fakeNode) result(method string, params []any) any {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.answer != nil {
		if answer := p.answer(method, params); answer != nil {
			return answer
		}
	}
	switch method {
	case "getGenesisHash":
		if p.genesis != "" {
			return p.genesis
		}
		return genesisHash
	case "getSlot":
		return p.slot
	case "getBalance":
		return object{"context": object{"slot": p.slot}, "value": p.slot}
	case "getSignaturesForAddress":
		if least, ok := params[1].(rpc.M)[minContextSlot]; ok && least.(uint64) > p.slot {
			return &jsonrpc.RPCError{Code: transaction.CodeMinContextSlotNotReached, Message: "Minimum context slot has not been reached"}
		}
		return []any{object{"slot": p.slot}}
	case "sendTransaction":
		return "taken"
	}
	return nil
}

func (p *fakeNode) Stream(ctx context.Context, method string, params []any) (*Stream, error) {
	result, err := p.Call(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return &Stream{Body: io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","result":` + string(result) + `}`))}, nil
}

func (p *fakeNode) CloseIdleConnections() {}

func (p *fakeNode) countLocked(method string) int {
	count := 0
	for _, called := range p.calls {
		if called == method {
			count++
		}
	}
	return count
}

// called returns the number of calls to a method.
func (p *fakeNode) called(method string) int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.countLocked(method)
}

// abandoned returns the number of canceled requests.
func (p *fakeNode) abandoned() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.gone
}

func (p *fakeNode) reach(slot uint64) {
	p.lock.Lock()
	p.slot = slot
	p.lock.Unlock()
}

// always fails every call with an error.
func always(err error) func(string, int) error {
	return func(string, int) error { return err }
}

// failing fails the calls of the given methods.
func failing(err error, methods ...string) func(string, int) error {
	return func(method string, _ int) error {
		if slices.Contains(methods, method) {
			return err
		}
		return nil
	}
}

// newFakePool returns a pool of fake nodes, which are named a, b, c and d.
func newFakePool(t *testing.T, change func(*Options), players ...*fakeNode) *Pool {
	t.Helper()
	options := Options{Logger: slog.New(slog.DiscardHandler)}
	for i, fakeNode := range players {
		options.Nodes = append(options.Nodes, Node{Host: string(rune('a' + i)), Transport: fakeNode})
	}
	if change != nil {
		change(&options)
	}
	pool := New(options)
	t.Cleanup(pool.Close)
	return pool
}

var confirmedOption = rpc.M{"commitment": rpc.CommitmentConfirmed}

// balance reads a value whose response shows the slot, and returns the slot.
func balance(ctx context.Context, pool *Pool) (uint64, error) {
	var answer struct{ Value uint64 }
	err := pool.Call(ctx, &answer, "getBalance", []any{"address", confirmedOption})
	return answer.Value, err
}

// list reads a list whose response shows no slot, and returns the newest slot in it.
func list(ctx context.Context, pool *Pool) (uint64, error) {
	var answer []struct{ Slot uint64 }
	err := pool.Call(ctx, &answer, "getSignaturesForAddress", []any{"address", confirmedOption})
	if err != nil {
		return 0, err
	}
	return answer[0].Slot, nil
}

func send(ctx context.Context, pool *Pool) error {
	var signature string
	return pool.Call(ctx, &signature, "sendTransaction", []any{"transaction"})
}

func requireBalance(t *testing.T, pool *Pool, want uint64) {
	t.Helper()
	got, err := balance(t.Context(), pool)
	require.NoError(t, err)
	require.Equal(t, want, got)
}
