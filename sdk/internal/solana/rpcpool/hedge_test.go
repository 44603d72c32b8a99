package rpcpool

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSlowReadIsHedged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 7, latency: 50 * time.Millisecond}, &fakeNode{slot: 7, latency: 10 * time.Millisecond}
		pool := newFakePool(t, nil, one, two)
		for range 20 {
			requireBalance(t, pool, 7)
		}
		assert.Zero(t, two.called("getBalance"), "as long as the first one is as fast as ever")
		one.latency = time.Minute
		began := time.Now()
		requireBalance(t, pool, 7)
		// The second endpoint must return the genesis hash first.
		assert.Equal(t, 70*time.Millisecond, time.Since(began))
		synctest.Wait()
		assert.Equal(t, 1, one.abandoned(), "the slow request is given up")

		for range 5 {
			time.Sleep(100 * time.Millisecond)
			requireBalance(t, pool, 7)
		}
		assert.LessOrEqual(t, one.called("getBalance"), 23, "a node that is slow repeatedly rests")
	})
}

func TestHedgeIsSentAfterTheConfiguredTime(t *testing.T) {
	for _, c := range []struct{ after, want time.Duration }{
		{after: 200 * time.Millisecond, want: 200 * time.Millisecond}, {after: -1, want: time.Second}, {after: 0, want: unknownHedgeDelay},
	} {
		synctest.Test(t, func(t *testing.T) {
			one, two := &fakeNode{slot: 7, latency: time.Second}, &fakeNode{slot: 7}
			pool := newFakePool(t, func(o *Options) { o.HedgeAfter = c.after }, one, two)
			pool.endpoints[0].admitted.Store(true)
			began := time.Now()
			requireBalance(t, pool, 7)
			assert.Equal(t, c.want, time.Since(began))
		})
	}
}

func TestFirstValidAnswerIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &fakeNode{slot: 7, latency: time.Second}
		two := &fakeNode{slot: 7, fail: failing(errReset, "getBalance")}
		pool := newFakePool(t, func(o *Options) { o.HedgeAfter = 100 * time.Millisecond }, one, two)
		pool.endpoints[0].admitted.Store(true)
		began := time.Now()
		requireBalance(t, pool, 7)
		assert.Equal(t, time.Second, time.Since(began))
		assert.Equal(t, 1, two.called("getBalance"))
	})
}

func TestOnlyReadsAreHedged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 7, latency: 10 * time.Second}, &fakeNode{slot: 7}
		pool := newFakePool(t, nil, one, two)
		require.NoError(t, pool.Call(t.Context(), new(any), "requestAirdrop", []any{"address"}))
		assert.Zero(t, two.called("requestAirdrop"))
	})
}

func TestSlownessEverywhereDoesNotDoubleTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 7, latency: time.Second}, &fakeNode{slot: 7, latency: time.Second}
		pool := newFakePool(t, func(o *Options) { o.HedgeAfter = time.Millisecond }, one, two)
		for range 200 {
			requireBalance(t, pool, 7)
		}
		assert.LessOrEqual(t, two.called("getBalance"), 200/10+hedgesAtOnce)
		assert.GreaterOrEqual(t, two.called("getBalance"), 20)
	})
}

func TestHedgeDelayAdaptsToASlowerNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 7, latency: 10 * time.Millisecond}, &fakeNode{slot: 7, latency: 200 * time.Millisecond}
		pool := newFakePool(t, nil, one, two)
		for range 20 {
			requireBalance(t, pool, 7)
		}
		requireBalance(t, newFakePool(t, nil, two), 7)
		one.latency = 250 * time.Millisecond
		for range 40 {
			requireBalance(t, pool, 7)
			time.Sleep(time.Minute)
		}
		before := two.called("getBalance")
		for range 20 {
			requireBalance(t, pool, 7)
			time.Sleep(time.Minute)
		}
		assert.LessOrEqual(t, two.called("getBalance")-before, 2, "one of twenty is slower than the others")
	})
}

func TestClosingDoesNotWaitForSlowNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{latency: 20 * time.Second}, &fakeNode{latency: 20 * time.Second}
		pool := newFakePool(t, nil, one, two)
		ended := make(chan error, 1)
		go func() {
			_, err := balance(t.Context(), pool)
			ended <- err
		}()
		time.Sleep(time.Second)
		began := time.Now()
		pool.Close()
		assert.Zero(t, time.Since(began))
		require.ErrorIs(t, <-ended, ErrClosed)
	})
}

func TestLatencyIsThe95thPercentile(t *testing.T) {
	var many latencies
	for i := range 100 {
		many.add(time.Duration(i) * time.Millisecond)
	}
	assert.Equal(t, 97*time.Millisecond, many.slowest(), "of the last forty, which took 60 to 99")
}
