package store

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two gateways that share a database accept each nonce once per key.
func TestANonceIsUsedOnceByAllGateways(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		stores := []*Store{f.Store, f.open(t, Limits{})}
		until := f.now().Add(time.Minute)
		var accepted atomic.Int32
		var group sync.WaitGroup
		for worker := range 4 {
			group.Go(func() {
				for i := range 25 {
					err := stores[worker%2].UseNonce(t.Context(), "a", strconv.Itoa(i), until)
					for err == ErrInProgress {
						err = stores[worker%2].UseNonce(t.Context(), "a", strconv.Itoa(i), until)
					}
					if err == nil {
						accepted.Add(1)
					} else {
						assert.ErrorIs(t, err, ErrExists)
					}
				}
			})
		}
		group.Wait()
		require.EqualValues(t, 25, accepted.Load())
		require.NoError(t, f.UseNonce(t.Context(), "b", "0", until), "another key has its own nonces")
	})
}

// A nonce is kept until every gateway refuses the signature, even a gateway with a late clock.
func TestExpiredNoncesAreDeleted(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		use := func(nonce string, after time.Duration) error {
			return f.UseNonce(t.Context(), "a", nonce, start.Add(after))
		}
		remove := func(limit int) int64 {
			deleted, err := f.DeleteNonces(t.Context(), limit)
			require.NoError(t, err)
			return deleted
		}
		for i := range 3 {
			require.NoError(t, use(strconv.Itoa(i), time.Duration(i)*time.Second))
		}
		f.pass(nonceMargin)
		require.Zero(t, remove(10))
		require.ErrorIs(t, use("0", time.Hour), ErrExists)
		f.pass(1500 * time.Millisecond)
		require.EqualValues(t, 1, remove(1))
		require.EqualValues(t, 1, remove(10))
		require.NoError(t, use("0", time.Hour))
		require.ErrorIs(t, use("2", time.Hour), ErrExists)
	})
}

func TestAKeyHasABoundedNumberOfNonces(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		err := f.UseNonce(t.Context(), "a", "endless", time.Time{})
		require.ErrorContains(t, err, "expiry of the nonce not set")
		_, err = f.db.Exec(`INSERT INTO signature_nonces (key_id, nonce, expires_at)
			WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1)
			SELECT 'a', CAST(n AS TEXT), CAST($2 AS BIGINT) FROM numbers`, MaxNonces-1, start.UnixMicro())
		require.NoError(t, err)
		require.NoError(t, f.UseNonce(t.Context(), "a", "last", start))
		require.ErrorIs(t, f.UseNonce(t.Context(), "a", "more", start), ErrNonces)
		require.NoError(t, f.UseNonce(t.Context(), "b", "more", start), "a key has its own share")
		f.pass(nonceMargin + time.Second)
		deleted, err := f.DeleteNonces(t.Context(), MaxNonces)
		require.NoError(t, err)
		require.EqualValues(t, MaxNonces, deleted)
		require.NoError(t, f.UseNonce(t.Context(), "a", "more", start))
	})
}
