package rpcpool

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestReadDoesNotReturnAnOlderSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &fakeNode{slot: 100}, &fakeNode{slot: 90}, &fakeNode{slot: 101}
		pool := newFakePool(t, nil, one, two, three)
		requireBalance(t, pool, 100)
		one.fail = always(errReset)
		requireBalance(t, pool, 101)
		assert.Equal(t, 1, two.called("getBalance"), "its answer is rejected")
		health := pool.Health()[1]
		assert.EqualValues(t, 90, health.Slot)
		assert.EqualValues(t, 10, health.Lag)
		require.ErrorIs(t, health.Err, transaction.ErrBehind)

		three.fail = always(errReset)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, transaction.ErrBehind)
		two.reach(101)
		requireBalance(t, pool, 101)
	})
}

func TestSingleNodeMustNotReturnAnOlderSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &fakeNode{slot: 100}
		pool := newFakePool(t, nil, one)
		requireBalance(t, pool, 100)
		one.reach(98)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, transaction.ErrBehind)
		asked := one.called("getBalance")
		one.fail = func(_ string, call int) error {
			if call == asked+brokenRounds {
				one.reach(100) // it catches up
			}
			return nil
		}
		requireBalance(t, pool, 100)
	})
}

// A restarted local chain is not the chain that received a transaction; callers that wait for it get
// transaction.ErrWentBack.
func TestRestartedChainIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &fakeNode{slot: 1_000}
		pool := newFakePool(t, nil, one)
		requireBalance(t, pool, 1_000)
		one.reach(990)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, transaction.ErrBehind)
		require.NotErrorIs(t, err, transaction.ErrWentBack)
		require.ErrorContains(t, err, "it is at slot 990 of 1000")
		one.reach(3)
		for range 3 {
			_, err = balance(t.Context(), pool)
			require.ErrorIs(t, err, transaction.ErrBehind)
			require.ErrorIs(t, err, transaction.ErrWentBack)
			require.ErrorContains(t, err, "slot 1000 before, slot 3 now")
		}
		one.reach(1_000)
		requireBalance(t, pool, 1_000)

		// A node that was always behind has not gone back.
		behind, healthy := &fakeNode{slot: 3}, &fakeNode{slot: 1_000}
		two := newFakePool(t, nil, healthy, behind)
		requireBalance(t, two, 1_000)
		healthy.fail = always(errReset)
		_, err = balance(t.Context(), two)
		require.ErrorIs(t, err, transaction.ErrBehind)
		require.NotErrorIs(t, err, transaction.ErrWentBack)
	})
}

func TestListIsRequestedOnlyFromNodesAtTheFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &fakeNode{slot: 100}, &fakeNode{slot: 90}, &fakeNode{slot: 105}
		pool := newFakePool(t, nil, one, two, three)
		requireBalance(t, pool, 100)
		one.fail = always(errReset)
		listed, err := list(t.Context(), pool)
		require.NoError(t, err)
		assert.EqualValues(t, 105, listed)
		assert.Zero(t, two.called("getSignaturesForAddress"), "its list would lack observed transactions")
		assert.Equal(t, 1, two.called("getSlot"))
	})
}

func TestMinContextSlotIsSentWhereAnswersShowNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []any
		one := &fakeNode{slot: 100, answer: func(method string, params []any) any {
			if method == "getSignaturesForAddress" {
				told = append(told, params[1].(rpc.M)["minContextSlot"])
			}
			return nil
		}}
		pool := newFakePool(t, nil, one)
		_, err := list(t.Context(), pool)
		require.NoError(t, err)
		_, err = list(t.Context(), pool)
		require.NoError(t, err)
		assert.Equal(t, []any{nil, uint64(100)}, told)
		assert.NotContains(t, confirmedOption, "minContextSlot", "the caller's options stay the caller's")
	})
}

func TestSlotOfALaggingNodeIsReadBeforeAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 100}, &fakeNode{slot: 100}
		pool := newFakePool(t, nil, one, two)
		requireBalance(t, pool, 100)
		one.reach(50)
		requireBalance(t, pool, 100)
		two.fail = always(errReset)
		_, err := list(t.Context(), pool)
		require.ErrorIs(t, err, transaction.ErrBehind)
		assert.Zero(t, one.called("getSignaturesForAddress"))
	})
}

func TestCommitmentLevelsHaveTheirOwnFloors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := map[rpc.CommitmentType]uint64{rpc.CommitmentProcessed: 103, rpc.CommitmentConfirmed: 101, rpc.CommitmentFinalized: 70}
		one := &fakeNode{answer: func(method string, params []any) any {
			return slots[params[0].(rpc.M)["commitment"].(rpc.CommitmentType)]
		}}
		pool := newFakePool(t, nil, one)
		read := func(commitment rpc.CommitmentType) error {
			return pool.Call(t.Context(), new(uint64), "getSlot", []any{rpc.M{"commitment": commitment}})
		}
		for commitment := range slots {
			require.NoError(t, read(commitment), commitment)
		}
		for commitment := range slots {
			require.NoError(t, read(commitment), commitment)
		}
		slots[rpc.CommitmentProcessed] = 100
		require.ErrorIs(t, read(rpc.CommitmentProcessed), transaction.ErrBehind, "a confirmed slot is also processed")
		slots[rpc.CommitmentConfirmed] = 69
		require.ErrorIs(t, read(rpc.CommitmentConfirmed), transaction.ErrBehind, "a finalized slot is also confirmed")
	})
}

