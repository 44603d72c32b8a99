package haggle

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/feed"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestSubscriptionReconnects(t *testing.T) {
	chain := newFakeChain(t)
	client := chain.client(t)
	first := chain.emit(offerOf(1))
	now, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	whole, err := client.Watch(t.Context(), watchedNegotiation, FromBeginning())
	require.NoError(t, err)
	assert.Equal(t, first.envelope(offerOf(1)), receive(t, whole))
	for n := uint8(2); n <= 5; n++ {
		chain.next()
		chain.cut()
		happened := chain.emit(offerOf(n))
		assert.Equal(t, happened.envelope(offerOf(n)), receive(t, now))
		assert.Equal(t, happened.envelope(offerOf(n)), receive(t, whole))
	}
	requireNoEvent(t, now)
	assert.Equal(t, 1, chain.connections(), "both share a connection")
}

// Whatever notifications the connection loses or repeats, a listener receives the chain's events in their
// order.
func TestListenerReceivesTheChainsEvents(t *testing.T) {
	chain := newFakeChain(t)
	client := chain.client(t)
	random := rand.New(rand.NewPCG(1, 2))
	chain.notifications = func(int) int { return random.IntN(4) } // dropped, once, twice, thrice
	subscription, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	before := reconcileOften(client)
	defer before()

	const rounds = 120
	var delivered []EventEnvelope
	var listening sync.WaitGroup
	listening.Go(func() {
		for len(delivered) < rounds {
			delivered = append(delivered, receive(t, subscription))
		}
	})
	for n := range rounds {
		if random.IntN(3) == 0 {
			chain.next()
		}
		if random.IntN(20) == 0 {
			chain.cut()
		}
		if random.IntN(4) == 0 {
			chain.mention(watchedNegotiation)
		}
		// a node lists a transaction a little later than it sends the notification
		chain.change(func() { chain.unlisted = 1 })
		happened := chain.emit(offerOf(uint8(n)))
		chain.change(func() { chain.withheld[happened.signature] = random.IntN(3) })
		time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
		chain.change(func() { chain.unlisted = 0 })
	}
	listening.Wait()
	assert.Equal(t, historyOf(t, client, watchedNegotiation), delivered)
	assert.Len(t, delivered, rounds)
}

