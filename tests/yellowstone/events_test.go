package yellowstone_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// testLimit is the time limit per test.
	testLimit = 5 * time.Minute
	// eventLimit is the time limit for receiving an event: finality, a reconnection, and a busy machine.
	eventLimit = 90 * time.Second
	// repetitions is how often to retry for an event order that depends on chance.
	repetitions = 20
	// pluginReplays is the number of slots that the plugin can repeat, small enough for a test to wait until
	// a slot is gone.
	pluginReplays = 100
)

// listener is a client that uses the plugin through a proxy.
type listener struct {
	*haggle.Client
	proxy    *proxy
	recorder *recorder
}

func (s *station) listen(t *testing.T, commitment rpc.CommitmentType) *listener {
	t.Helper()
	l := &listener{proxy: startProxy(t, s.address)}
	l.recorder = &recorder{Source: s.source(t, l.proxy.address(), 0)}
	var err error
	l.Client, err = haggle.NewClient(haggle.Config{Endpoint: s.Chain.RPCURL(), Commitment: commitment, Source: l.recorder})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// untilClosed returns a subscription's events until negotiations are closed.
func untilClosed(t *testing.T, subscription *haggle.Subscription, closed int) (hinted []haggle.EventEnvelope) {
	t.Helper()
	for closed > 0 {
		select {
		case seen, open := <-subscription.Events():
			require.True(t, open, "ended: %v", subscription.Err())
			hinted = append(hinted, seen)
			if _, last := seen.Event.(*protocol.NegotiationClosed); last {
				closed--
			}
		case <-time.After(eventLimit):
			t.Fatalf("no event after %d events", len(hinted))
		}
	}
	return hinted
}

func signatures(observed []haggle.EventEnvelope) (all []solana.Signature) {
	for _, seen := range observed {
		if len(all) == 0 || all[len(all)-1] != seen.Signature {
			all = append(all, seen.Signature)
		}
	}
	return all
}

// A listener receives every event of a negotiation once and in order, although the connection is cut, and
// although it is disconnected while offers are made; the plugin sends a hint for each event, in that order.
func TestEveryEventArrivesAcrossInterruptions(t *testing.T) {
	s := startStation(t, limits{replayedSlots: pluginReplays})
	t.Run("negotiations", func(t *testing.T) {
		t.Run("silence", s.stallTheConnection)
		for _, commitment := range []rpc.CommitmentType{rpc.CommitmentConfirmed, rpc.CommitmentFinalized} {
			t.Run(string(commitment), func(t *testing.T) {
				t.Parallel()
				s.playWithInterruptions(t, commitment)
			})
		}
	})
	t.Run("one subscription after another", s.subscribeTwice)
	t.Run("lost slots", s.requestLostSlots)
	t.Run("strangers", s.refuseUntrusted)
}

func (s *station) playWithInterruptions(t *testing.T, commitment rpc.CommitmentType) {
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	l := s.listen(t, commitment)
	n, create := s.prepare(t, ctx)
	subscription, err := l.Watch(ctx, n.address)
	require.NoError(t, err)
	defer subscription.Close()

	create()
	n.join()
	n.offer(2)
	for range 3 {
		l.proxy.cut()
		n.offer(2)
	}
	l.proxy.goAway()
	n.offer(4)
	l.proxy.comeBack()
	n.offer(2)
	n.end()
	hinted := untilClosed(t, subscription, 1)
	happened := history(t, l.Client, n.address)
	assert.Equal(t, happened, hinted)
	assert.Equal(t, signatures(happened), l.recorder.hinted(n.address), "the plugin's own account of it")
	opened, resumed := l.recorder.counts()
	assert.GreaterOrEqual(t, resumed, 2, "streams that began where the one before had ended")
	t.Logf("%d events in %d transactions over %d streams, which ended with %q", len(happened), len(signatures(happened)), opened, l.recorder.reasons())
}

// A connection that silently stops transmitting is given up; the listener still receives all events.
func (s *station) stallTheConnection(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	l := s.listen(t, rpc.CommitmentConfirmed)
	n, create := s.prepare(t, ctx)
	subscription, err := l.Watch(ctx, n.address)
	require.NoError(t, err)
	defer subscription.Close()
	create()
	n.join()
	l.proxy.stall()
	n.offer(2)
	n.end()
	hinted := untilClosed(t, subscription, 1)
	assert.Equal(t, history(t, l.Client, n.address), hinted)
	assert.Eventually(t, func() bool {
		_, resumed := l.recorder.counts()
		return resumed > 0
	}, eventLimit, 100*time.Millisecond, "a new stream")
	t.Logf("the stream ended with %q", l.recorder.reasons())
}

// A new stream repeats earlier transactions, even when the next subscription follows at once: after reading
// several filters, the plugin applies only the last filter.
func (s *station) subscribeTwice(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	n, create := s.prepare(t, ctx)
	create()
	n.join()
	n.offer(1)
	happened := history(t, s.Client, n.address)
	source := s.source(t, s.address, 0)
	for range repetitions {
		heard := make(chan events.Hint, 64)
		stream, err := source.Open(ctx, events.Options{Program: protocol.ProgramID,
			Commitment: rpc.CommitmentConfirmed, FromSlot: happened[0].Slot, Notify: func(n events.Hint) { heard <- n },
		})
		require.NoError(t, err)
		require.NoError(t, stream.Subscribe(ctx, []solana.PublicKey{n.address}))
		require.NoError(t, stream.Subscribe(ctx, []solana.PublicKey{solana.NewWallet().PublicKey()}))
		for _, signature := range signatures(happened) {
			select {
			case notice := <-heard:
				require.Equal(t, signature, notice.Signature)
			case <-time.After(10 * time.Second):
				t.Fatal("nothing is repeated")
			}
		}
		stream.Close()
	}
}

// If a stream requests slots that the plugin no longer holds, it ends, and the next stream starts without
// them.
func (s *station) requestLostSlots(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	s.awaitSlot(t, ctx, pluginReplays+50)
	source := s.source(t, s.address, 0)
	n, create := s.prepare(t, ctx)
	heard := make(chan events.Hint, 64)
	options := events.Options{Program: protocol.ProgramID, Commitment: rpc.CommitmentConfirmed, FromSlot: 1, Notify: func(n events.Hint) { heard <- n }}
	first, err := source.Open(ctx, options)
	require.NoError(t, err)
	defer first.Close()
	err = first.Subscribe(ctx, []solana.PublicKey{n.address})
	if err == nil {
		<-first.Done()
		err = first.Err()
	}
	require.Equal(t, codes.OutOfRange, status.Code(err), "%v", err)

	second, err := source.Open(ctx, options)
	require.NoError(t, err)
	defer second.Close()
	require.NoError(t, second.Subscribe(ctx, []solana.PublicKey{n.address}))
	create()
	select {
	case notice := <-heard:
		assert.Equal(t, n.address, notice.Address)
		assert.False(t, notice.Unrelated)
	case <-time.After(eventLimit):
		t.Fatal("no event")
	}
}

// The plugin refuses clients lacking the token, and the source refuses a server lacking the plugin's
// certificate.
func (s *station) refuseUntrusted(t *testing.T) {
	options := events.Options{Program: protocol.ProgramID, Commitment: rpc.CommitmentConfirmed, Notify: func(events.Hint) {}}
	withoutToken := *s
	withoutToken.token = "another"
	_, err := withoutToken.source(t, s.address, 0).Open(t.Context(), options)
	require.Equal(t, codes.Unauthenticated, status.Code(err), "%v", err)
	withoutTrust := *s
	withoutTrust.trusted = nil
	_, err = withoutTrust.source(t, s.address, 0).Open(t.Context(), options)
	require.ErrorContains(t, err, "certificate")
}

// A service with no repetition and few addresses per filter is sufficient: a subscription to an agent returns
// all events from all negotiations, in order per negotiation, across interruptions.
func TestServiceWithoutRepetitionIsSufficient(t *testing.T) {
	s := startStation(t, limits{addresses: 3})
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	l := &listener{proxy: startProxy(t, s.address)}
	l.recorder = &recorder{Source: s.source(t, l.proxy.address(), 3)}
	var err error
	l.Client, err = haggle.NewClient(haggle.Config{Endpoint: s.Chain.RPCURL(), Source: l.recorder})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	subscription, err := l.WatchAgent(ctx, s.Seller.PublicKey())
	require.NoError(t, err)
	defer subscription.Close()

	var played []*negotiation
	for range 4 {
		n, create := s.prepare(t, ctx)
		create()
		n.join()
		n.offer(1)
		played = append(played, n)
	}
	l.proxy.goAway()
	for _, n := range played {
		n.offer(1)
	}
	l.proxy.comeBack()
	for _, n := range played {
		n.offer(1)
		n.end()
	}
	hinted := make(map[solana.PublicKey][]haggle.EventEnvelope)
	for _, seen := range untilClosed(t, subscription, len(played)) {
		hinted[seen.Negotiation] = append(hinted[seen.Negotiation], seen)
	}
	for _, n := range played {
		assert.Equal(t, history(t, l.Client, n.address), hinted[n.address])
	}
	assert.Contains(t, strings.Join(l.recorder.reasons(), "\n"), "from_slot is not supported")

	demanding, err := s.source(t, s.address, 0).Open(ctx, events.Options{Program: protocol.ProgramID, Commitment: rpc.CommitmentConfirmed, Notify: func(events.Hint) {}})
	require.NoError(t, err)
	defer demanding.Close()
	addresses := []solana.PublicKey{s.Buyer.PublicKey(), s.Seller.PublicKey(), s.Mint, s.Treasury}
	require.ErrorContains(t, demanding.Subscribe(ctx, addresses), "Max amount of Pubkeys")
}