// Nodes return statuses as of their newest block, which is finalized 32 slots later.
func TestStatusDoesNotRaiseTheFloorOfFinalizedReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &fakeNode{slot: 68, answer: func(method string, _ []any) any {
			if method == "getSignatureStatuses" {
				return object{"context": object{"slot": 100}, "value": []any{nil}}
			}
			return nil
		}}
		pool := newFakePool(t, nil, one)
		require.NoError(t, pool.Call(t.Context(), new(any), "getSignatureStatuses", []any{[]string{"signature"}}))
		var answer struct{ Value uint64 }
		require.NoError(t, pool.Call(t.Context(), &answer, "getBalance", []any{"address", rpc.M{"commitment": rpc.CommitmentFinalized}}))
		require.EqualValues(t, 68, answer.Value)
	})
}

func TestAnswerWithoutSlotIsMalformed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &fakeNode{slot: 100}
		pool := newFakePool(t, nil, one)
		requireBalance(t, pool, 100)
		one.answer = func(string, []any) any { return object{"value": 3} }
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, errOther)
	})
}

func TestSlotOfATransactionCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &fakeNode{slot: 100}, &fakeNode{slot: 102}, &fakeNode{slot: 103}
		one.answer = func(method string, _ []any) any {
			if method == "getTransaction" {
				return object{"slot": 103}
			}
			return nil
		}
		pool := newFakePool(t, nil, one, two, three)
		requireBalance(t, pool, 100)
		require.NoError(t, pool.Call(t.Context(), new(any), "getTransaction", []any{"signature", confirmedOption}))
		requireBalance(t, pool, 103)
	})
}

func TestFloorIsLoweredIfAllNodesAreFarBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &fakeNode{slot: 1 << 50}, &fakeNode{slot: 1_000}, &fakeNode{slot: 1_001}
		pool := newFakePool(t, nil, one, two, three)
		requireBalance(t, pool, 1<<50)
		one.reach(1_002)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, transaction.ErrBehind)
		_, err = balance(t.Context(), pool)
		require.NoError(t, err)

		// A single node cannot be contradicted.
		alone := newFakePool(t, nil, one)
		one.reach(1 << 50)
		requireBalance(t, alone, 1<<50)
		one.reach(1_002)
		for range 3 {
			_, err = balance(t.Context(), alone)
			require.ErrorIs(t, err, transaction.ErrBehind)
		}
	})
}

func TestFloorStaysIfAllNodesAreALittleBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 200}, &fakeNode{slot: 200}
		pool := newFakePool(t, nil, one, two)
		requireBalance(t, pool, 200)
		one.reach(200 - floorTolerance)
		two.reach(200 - floorTolerance)
		for range 2 {
			_, err := balance(t.Context(), pool)
			require.ErrorIs(t, err, transaction.ErrBehind)
		}
	})
}

func TestFloorStaysIfSomeNodesDoNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 1_000}, &fakeNode{slot: 10}
		pool := newFakePool(t, nil, one, two)
		requireBalance(t, pool, 1_000)
		one.fail = always(errReset)
		for range 3 {
			_, err := balance(t.Context(), pool)
			require.ErrorIs(t, err, transaction.ErrBehind)
		}
	})
}

func TestReadsStayMonotoneUnderRandomFailures(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 5))
			players := []*fakeNode{{}, {}, {}, {}}
			pool := newFakePool(t, nil, players...)
			var seen, last uint64
			for head := uint64(100); head < 160; head++ {
				synctest.Wait() // for canceled requests
				honest := random.IntN(len(players))
				for i, fakeNode := range players {
					fakeNode.fail, fakeNode.latency = nil, time.Duration(random.IntN(700))*time.Millisecond
					fakeNode.reach(head)
					if i == honest {
						continue
					}
					switch random.IntN(5) {
					case 0:
						fakeNode.fail = failing(errReset, "getBalance", "getSlot", "getSignaturesForAddress")
					case 1:
						fakeNode.fail = failing(tooMany, "getBalance")
					case 2:
						fakeNode.reach(head - uint64(random.IntN(100)))
					case 3:
						fakeNode.latency = time.Hour
					}
				}
				read := balance
				if random.IntN(3) == 0 {
					read = list
				}
				got, err := read(t.Context(), pool)
				require.NoError(t, err, "seed %d: one node is healthy", seed)
				require.GreaterOrEqual(t, got, seen, "seed %d", seed)
				seen, last = max(seen, got), got
				time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
			}
			require.Positive(t, last)
		})
	}
}
