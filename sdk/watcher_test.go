package haggle

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/feed"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// scriptedSource is a scripted source that does not use the network.
type scriptedSource struct {
	lock   sync.Mutex
	notify func(events.Hint)
	opened []events.Options
	// refusing is the error of Open, if there is one.
	refusing error
	stream   *toldStream
}

type toldStream struct {
	source *scriptedSource
	done   chan struct{}
	once   sync.Once
	lock   sync.Mutex
	on     map[solana.PublicKey]bool
}

func (s *scriptedSource) Open(_ context.Context, options events.Options) (events.Stream, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.opened = append(s.opened, options)
	if s.refusing != nil {
		return nil, s.refusing
	}
	s.notify = options.Notify
	s.stream = &toldStream{source: s, done: make(chan struct{}), on: make(map[solana.PublicKey]bool)}
	return s.stream, nil
}

func (s *toldStream) Subscribe(_ context.Context, addresses []solana.PublicKey) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, address := range addresses {
		s.on[address] = true
	}
	return nil
}

func (s *toldStream) Unsubscribe(addresses []solana.PublicKey) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, address := range addresses {
		delete(s.on, address)
	}
	return nil
}

func (s *toldStream) Done() <-chan struct{} { return s.done }
func (s *toldStream) Err() error            { return assert.AnError }
func (s *toldStream) Close()                { s.once.Do(func() { close(s.done) }) }

// withFakeClock runs a test on a separate clock with a client whose source is scripted.
func withFakeClock(
	t *testing.T, test func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource),
) {
	synctest.Test(t, func(t *testing.T) {
		chain := newChainWithoutWebSocket()
		client, err := NewClient(Config{Endpoint: "http://localhost"})
		require.NoError(t, err)
		client.source = &scriptedSource{}
		chain.serveClient(client)
		defer func() { require.NoError(t, client.Close()) }()
		test(t, chain, client, client.source.(*scriptedSource))
	})
}

func (s *scriptedSource) send(e *chainTransaction, address solana.PublicKey) {
	s.lock.Lock()
	notify := s.notify
	s.lock.Unlock()
	notify(events.Hint{Address: address, Signature: e.signature, Slot: e.slot})
}

// collect returns a subscription's events until nothing more arrives for a while.
func collect(subscription *Subscription, patience time.Duration) (delivered []EventEnvelope) {
	for {
		select {
		case seen, open := <-subscription.Events():
			if !open {
				return delivered
			}
			delivered = append(delivered, seen)
		case <-time.After(patience):
			return delivered
		}
	}
}

func TestOnlyTransactionsInBlocksAreDelivered(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
		subscription, err := client.Watch(t.Context(), watchedNegotiation)
		require.NoError(t, err)
		// A dropped execution, and a lasting execution.
		lost := &chainTransaction{signature: solana.Signature{1}, slot: 1_001}
		source.send(lost, watchedNegotiation)
		second := chain.emit(offerOf(2))
		source.send(second, watchedNegotiation)
		source.send(second, watchedNegotiation)
		assert.Equal(t, []EventEnvelope{second.envelope(offerOf(2))}, collect(subscription, time.Second))

		// It is executed again after all, with no notification.
		chain.next()
		again := chain.emit(offerOf(3))
		assert.Equal(t, []EventEnvelope{again.envelope(offerOf(3))}, collect(subscription, 2*feed.RecheckEvery))
	})
}

func TestHintOfALostTransactionExpires(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
		chain.accounts[watchedNegotiation] = []byte{1}
		subscription, err := client.Watch(t.Context(), watchedNegotiation)
		require.NoError(t, err)
		time.Sleep(time.Minute)
		// the next reconciliation considers the state settled
		chain.change(func() { chain.slot += 2 * transaction.SettledSlots })
		time.Sleep(time.Minute)
		source.send(&chainTransaction{signature: solana.Signature{1}, slot: 1_001}, watchedNegotiation)
		lists := func() int { return chain.called("getSignaturesForAddress") }
		time.Sleep(feed.HintExpiry / 2)
		before := lists()
		time.Sleep(10 * time.Second)
		assert.Greater(t, lists(), before+5)
		assert.Zero(t, subscription.Lag().Time, "it is not known to be behind")
		time.Sleep(feed.HintExpiry)
		before = lists()
		time.Sleep(5 * time.Minute)
		assert.Equal(t, before, lists())
	})
}

