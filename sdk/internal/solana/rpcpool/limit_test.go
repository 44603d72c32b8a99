package rpcpool

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The time that a request waits for the client's own rate limit is not the node's latency.
func TestOwnRateLimitIsNeitherLatencyNorError(t *testing.T) {
	for name, nodes := range map[string]int{"one node": 1, "two nodes": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				players := make([]*fakeNode, nodes)
				for i := range players {
					players[i] = &fakeNode{slot: 100, latency: 5 * time.Millisecond}
				}
				pool := newFakePool(t, func(o *Options) { o.RequestsPerSecond = 1 }, players...)
				defer pool.Close()
				began := time.Now()
				var reading sync.WaitGroup
				for range 90 {
					reading.Go(func() {
						_, err := balance(t.Context(), pool)
						assert.NoError(t, err)
					})
				}
				reading.Wait()
				require.Greater(t, time.Since(began), 40*time.Second, "the limit is kept")
				for _, health := range pool.Health() {
					assert.Zero(t, health.Errors, health.Host)
					assert.NoError(t, health.Err)
					assert.Less(t, health.Latency, 50*time.Millisecond, health.Host)
				}
			})
		})
	}
}

// A node's first request is for the genesis hash, and the rate limit delays the second request.
func TestNodeIsNotOvertakenDuringTheOwnRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 7}, &fakeNode{slot: 7}
		pool := newFakePool(t, func(o *Options) { o.RequestsPerSecond = 1 }, one, two)
		defer pool.Close()
		pool.endpoints[1].admitted.Store(true)
		began := time.Now()
		requireBalance(t, pool, 7)
		assert.Equal(t, unknownHedgeDelay, time.Since(began), "the second node answers")
		assert.Zero(t, pool.Health()[0].Errors)
	})
}

func TestOwnRateLimitIsNotPartOfAStreamsLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &fakeNode{slot: 100, latency: 5 * time.Millisecond, answer: func(method string, _ []any) any {
			if method != "getProgramAccounts" {
				return nil
			}
			return object{"context": object{"slot": 100}, "value": []any{1}}
		}}
		pool := newFakePool(t, func(o *Options) { o.RequestsPerSecond = 1 }, node)
		defer pool.Close()
		began := time.Now()
		var reading sync.WaitGroup
		for range 90 {
			reading.Go(func() {
				assert.NoError(t, pool.Values(t.Context(), "getProgramAccounts", nil, func(uint64, func(any) error) error { return nil }))
			})
		}
		reading.Wait()
		require.Greater(t, time.Since(began), 40*time.Second, "the limit is kept")
		health := pool.Health()[0]
		assert.Zero(t, health.Errors)
		assert.NoError(t, health.Err)
		assert.Less(t, health.Latency, 50*time.Millisecond)
	})
}