// reconcileOften reconciles the stream ten times a second.
func reconcileOften(client *Client) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for wait.For(ctx, 100*time.Millisecond) == nil {
			client.sharedFeed().Reconcile()
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

func TestWatchAgentFollowsAllNegotiations(t *testing.T) {
	chain := newFakeChain(t)
	client := chain.client(t)
	agent, buyer := solana.PublicKey{7}, solana.PublicKey{8}
	subscription, err := client.WatchAgent(t.Context(), agent)
	require.NoError(t, err)
	defer reconcileOften(client)()

	var want []EventEnvelope
	for n := range uint8(10) {
		chain.next()
		negotiation := solana.PublicKey{100, n}
		created := &protocol.NegotiationCreated{NegotiationID: negotiation, Buyer: buyer, Seller: agent}
		want = append(want, chain.created(created).envelope(created))
		// The counterparty's offer does not mention the agent.
		want = append(want, chain.emit(offerAt(negotiation, n)).envelope(offerAt(negotiation, n)))
		if n == 4 {
			chain.cut()
		}
		closed := &protocol.NegotiationClosed{NegotiationID: negotiation}
		want = append(want, chain.emit(closed).envelope(closed))
	}
	var delivered []EventEnvelope
	for range want {
		delivered = append(delivered, receive(t, subscription))
	}
	slices.SortStableFunc(delivered,
		func(a, b EventEnvelope) int { return cmp.Compare(a.Negotiation[1], b.Negotiation[1]) })
	assert.Equal(t, want, delivered, "those of each negotiation in their order")
	requireNoEvent(t, subscription)
	assert.Eventually(t, func() bool { return chain.subscriptions() == 1 }, 5*time.Second,
		10*time.Millisecond, "closed ones are not listened to")
}

func TestDroppedNotificationIsReconciled(t *testing.T) {
	chain := newFakeChain(t)
	client := chain.client(t)
	chain.notifications = func(int) int { return 0 }
	subscription, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	client.feed.Reconcile() // it reads the state of the account
	require.Eventually(t, func() bool { return !subscription.Lag().Checked.IsZero() }, 5*time.Second,
		5*time.Millisecond)
	happened := chain.emit(offerOf(1))
	lists := chain.called("getSignaturesForAddress")
	client.feed.Reconcile()
	assert.Equal(t, happened.envelope(offerOf(1)), receive(t, subscription))
	assert.LessOrEqual(t, chain.called("getSignaturesForAddress"), lists+3)
}

func TestSlowListenerLosesNothingAndBlocksNoOther(t *testing.T) {
	chain := newFakeChain(t)
	client := chain.client(t)
	other := solana.PublicKey{43}
	slow, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	quick, err := client.Watch(t.Context(), other)
	require.NoError(t, err)

	const many = 5 * feed.EventsHeld
	var want []EventEnvelope
	for n := range many {
		chain.next()
		want = append(want, chain.emit(offerOf(uint8(n))).envelope(offerOf(uint8(n))))
	}
	happened := chain.emit(offerAt(other, 1))
	assert.Equal(t, happened.envelope(offerAt(other, 1)), receive(t, quick))

	require.Eventually(t, func() bool { return slow.Lag().Held >= feed.EventsHeld }, 10*time.Second,
		time.Millisecond)
	time.Sleep(100 * time.Millisecond)
	lag := slow.Lag()
	assert.LessOrEqual(t, lag.Held, feed.EventsHeld+1, "the rest stays at the node")
	assert.GreaterOrEqual(t, lag.Slots, uint64(many-2))
	assert.NotZero(t, lag.Time)
	fetched := chain.called("getTransaction")
	assert.Less(t, fetched, many, "what there is no room for is not fetched")

	var delivered []EventEnvelope
	for range many {
		delivered = append(delivered, receive(t, slow))
	}
	assert.Equal(t, want, delivered)
	assert.Eventually(t, func() bool {
		l := slow.Lag()
		return l.Slots == 0 && l.Time == 0 && l.Held == 0 &&
			l.Connected
	}, 5*time.Second, time.Millisecond)
}

func TestSubscriptionEndsWithContextClientAndClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	chain := newFakeChain(t)
	client := chain.client(t)
	closed, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	chain.emit(offerOf(1)) // the listener receives nothing
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

	orphan, err := client.WatchAgent(t.Context(), solana.PublicKey{7})
	require.NoError(t, err)
	require.NoError(t, client.Close())
	_, open := <-orphan.Events()
	assert.False(t, open)
	assert.ErrorIs(t, orphan.Err(), ErrClientClosed)
	_, err = client.Watch(t.Context(), watchedNegotiation)
	require.ErrorIs(t, err, ErrClientClosed)
	chain.socket.CloseClientConnections()
	chain.socket.Close()
}

func TestConnectionEndsWithItsLastSubscription(t *testing.T) {
	chain := newFakeChain(t)
	client := chain.client(t)
	one, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	two, err := client.Watch(t.Context(), solana.PublicKey{43})
	require.NoError(t, err)
	one.Close()
	assert.Eventually(t, func() bool { return chain.subscriptions() == 1 }, 5*time.Second, time.Millisecond)
	two.Close()
	assert.Eventually(t, func() bool { return chain.connections() == 0 }, 5*time.Second, time.Millisecond)
	again, err := client.Watch(t.Context(), watchedNegotiation)
	require.NoError(t, err)
	happened := chain.emit(offerOf(1))
	assert.Equal(t, happened.envelope(offerOf(1)), receive(t, again))
}

func TestSubscriptionThatTheNodeRefusesIsAnErrorAtOnce(t *testing.T) {
	chain := newFakeChain(t)
	chain.refuse = func(int) (int, string) { return transaction.CodeMethodNotFound, "Method not found" }
	_, err := chain.client(t).Watch(t.Context(), watchedNegotiation)
	var refused *transaction.NodeError
	require.ErrorAs(t, err, &refused)

	away := chain.client(t)
	away.wsEndpoint = "ws://127.0.0.1:1/secret"
	_, err = away.Watch(t.Context(), watchedNegotiation)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secret")
}