func TestFailedAndOtherTransactionsAreNotDelivered(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
		subscription, err := client.Watch(t.Context(), watchedNegotiation)
		require.NoError(t, err)
		failed := chain.emit(offerOf(1))
		chain.failTransaction(failed)
		other := offerAt(solana.PublicKey{43}, 1)
		both := chain.emit(other, offerOf(2), other)
		source.send(failed, watchedNegotiation)
		source.send(both, watchedNegotiation)
		assert.Equal(t, []EventEnvelope{both.envelope(offerOf(2))}, collect(subscription, time.Minute))
		assert.Equal(t, []EventEnvelope{both.envelope(offerOf(2))}, historyOf(t, client, watchedNegotiation))
	})
}

func TestIncompleteLogsAreTruncated(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
		subscription, err := client.Watch(t.Context(), watchedNegotiation)
		require.NoError(t, err)
		cut := chain.execute([]solana.PublicKey{watchedNegotiation}, []string{"Log truncated"},
			watchedNegotiation)
		source.send(cut, watchedNegotiation)
		want := []EventEnvelope{{Signature: cut.signature, Slot: cut.slot, Negotiation: watchedNegotiation,
			Truncated: true}}
		assert.Equal(t, want, collect(subscription, time.Minute))
		assert.Equal(t, want, historyOf(t, client, watchedNegotiation))
	})
}

func TestTransactionWithoutDetailsIsTruncated(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, _ *scriptedSource) {
		gone := chain.emit(offerOf(1))
		chain.change(func() { chain.withheld[gone.signature] = 1 << 30 })
		next := chain.emit(offerOf(2))
		want := []EventEnvelope{{Signature: gone.signature, Slot: gone.slot, Negotiation: watchedNegotiation,
			Truncated: true}, next.envelope(offerOf(2))}
		subscription, err := client.Watch(t.Context(), watchedNegotiation, FromBeginning())
		require.NoError(t, err)
		assert.Equal(t, want, collect(subscription, 2*send.DetailsLimit))
		assert.Equal(t, want, historyOf(t, client, watchedNegotiation))
	})
}

func TestTransactionsThatAreListedLateAreMarked(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
		subscription, err := client.Watch(t.Context(), watchedNegotiation)
		require.NoError(t, err)
		first := chain.emit(offerOf(1))
		chain.next()
		second := chain.emit(offerOf(2))
		chain.hide(first)
		source.send(second, watchedNegotiation)
		assert.Equal(t, []EventEnvelope{second.envelope(offerOf(2))}, collect(subscription, time.Second))
		chain.show(first)
		source.send(first, watchedNegotiation)
		want := first.envelope(offerOf(1))
		want.Late = true
		assert.Equal(t, []EventEnvelope{want}, collect(subscription, time.Second))
	})
}

// A transaction that mentions the agent is executed after the negotiation was listed and before the agent is.
// An earlier transaction, which does not mention the agent, is delivered first.
func TestTransactionsBetweenTwoListsAreInOrder(t *testing.T) {
	for range 16 { // the order of the lists is random
		withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
			agent := solana.PublicKey{7}
			subscription, err := client.WatchAgent(t.Context(), agent)
			require.NoError(t, err)
			created := &protocol.NegotiationCreated{NegotiationID: watchedNegotiation, Seller: agent}
			creation := chain.created(created)
			source.send(creation, agent)
			require.Equal(t, []EventEnvelope{creation.envelope(created)}, collect(subscription, time.Second))

			var executed []*chainTransaction
			execute := func(round uint8, addresses ...solana.PublicKey) {
				chain.next()
				executed = append(executed, chain.execute(addresses, eventLogs(offerOf(round))))
			}
			execute(1, watchedNegotiation)
			mention := chain.mention(agent)
			chain.change(func() {
				chain.listed = func() {
					chain.change(func() { chain.listed = nil })
					execute(2, watchedNegotiation)
					execute(3, watchedNegotiation, agent)
				}
			})
			source.send(executed[0], watchedNegotiation)
			source.send(mention, agent)
			delivered := collect(subscription, time.Second)
			for _, e := range executed {
				source.send(e, watchedNegotiation)
			}
			delivered = append(delivered, collect(subscription, time.Second)...)
			var want []EventEnvelope
			for i, e := range executed {
				want = append(want, e.envelope(offerOf(uint8(i+1))))
			}
			assert.Equal(t, want, delivered)
		})
	}
}

