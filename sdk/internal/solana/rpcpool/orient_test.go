package rpcpool

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFreshPoolDoesNotBelieveANodeThatLiesBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		behind, well := &player{slot: 50}, &player{slot: 100}
		pool := newPlayed(t, nil, behind, well)
		pool.Orient(t.Context(), rpc.CommitmentConfirmed)
		requireBalance(t, pool, 100)
		pool.Orient(t.Context(), rpc.CommitmentConfirmed)
		assert.Equal(t, 1, well.called("getSlot"), "once in its life")

		well.fail = always(errReset)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, ErrBehind)
	})
}

func TestOrientationIsNotHeldUpByNodesThatDoNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		behind, broken, silent, slow := &player{slot: 50}, &player{slot: 60, fail: always(errReset)}, &player{latency: time.Hour}, &player{slot: 200, latency: 2 * time.Second}
		pool := newPlayed(t, nil, behind, broken, silent, slow)
		began := time.Now()
		for range 3 {
			pool.Orient(t.Context(), rpc.CommitmentConfirmed)
		}
		assert.Equal(t, orientLimit, time.Since(began))
		requireBalance(t, pool, 50)

		// The slow one needs two answers: of which cluster it is, and how far it is.
		time.Sleep(3 * time.Second)
		assert.EqualValues(t, 200, pool.slots.floor(confirmed), "whoever answers late is heard all the same")
	})
}

func TestSingleNodeIsNotAskedHowFarItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &player{slot: 50}
		newPlayed(t, nil, one).Orient(t.Context(), rpc.CommitmentConfirmed)
		assert.Empty(t, one.calls)
	})
}

func TestOrientationEndsWithThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &player{latency: time.Hour}, &player{latency: time.Hour}
		pool := newPlayed(t, nil, one, two)
		time.AfterFunc(time.Second, pool.Close)
		began := time.Now()
		pool.Orient(t.Context(), rpc.CommitmentConfirmed)
		assert.Equal(t, time.Second, time.Since(began))
		pool.Orient(t.Context(), rpc.CommitmentConfirmed)
	})
}

// What has happened has happened, even if another node claims to be far ahead.
func TestOneEndpointCanBeAskedHoweverOldItsAnswerIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ahead, behind := &player{slot: 1_000_000}, &player{slot: 50}
		pool := newPlayed(t, nil, ahead, behind)
		pool.Orient(t.Context(), rpc.CommitmentConfirmed)
		asked := 0
		pool.Each("getBalance", func(one Single) bool {
			if one.endpoint.transport != behind {
				return true
			}
			asked++
			var answer struct{ Value uint64 }
			params := []any{"address", confirmedOption}
			require.ErrorIs(t, one.Call(t.Context(), &answer, "getBalance", params), ErrBehind)
			require.NoError(t, one.HoweverOld().Call(t.Context(), &answer, "getBalance", params))
			assert.EqualValues(t, 50, answer.Value)
			return true
		})
		assert.Equal(t, 1, asked)
		assert.Equal(t, 2, pool.Size())
		assert.EqualValues(t, 1_000_000, pool.slots.floor(confirmed), "nobody else's answers may be that old for that")
	})
}
