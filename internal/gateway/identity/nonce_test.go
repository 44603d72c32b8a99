package identity

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemoryNoncesAreBounded(t *testing.T) {
	m, now := NewMemoryNonces(3, 2), time.Unix(1_800_000_000, 0)
	m.now = func() time.Time { return now }
	use := func(key, nonce string, seconds int) error {
		return m.Use(t.Context(), key, nonce, now.Add(time.Duration(seconds)*time.Second))
	}
	require.NoError(t, use("a", "1", 20))
	require.NoError(t, use("a", "2", 10))
	assert.ErrorIs(t, use("a", "1", 20), ErrReplayed)
	assert.ErrorIs(t, use("a", "3", 20), ErrNonceMemory, "a key has a share of the memory")
	require.NoError(t, use("b", "1", 30), "another key has its own nonces")
	assert.ErrorIs(t, use("c", "1", 30), ErrNonceMemory)

	now = now.Add(10 * time.Second)
	assert.ErrorIs(t, use("a", "2", 10), ErrReplayed, "a nonce is remembered in its last second")
	now = now.Add(time.Second)
	require.NoError(t, use("c", "1", 1), "expired nonces free memory")
	assert.ErrorIs(t, use("a", "1", 20), ErrReplayed)
	now = now.Add(time.Minute)
	require.NoError(t, use("a", "1", 20))
	assert.Len(t, m.used, 1)
	assert.Len(t, m.keys, 1)
	assert.Len(t, m.byEnd, 1)
}

func TestANonceIsUsedOnceByConcurrentRequests(t *testing.T) {
	m := NewMemoryNonces(1000, 1000)
	var accepted atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 100 {
				if m.Use(t.Context(), "a", strconv.Itoa(i), time.Now().Add(time.Hour)) == nil {
					accepted.Add(1)
				}
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, 100, accepted.Load())
}