// An agent's two negotiations in the same block: neither list shows their order.
func TestOrderWithinASlotIsTheBlocks(t *testing.T) {
	for name, first := range map[string]byte{"one": 50, "other": 51} {
		t.Run(name, func(t *testing.T) {
			withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, _ *scriptedSource) {
				agent := solana.PublicKey{7}
				var want []EventEnvelope
				for _, n := range []byte{50, 51} {
					created := &protocol.NegotiationCreated{NegotiationID: solana.PublicKey{n}, Seller: agent}
					want = append(want, chain.created(created).envelope(created))
					chain.next()
				}
				for _, n := range []byte{first, 101 - first, first} {
					offer := offerAt(solana.PublicKey{n}, n)
					want = append(want, chain.emit(offer).envelope(offer))
				}
				chain.next()
				subscription, err := client.WatchAgent(t.Context(), agent, FromBeginning())
				require.NoError(t, err)
				assert.Equal(t, want, collect(subscription, time.Second))
				assert.NotZero(t, chain.called("getBlock"))
			})
		})
	}
}

func TestIncompleteBlockIsDeliveredInItsFinalOrder(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
		subscription, err := client.Watch(t.Context(), watchedNegotiation)
		require.NoError(t, err)
		chain.change(func() { chain.processed = true })
		first, second := chain.emit(offerOf(1)), chain.emit(offerOf(2))
		source.send(second, watchedNegotiation)
		assert.Empty(t, collect(subscription, 300*time.Millisecond))
		chain.next()
		assert.Equal(t, []EventEnvelope{first.envelope(offerOf(1)), second.envelope(offerOf(2))},
			collect(subscription, time.Second))
	})
}

// Anyone can mention an agent, as often as they pay for transactions.
func TestUnrelatedTransactionsDelayNothing(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
		agent := solana.PublicKey{7}
		subscription, err := client.WatchAgent(t.Context(), agent)
		require.NoError(t, err)
		created := &protocol.NegotiationCreated{NegotiationID: watchedNegotiation, Seller: agent}
		creation := chain.created(created)
		source.send(creation, agent)
		assert.Equal(t, []EventEnvelope{creation.envelope(created)}, collect(subscription, time.Second))

		const many = feed.UnrelatedAtOnce + 500
		for range many {
			chain.mention(agent)
		}
		fetched := chain.called("getTransaction")
		source.stream.Close() // the connection is lost
		time.Sleep(time.Second)
		assert.LessOrEqual(t, chain.called("getTransaction")-fetched, feed.UnrelatedAtOnce+20)
		assert.NotZero(t, subscription.Lag().Time, "what has not been looked at is no secret")

		offer := chain.emit(offerOf(1))
		source.send(offer, watchedNegotiation)
		late := &protocol.NegotiationCreated{NegotiationID: solana.PublicKey{43}, Seller: agent}
		second := chain.created(late)
		source.send(second, agent)
		assert.Equal(t, []EventEnvelope{offer.envelope(offerOf(1)), second.envelope(late)},
			collect(subscription, 5*time.Second))
		time.Sleep(time.Minute)
		assert.Zero(t, subscription.Lag().Time)
		assert.Less(t, chain.called("getTransaction")-fetched, many+20, "each once")
	})
}

func TestUnrelatedHintsAreNotFetched(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
		agent := solana.PublicKey{7}
		subscription, err := client.WatchAgent(t.Context(), agent)
		require.NoError(t, err)
		for range 100 {
			e := chain.mention(agent)
			source.notify(events.Hint{Address: agent, Signature: e.signature, Slot: e.slot, Unrelated: true})
		}
		time.Sleep(3 * feed.ReconcileEvery)
		assert.Zero(t, chain.called("getTransaction"))
		created := &protocol.NegotiationCreated{NegotiationID: watchedNegotiation, Seller: agent}
		creation := chain.created(created)
		// The same transaction in another slot is another execution.
		source.notify(events.Hint{Address: agent, Signature: creation.signature, Slot: creation.slot - 1,
			Unrelated: true})
		assert.Equal(t, []EventEnvelope{creation.envelope(created)}, collect(subscription, 2*feed.ReconcileEvery))
		assert.Equal(t, 1, chain.called("getTransaction"))
	})
}

