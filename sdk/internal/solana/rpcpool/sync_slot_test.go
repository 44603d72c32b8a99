package rpcpool

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestSyncedPoolRejectsALaggingNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		behind, healthy := &fakeNode{slot: 50}, &fakeNode{slot: 100}
		pool := newFakePool(t, nil, behind, healthy)
		pool.SyncSlot(t.Context(), rpc.CommitmentConfirmed)
		requireBalance(t, pool, 100)
		pool.SyncSlot(t.Context(), rpc.CommitmentConfirmed)
		assert.Equal(t, 1, healthy.called("getSlot"), "once in its life")

		healthy.fail = always(errReset)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, transaction.ErrBehind)
	})
}

func TestSlotSyncEndsWithoutSlowNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		behind, broken, silent, slow := &fakeNode{slot: 50}, &fakeNode{slot: 60, fail: always(errReset)}, &fakeNode{latency: time.Hour}, &fakeNode{slot: 200, latency: 2 * time.Second}
		pool := newFakePool(t, nil, behind, broken, silent, slow)
		began := time.Now()
		for range 3 {
			pool.SyncSlot(t.Context(), rpc.CommitmentConfirmed)
		}
		assert.Equal(t, syncLimit, time.Since(began))
		requireBalance(t, pool, 50)

		// The slow endpoint answers two requests: for the genesis hash and the slot.
		time.Sleep(3 * time.Second)
		assert.EqualValues(t, 200, pool.slots.floor(confirmed), "late answers count")
	})
}

func TestSlotSyncOfASingleNodeSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &fakeNode{slot: 50}
		newFakePool(t, nil, one).SyncSlot(t.Context(), rpc.CommitmentConfirmed)
		assert.Empty(t, one.calls)
	})
}

func TestSlotSyncEndsWithThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{latency: time.Hour}, &fakeNode{latency: time.Hour}
		pool := newFakePool(t, nil, one, two)
		time.AfterFunc(time.Second, pool.Close)
		began := time.Now()
		pool.SyncSlot(t.Context(), rpc.CommitmentConfirmed)
		assert.Equal(t, time.Second, time.Since(began))
		pool.SyncSlot(t.Context(), rpc.CommitmentConfirmed)
	})
}

// A fact stays true even if another node claims to be far ahead.
func TestHoweverOldAcceptsOlderAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ahead, behind := &fakeNode{slot: 1_000_000}, &fakeNode{slot: 50}
		pool := newFakePool(t, nil, ahead, behind)
		pool.SyncSlot(t.Context(), rpc.CommitmentConfirmed)
		asked := 0
		pool.Each("getBalance", func(one Single) bool {
			if one.endpoint.transport != behind {
				return true
			}
			asked++
			var answer struct{ Value uint64 }
			params := []any{"address", confirmedOption}
			require.ErrorIs(t, one.Call(t.Context(), &answer, "getBalance", params), transaction.ErrBehind)
			require.NoError(t, one.HoweverOld().Call(t.Context(), &answer, "getBalance", params))
			assert.EqualValues(t, 50, answer.Value)
			return true
		})
		assert.Equal(t, 1, asked)
		assert.Equal(t, 2, pool.Size())
		assert.EqualValues(t, 1_000_000, pool.slots.floor(confirmed), "other endpoints keep the floor")
	})
}
