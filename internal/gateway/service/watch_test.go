package service_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/store/storetest"
)

// move records a move in an open negotiation, as a job does. A client's move leaves the answer pending.
func (f *fixture) move(t *testing.T, id string, actor engine.Party, price uint64) {
	t.Helper()
	round := store.Round{Actor: actor, Terms: at(price).Canonical()}
	require.NoError(t, storetest.Move(t.Context(), f.store, id, round))
}

func (f *fixture) watch(t *testing.T, caller identity.Caller, id string) *service.Watch {
	t.Helper()
	w, err := f.Watch(caller, id)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

// next returns a watch's next change, which must be within some seconds.
func next(t *testing.T, w *service.Watch) service.Details {
	t.Helper()
	d, changed, err := w.Next(t.Context(), 30*time.Second)
	require.NoError(t, err)
	require.True(t, changed)
	return d
}

func TestWatchReturnsEachChange(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		id := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		ofClient, ofPublisher := f.watch(t, f.openAI, id), f.watch(t, f.siteA, id)
		require.Equal(t, 1, next(t, ofClient).Round)
		_, changed, err := ofClient.Next(t.Context(), 1500*time.Millisecond)
		require.NoError(t, err)
		require.False(t, changed)

		f.move(t, id, engine.PartyClient, 1600)
		waiting := next(t, ofClient)
		require.True(t, waiting.AnswerPending)
		require.Equal(t, 2, waiting.Round)
		require.Len(t, waiting.Rounds, 3)
		first := next(t, ofPublisher)
		require.True(t, first.AnswerPending)
		require.NotNil(t, first.Rounds[1].Analysis, "the publisher's view")
		require.Nil(t, waiting.Rounds[1].Analysis)
		f.move(t, id, engine.PartyPublisher, 1900)
		for _, w := range []*service.Watch{ofClient, ofPublisher} {
			answered := next(t, w)
			require.False(t, answered.AnswerPending)
			require.EqualValues(t, 1900, answered.CurrentTerms.Price)
		}

		f.offset.Add(int64(2 * time.Hour))
		_, err = f.store.Sweep(t.Context(), store.MaxSweep)
		require.NoError(t, err)
		require.Equal(t, engine.TimedOut, next(t, ofClient).Status)
	})
}

// A watch shows a negotiation to its own parties only, and notices if the caller loses the right.
func TestWatchOfOthersNegotiations(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		id := f.propose(t, f.anonymous, at(1500), "site-a.local").Answers[0].Negotiation.ID
		for _, stranger := range []identity.Caller{f.openAI, f.siteB} {
			_, _, err := f.watch(t, stranger, id).Next(ctx, time.Second)
			fails(t, err, service.NotFound, string(service.NotFound))
		}
		own := f.watch(t, f.anonymous, id)
		next(t, own)
		next(t, f.watch(t, f.administrator, id))
		require.NoError(t, own.Check(ctx))
		network, err := f.store.ClientBySubject(ctx, store.ClientAnonymous, f.anonymous.LimitKey())
		require.NoError(t, err)
		_, err = f.UpdateClient(ctx, f.administrator, network.ID, service.ClientChange{Suspended: new(true)})
		require.NoError(t, err)
		fails(t, own.Check(ctx), service.Forbidden, identity.CodeSuspended)
		f.move(t, id, engine.PartyClient, 1600)
		_, _, err = own.Next(ctx, 30*time.Second)
		fails(t, err, service.Forbidden, identity.CodeSuspended)
	})
}

func TestWatchesAreLimited(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/gateway.db")
	id := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
	var own []*service.Watch
	for range 8 {
		w, err := f.Watch(f.openAI, id)
		require.NoError(t, err)
		own = append(own, w)
	}
	_, err := f.Watch(f.openAI, id)
	require.Positive(t, fails(t, err, service.Limit, service.CodeLimitWatches).RetryAfter)
	own[0].Close()
	f.watch(t, f.openAI, id)
	for n := range int64(992) {
		f.watch(t, identity.Caller{Kind: identity.Client, ID: 100 + n}, id)
	}
	_, err = f.Watch(f.claude, id)
	require.Positive(t, fails(t, err, service.Limit, service.CodeLimitWatches).RetryAfter)
	for _, w := range own[1:] {
		w.Close()
	}
	f.watch(t, f.claude, id)
}

// Many networks of anonymous callers leave places to the others.
func TestAnonymousWatchesAreLimited(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/gateway.db")
	id := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
	network := func(n int) identity.Caller {
		caller := f.anonymous
		caller.Address = netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, byte(n), 0}), 24)
		return caller
	}
	first, err := f.Watch(network(0), id)
	require.NoError(t, err)
	for n := 1; n < 200; n++ {
		f.watch(t, network(n), id)
	}
	_, err = f.Watch(network(200), id)
	fails(t, err, service.Limit, service.CodeLimitWatches)
	f.watch(t, f.openAI, id)
	first.Close()
	f.watch(t, network(200), id)
}

func TestWatchEndsWithItsContextOrTheDatabase(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/gateway.db")
	id := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
	ctx, cancel := context.WithCancel(t.Context())
	w := f.watch(t, f.openAI, id)
	next(t, w)
	cancel()
	_, _, err := w.Next(ctx, time.Minute)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, f.store.Close())
	_, _, err = w.Next(t.Context(), time.Minute)
	require.ErrorContains(t, err, "closed")
}

// Many watches of one negotiation begin, wait and end at the same time.
func TestConcurrentWatches(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		id := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		callers := []identity.Caller{f.openAI, f.siteA, f.administrator}
		var group sync.WaitGroup
		ready := make(chan struct{}, 18)
		for n := range 18 {
			group.Go(func() {
				w, err := f.Watch(callers[n%3], id)
				if err != nil {
					t.Error(err)
					ready <- struct{}{}
					return
				}
				defer w.Close()
				_, _, err = w.Next(t.Context(), 0)
				ready <- struct{}{}
				if n < 6 || err != nil { // six end before the change
					return
				}
				d, changed, err := w.Next(t.Context(), 30*time.Second)
				if err != nil || !changed || !d.AnswerPending {
					t.Error(d, changed, err)
				}
			})
		}
		for range 18 {
			<-ready
		}
		f.move(t, id, engine.PartyClient, 1600)
		group.Wait()
	})
}