func TestUnreachableNodeLosesNothing(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
		subscription, err := client.Watch(t.Context(), watchedNegotiation)
		require.NoError(t, err)
		chain.change(func() { chain.failing = true })
		happened := chain.emit(offerOf(1))
		source.send(happened, watchedNegotiation)
		assert.Empty(t, collect(subscription, time.Second))
		assert.GreaterOrEqual(t, subscription.Lag().Time, time.Second)
		chain.change(func() { chain.failing = false })
		assert.Equal(t, []EventEnvelope{happened.envelope(offerOf(1))}, collect(subscription, 3*time.Second),
			"long before the next reconciliation")
	})
}

func TestLostSourceIsReopenedAtItsLastSlot(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, source *scriptedSource) {
		subscription, err := client.Watch(t.Context(), watchedNegotiation)
		require.NoError(t, err)
		first := chain.emit(offerOf(1))
		source.send(first, watchedNegotiation)
		assert.Len(t, collect(subscription, time.Second), 1)
		source.lock.Lock()
		source.refusing = assert.AnError
		source.stream.Close()
		source.lock.Unlock()
		time.Sleep(time.Minute)
		chain.change(func() { chain.slot += 150 })
		time.Sleep(time.Minute)
		lag := subscription.Lag()
		assert.False(t, lag.Connected)
		assert.InDelta(t, 2*time.Minute, lag.Time, float64(5*time.Second))
		assert.EqualValues(t, 150, lag.Slots)
		second := chain.emit(offerOf(2))
		assert.Equal(t, []EventEnvelope{second.envelope(offerOf(2))}, collect(subscription, 30*time.Second),
			"reconciliation goes on")

		source.lock.Lock()
		source.refusing = nil
		source.lock.Unlock()
		time.Sleep(time.Minute)
		assert.True(t, subscription.Lag().Connected)
		last := source.opened[len(source.opened)-1]
		assert.Equal(t, first.slot-feed.ReplaySlots, last.FromSlot)
	})
}

func TestTooLongHistoryEndsTheSubscription(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, _ *scriptedSource) {
		chain.change(func() {
			flood := make([]*chainTransaction, feed.HistoryLimit+1)
			for i := range flood {
				flood[i] = &chainTransaction{signature: signatureOf(i + 1), slot: 900,
					addresses: []solana.PublicKey{watchedNegotiation}}
			}
			chain.executed = flood
		})
		subscription, err := client.Watch(t.Context(), watchedNegotiation, FromBeginning())
		require.NoError(t, err)
		assert.Empty(t, collect(subscription, time.Second))
		require.ErrorIs(t, subscription.Err(), ErrHistoryTooLong)
		for _, err := range client.History(t.Context(), watchedNegotiation) {
			require.ErrorIs(t, err, ErrHistoryTooLong)
		}
	})
}

func TestHistoryYieldsAllEventsAndStops(t *testing.T) {
	withFakeClock(t, func(t *testing.T, chain *fakeChain, client *Client, _ *scriptedSource) {
		var want []EventEnvelope
		for n := range uint8(10) {
			chain.mention(watchedNegotiation)
			want = append(want, chain.emit(offerOf(n)).envelope(offerOf(n)))
		}
		assert.Equal(t, want, historyOf(t, client, watchedNegotiation))
		for seen, err := range client.History(t.Context(), watchedNegotiation) {
			require.NoError(t, err)
			assert.Equal(t, want[0], seen)
			break
		}
		assert.Empty(t, historyOf(t, client, solana.PublicKey{43}))
		chain.change(func() { chain.failing = true })
		for _, err := range client.History(t.Context(), watchedNegotiation) {
			require.Error(t, err)
		}
	})
}

// failTransaction makes a transaction fail.
func (c *fakeChain) failTransaction(e *chainTransaction) {
	c.lock.Lock()
	defer c.lock.Unlock()
	e.failed = object{"InstructionError": []any{0, object{"Custom": 6002}}}
	e.answer.(object)["meta"].(object)["err"] = e.failed
}

// hide removes a transaction from the chain, and show puts it back into place.
func (c *fakeChain) hide(e *chainTransaction) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.executed = slices.DeleteFunc(slices.Clone(c.executed),
		func(other *chainTransaction) bool { return other == e })
}

func (c *fakeChain) show(e *chainTransaction) {
	c.lock.Lock()
	defer c.lock.Unlock()
	at := slices.IndexFunc(c.executed, func(other *chainTransaction) bool { return other.slot > e.slot })
	c.executed = slices.Insert(c.executed, at, e)
}
