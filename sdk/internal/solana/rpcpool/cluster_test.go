package rpcpool

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const otherGenesis = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"

func TestNodeOfAnotherClusterIsNeverAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &player{slot: 7}, &player{slot: 9_000, genesis: otherGenesis}, &player{slot: 8}
		pool := newPlayed(t, nil, one, two, three)
		requireBalance(t, pool, 7)
		assert.Empty(t, two.calls, "it is asked when it is needed")
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
		require.ErrorIs(t, pool.Health()[1].Err, ErrOtherCluster)
		assert.EqualError(t, pool.Health()[1].Err, "the node is of another cluster: its genesis hash is "+otherGenesis+" instead of "+genesisHash)
		assert.Equal(t, 1, one.called("getGenesisHash"))
	})
}

func TestConfiguredClusterIsTheOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &player{slot: 7}, &player{slot: 9, genesis: otherGenesis}
		pinned := func(o *Options) { o.GenesisHash = solana.MustHashFromBase58(otherGenesis) }
		requireBalance(t, newPlayed(t, pinned, one, two), 9)

		alone := newPlayed(t, pinned, one)
		for range 2 {
			_, err := balance(t.Context(), alone)
			require.ErrorIs(t, err, ErrOtherCluster)
			require.ErrorIs(t, send(t.Context(), alone), ErrOtherCluster)
		}
		assert.Zero(t, one.called("getBalance"))
		assert.Zero(t, one.called("sendTransaction"))
	})
}

func TestSingleNodeIsNotAskedOfWhichClusterItIs(t *testing.T) {
	one := &player{slot: 7}
	requireBalance(t, newPlayed(t, nil, one), 7)
	assert.Equal(t, []string{"getBalance"}, one.calls)
}

func TestNodeThatDoesNotSayItsClusterIsAskedAgainLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, nonsense := range []any{7, "nonsense", nil} {
			one, two := &player{slot: 7, answer: func(string, []any) any { return nonsense }}, &player{slot: 8}
			if nonsense == nil {
				one.fail, one.answer = always(errReset), nil
			}
			pool := newPlayed(t, nil, one, two)
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

func TestClusterIsAskedForOnceEvenByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &player{slot: 7, latency: 100 * time.Millisecond}, &player{slot: 7}
		pool := newPlayed(t, nil, one, two)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { requireBalance(t, pool, 7) })
		}
		all.Wait()
		assert.Equal(t, 1, one.called("getGenesisHash"))
		assert.Equal(t, 50, one.called("getBalance"))
	})
}

// A fallback that is faster than the first node, and says that it is of another cluster, must not come to be the only one that is asked.
func TestFallbackDoesNotSayWhichClusterItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &player{slot: 7, fail: always(errReset)}, &player{slot: 9_000, genesis: otherGenesis}, &player{slot: 8}
		pool := newPlayed(t, nil, one, two, three)
		requireBalance(t, pool, 9_000)
		require.NoError(t, send(t.Context(), pool))
		synctest.Wait()
		require.ErrorIs(t, pool.Health()[2].Err, ErrOtherCluster)

		one.fail = nil
		time.Sleep(longRest)
		requireBalance(t, pool, 7)
		one.fail = always(errReset)
		requireBalance(t, pool, 8)
		three.fail = always(errReset)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, ErrOtherCluster)
		require.ErrorIs(t, pool.Health()[1].Err, ErrOtherCluster)
	})
}
