package rpcpool

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

const otherGenesis = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"

func TestNodeOfAnotherClusterGetsNoRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &fakeNode{slot: 7}, &fakeNode{slot: 9_000, genesis: otherGenesis}, &fakeNode{slot: 8}
		pool := newFakePool(t, nil, one, two, three)
		requireBalance(t, pool, 7)
		assert.Empty(t, two.calls, "no request before it is needed")
		require.NoError(t, send(t.Context(), pool))
		synctest.Wait()
		one.fail = always(errReset)
		requireBalance(t, pool, 8)
		three.fail = always(errReset)
		for range 2 {
			_, err := balance(t.Context(), pool)
			require.Error(t, err)
		}
		assert.Equal(t, []string{"getGenesisHash"}, two.calls, "once, and nothing else")
		require.ErrorIs(t, pool.Health()[1].Err, transaction.ErrOtherCluster)
		assert.EqualError(t, pool.Health()[1].Err, "the node is of another cluster: its genesis hash is "+otherGenesis+" instead of "+genesisHash)
		assert.Equal(t, 1, one.called("getGenesisHash"))
	})
}

func TestConfiguredClusterOverridesTheFirstNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 7}, &fakeNode{slot: 9, genesis: otherGenesis}
		pinned := func(o *Options) { o.GenesisHash = solana.MustHashFromBase58(otherGenesis) }
		requireBalance(t, newFakePool(t, pinned, one, two), 9)

		alone := newFakePool(t, pinned, one)
		for range 2 {
			_, err := balance(t.Context(), alone)
			require.ErrorIs(t, err, transaction.ErrOtherCluster)
			require.ErrorIs(t, send(t.Context(), alone), transaction.ErrOtherCluster)
		}
		assert.Zero(t, one.called("getBalance"))
		assert.Zero(t, one.called("sendTransaction"))
	})
}

func TestSingleNodeGetsNoClusterRequest(t *testing.T) {
	one := &fakeNode{slot: 7}
	requireBalance(t, newFakePool(t, nil, one), 7)
	assert.Equal(t, []string{"getBalance"}, one.calls)
}

func TestClusterRequestIsRepeatedAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, nonsense := range []any{7, "nonsense", nil} {
			one, two := &fakeNode{slot: 7, answer: func(string, []any) any { return nonsense }}, &fakeNode{slot: 8}
			if nonsense == nil {
				one.fail, one.answer = always(errReset), nil
			}
			pool := newFakePool(t, nil, one, two)
			requireBalance(t, pool, 8)
			assert.Zero(t, one.called("getBalance"))
			one.fail, one.answer = nil, nil
			one.reach(8)
			time.Sleep(time.Second)
			requireBalance(t, pool, 8)
			assert.Equal(t, 1, one.called("getBalance"))
		}
	})
}

func TestConcurrentCallsShareTheClusterRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 7, latency: 100 * time.Millisecond}, &fakeNode{slot: 7}
		pool := newFakePool(t, nil, one, two)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { requireBalance(t, pool, 7) })
		}
		all.Wait()
		assert.Equal(t, 1, one.called("getGenesisHash"))
		assert.Equal(t, 50, one.called("getBalance"))
	})
}

// A fallback of another cluster that responds before the preferred endpoint must not cause a ban of the
// preferred endpoint.
func TestFirstNodeDecidesTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &fakeNode{slot: 7, fail: always(errReset)}, &fakeNode{slot: 9_000, genesis: otherGenesis}, &fakeNode{slot: 8}
		pool := newFakePool(t, nil, one, two, three)
		requireBalance(t, pool, 9_000)
		require.NoError(t, send(t.Context(), pool))
		synctest.Wait()
		require.ErrorIs(t, pool.Health()[2].Err, transaction.ErrOtherCluster)

		one.fail = nil
		time.Sleep(longRest)
		requireBalance(t, pool, 7)
		one.fail = always(errReset)
		requireBalance(t, pool, 8)
		three.fail = always(errReset)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, transaction.ErrOtherCluster)
		require.ErrorIs(t, pool.Health()[1].Err, transaction.ErrOtherCluster)
	})
}
