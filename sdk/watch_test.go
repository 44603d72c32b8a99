package haggle

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// brittleChain is a node with one negotiation whose connection breaks each time that something has happened.
type brittleChain struct {
	lock   sync.Mutex
	blocks blocks
	listed []any
}

func (c *brittleChain) happen(t *testing.T, n int, event Event) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.blocks.executed(t, n, uint64(100+n), nil, event)
	c.listed = append([]any{object{"signature": numbered(n), "slot": 100 + n, "err": nil}}, c.listed...)
}

// list answers as a node that does not know any transaction to begin or end a list at.
func (c *brittleChain) list(options rpc.M) any {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.listed[:min(len(c.listed), *options["limit"].(*int))]
}

func (c *brittleChain) transaction(signature solana.Signature) any {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.blocks[signature]
}

func newBrittleClient(t *testing.T) (*Client, *brittleChain) {
	t.Helper()
	chain := &brittleChain{blocks: blocks{}}
	client, err := NewClient(Config{Endpoint: "http://localhost", WSEndpoint: logServer(t, func(request string) []string {
		if strings.Contains(request, subscribeMethod) {
			return []string{`{"id":1,"result":7}`, "hang up"}
		}
		return nil
	})})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	client.rpc = rpc.NewWithCustomRPCClient(node{&scriptedNode{
		calls: make(map[string]int), list: chain.list, transaction: chain.transaction,
		answers: map[string]func(int) (any, error){"getSlot": always(110)},
	}})
	return client, chain
}

func receive(t *testing.T, subscription *Subscription) Observation {
	t.Helper()
	select {
	case seen, ok := <-subscription.Events():
		require.True(t, ok, "ended: %v", subscription.Err())
		return seen
	case <-time.After(30 * time.Second):
		t.Fatal("nothing is told")
		return Observation{}
	}
}

func TestSubscriptionHeals(t *testing.T) {
	client, chain := newBrittleClient(t)
	chain.happen(t, 1, offerOf(1))
	now, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	whole, err := client.Watch(t.Context(), watchedNegotiation, FromBeginning())
	require.NoError(t, err)
	for n := 2; n <= 4; n++ {
		chain.happen(t, n, offerOf(uint8(n)))
		assert.Equal(t, observed(n, uint64(100+n), offerOf(uint8(n))), receive(t, now))
	}
	for n := 1; n <= 4; n++ {
		assert.Equal(t, observed(n, uint64(100+n), offerOf(uint8(n))), receive(t, whole))
	}
}

func TestSubscriptionEndsWithWhateverItDependsOn(t *testing.T) {
	before := runtime.NumGoroutine()
	client, _ := newBrittleClient(t)
	closed, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	closed.Close()
	closed.Close()
	assert.NoError(t, closed.Err())

	ctx, cancel := context.WithCancel(t.Context())
	cancelled, err := client.Watch(ctx, watchedNegotiation)
	require.NoError(t, err)
	cancel()
	for range cancelled.Events() {
		t.Error("nothing has happened")
	}
	assert.ErrorIs(t, cancelled.Err(), context.Canceled)

	orphan, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	require.NoError(t, client.Close())
	_, open := <-orphan.Events()
	assert.False(t, open)
	assert.ErrorIs(t, orphan.Err(), ErrClientClosed)

	// What is left are the test server's.
	assert.Eventually(t, func() bool {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		return !strings.Contains(string(stacks), "haggle.(*watcher)") && !strings.Contains(string(stacks), "haggle.(*logStream)")
	}, 5*time.Second, 10*time.Millisecond, "there were %d goroutines before", before)
}

func TestSubscriptionThatTheNodeRefusesIsAnErrorAtOnce(t *testing.T) {
	client, _ := newBrittleClient(t)
	client.wsEndpoint = logServer(t, func(string) []string {
		return []string{`{"id":1,"error":{"code":-32601,"message":"Method not found"}}`}
	})
	_, err := client.Watch(t.Context(), watchedNegotiation)
	var refused *NodeError
	require.ErrorAs(t, err, &refused)

	client.wsEndpoint = "ws://127.0.0.1:1"
	_, err = client.Watch(t.Context(), watchedNegotiation)
	require.Error(t, err)
}
