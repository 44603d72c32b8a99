package haggle

import (
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/feed"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestWebSocketsFailOver(t *testing.T) {
	chain, other := newFakeChain(t), newFakeChain(t)
	client := chain.client(t)
	client.wsFallbacks = []string{"ws://127.0.0.1:1", other.url()}
	subscription, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	assert.Equal(t, 1, chain.connections())
	chain.socket.Listener.Close()
	chain.cut()
	assert.Eventually(t, func() bool { return other.subscriptions() == 1 }, 10*time.Second, time.Millisecond)
	happened := chain.emit(offerOf(1))
	other.announce(happened)
	assert.Equal(t, happened.envelope(offerOf(1)), receive(t, subscription))
}

func TestNodeThatRefusesToSubscribeIsSkipped(t *testing.T) {
	chain, other := newFakeChain(t), newFakeChain(t)
	chain.refuse = func(int) (int, string) { return transaction.CodeMethodNotFound, "Method not found" }
	client := chain.client(t)
	client.wsFallbacks = []string{other.url()}
	_, err := client.Watch(t.Context(), watchedNegotiation)
	require.Error(t, err)
	subscription, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	other.cut()
	assert.Eventually(t, func() bool { return other.subscriptions() == 1 }, 10*time.Second, time.Millisecond)
	happened := chain.emit(offerOf(1))
	other.announce(happened)
	assert.Equal(t, happened.envelope(offerOf(1)), receive(t, subscription))
	chain.change(func() { assert.Equal(t, 1, chain.dials, "once is enough") })
}

func TestFurtherConnectionIsOpenedAtTheNodesLimit(t *testing.T) {
	chain := newFakeChain(t)
	chain.refuse = func(on int) (int, string) {
		if on >= 40 {
			return -32005, "Too many subscriptions on this connection"
		}
		return 0, ""
	}
	client := chain.client(t)
	const many = 100
	subscriptions := make([]*Subscription, many)
	for n := range many {
		var err error
		subscriptions[n], err = client.Watch(t.Context(), solana.PublicKey{7, byte(n)})
		require.NoError(t, err)
		assert.Equal(t, n/40+1, chain.connections())
	}
	chain.cut()
	assert.Eventually(t, func() bool { return chain.subscriptions() == many }, 10*time.Second,
		time.Millisecond)
	assert.Equal(t, 3, chain.connections())
	for n, subscription := range subscriptions {
		offer := offerAt(solana.PublicKey{7, byte(n)}, 1)
		assert.Equal(t, chain.emit(offer).envelope(offer), receive(t, subscription))
	}
	subscriptions[0].Close()
	subscriptions[99].Close()
	assert.Eventually(t, func() bool { return chain.subscriptions() == many-2 }, 10*time.Second,
		time.Millisecond)
}

func TestNodeWithoutSubscriptionsIsAnError(t *testing.T) {
	chain := newFakeChain(t)
	chain.refuse = func(int) (int, string) {
		return -32603, "Internal Error: Subscription refused. Node subscription limit reached"
	}
	_, err := chain.client(t).Watch(t.Context(), watchedNegotiation)
	require.ErrorIs(t, err, feed.ErrFull)
}

func TestPollingSendsHints(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, _ *scriptedSource) {
		client.source = events.NewPolling(0)
		agent := solana.PublicKey{7}
		first := chain.emit(offerOf(1))
		subscription, err := client.Watch(t.Context(), watchedNegotiation, FromBeginning())
		require.NoError(t, err)
		assert.Equal(t, []EventEnvelope{first.envelope(offerOf(1))}, collect(subscription, 3*time.Second))
		second := chain.emit(offerOf(2))
		assert.Equal(t, []EventEnvelope{second.envelope(offerOf(2))}, collect(subscription, 3*time.Second))

		agents, err := client.WatchAgent(t.Context(), agent)
		require.NoError(t, err)
		created := &protocol.NegotiationCreated{NegotiationID: solana.PublicKey{43}, Seller: agent}
		creation := chain.created(created)
		assert.Equal(t, []EventEnvelope{creation.envelope(created)}, collect(agents, 3*time.Second))
		offer := chain.emit(offerAt(solana.PublicKey{43}, 1))
		assert.Equal(t, []EventEnvelope{offer.envelope(offerAt(solana.PublicKey{43}, 1))},
			collect(agents, 3*time.Second))

		chain.change(func() { chain.slot += 2 * transaction.SettledSlots })
		time.Sleep(time.Minute)
		agents.Close()
		time.Sleep(time.Second)
		lists := chain.called("getSignaturesForAddress")
		time.Sleep(time.Minute)
		assert.LessOrEqual(t, chain.called("getSignaturesForAddress"), lists+5,
			"an address without watchers is not polled")
		subscription.Close()
	})
}

func TestFailedPollingDisconnects(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, _ *scriptedSource) {
		client.source = events.NewPolling(time.Second)
		subscription, err := client.Watch(t.Context(), watchedNegotiation)
		require.NoError(t, err)
		assert.True(t, subscription.Lag().Connected)
		chain.change(func() { chain.failing = true })
		time.Sleep(10 * time.Second)
		assert.False(t, subscription.Lag().Connected)
		happened := chain.emit(offerOf(1))
		chain.change(func() { chain.failing = false })
		assert.Equal(t, []EventEnvelope{happened.envelope(offerOf(1))}, collect(subscription, time.Minute))
		assert.True(t, subscription.Lag().Connected)
	})
}
