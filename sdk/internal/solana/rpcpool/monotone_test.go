package rpcpool

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadDoesNotGoBackBehindWhatHasBeenSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &player{slot: 100}, &player{slot: 90}, &player{slot: 101}
		pool := newPlayed(t, nil, one, two, three)
		requireBalance(t, pool, 100)
		one.fail = always(errReset)
		requireBalance(t, pool, 101)
		assert.Equal(t, 1, two.called("getBalance"), "it has been asked, and has not been believed")
		health := pool.Health()[1]
		assert.EqualValues(t, 90, health.Slot)
		assert.EqualValues(t, 10, health.Lag)
		require.ErrorIs(t, health.Err, ErrBehind)

		three.fail = always(errReset)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, ErrBehind)
		two.reach(101)
		requireBalance(t, pool, 101)
	})
}

func TestSingleNodeIsHeldToWhatItHasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &player{slot: 100}
		pool := newPlayed(t, nil, one)
		requireBalance(t, pool, 100)
		one.reach(98)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, ErrBehind)
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

// A local chain that is started anew is not the one on which something has been sent, and whoever waits for that is to learn why.
func TestNodeWhoseChainHasBeenStartedAnewSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &player{slot: 1_000}
		pool := newPlayed(t, nil, one)
		requireBalance(t, pool, 1_000)
		one.reach(990)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, ErrBehind)
		require.NotErrorIs(t, err, ErrWentBack)
		require.ErrorContains(t, err, "it is at slot 990 of 1000")
		one.reach(3)
		for range 3 {
			_, err = balance(t.Context(), pool)
			require.ErrorIs(t, err, ErrBehind)
			require.ErrorIs(t, err, ErrWentBack)
			require.ErrorContains(t, err, "it had come to slot 1000, and is at slot 3")
		}
		one.reach(1_000)
		requireBalance(t, pool, 1_000)

		// One that has always been behind has not gone back.
		behind, well := &player{slot: 3}, &player{slot: 1_000}
		two := newPlayed(t, nil, well, behind)
		requireBalance(t, two, 1_000)
		well.fail = always(errReset)
		_, err = balance(t.Context(), two)
		require.ErrorIs(t, err, ErrBehind)
		require.NotErrorIs(t, err, ErrWentBack)
	})
}

func TestListIsAskedOnlyOfNodesThatHaveComeFarEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &player{slot: 100}, &player{slot: 90}, &player{slot: 105}
		pool := newPlayed(t, nil, one, two, three)
		requireBalance(t, pool, 100)
		one.fail = always(errReset)
		listed, err := list(t.Context(), pool)
		require.NoError(t, err)
		assert.EqualValues(t, 105, listed)
		assert.Zero(t, two.called("getSignaturesForAddress"), "its list would lack what has been seen")
		assert.Equal(t, 1, two.called("getSlot"))
	})
}

func TestNodeIsToldHowFarItHasToHaveComeWhereItsAnswerDoesNotSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []any
		one := &player{slot: 100, answer: func(method string, params []any) any {
			if method == "getSignaturesForAddress" {
				told = append(told, params[1].(rpc.M)["minContextSlot"])
			}
			return nil
		}}
		pool := newPlayed(t, nil, one)
		_, err := list(t.Context(), pool)
		require.NoError(t, err)
		_, err = list(t.Context(), pool)
		require.NoError(t, err)
		assert.Equal(t, []any{nil, uint64(100)}, told)
		assert.NotContains(t, confirmedOption, "minContextSlot", "the caller's options stay the caller's")
	})
}

func TestNodeThatHasFallenBehindIsAskedHowFarItIsBeforeAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &player{slot: 100}, &player{slot: 100}
		pool := newPlayed(t, nil, one, two)
		requireBalance(t, pool, 100)
		one.reach(50)
		requireBalance(t, pool, 100)
		two.fail = always(errReset)
		_, err := list(t.Context(), pool)
		require.ErrorIs(t, err, ErrBehind)
		assert.Zero(t, one.called("getSignaturesForAddress"))
	})
}

func TestLevelsOfCommitmentAreKeptApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := map[rpc.CommitmentType]uint64{rpc.CommitmentProcessed: 103, rpc.CommitmentConfirmed: 101, rpc.CommitmentFinalized: 70}
		one := &player{answer: func(method string, params []any) any {
			return slots[params[0].(rpc.M)["commitment"].(rpc.CommitmentType)]
		}}
		pool := newPlayed(t, nil, one)
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
		require.ErrorIs(t, read(rpc.CommitmentProcessed), ErrBehind, "what is confirmed has been processed")
		slots[rpc.CommitmentConfirmed] = 69
		require.ErrorIs(t, read(rpc.CommitmentConfirmed), ErrBehind, "what is final is confirmed")
	})
}

func TestAnswerHasToSayOfWhichSlotItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &player{slot: 100}
		pool := newPlayed(t, nil, one)
		requireBalance(t, pool, 100)
		one.answer = func(string, []any) any { return object{"value": 3} }
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, errOther)
	})
}

func TestSlotOfATransactionCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &player{slot: 100}, &player{slot: 102}, &player{slot: 103}
		one.answer = func(method string, _ []any) any {
			if method == "getTransaction" {
				return object{"slot": 103}
			}
			return nil
		}
		pool := newPlayed(t, nil, one, two, three)
		requireBalance(t, pool, 100)
		require.NoError(t, pool.Call(t.Context(), new(any), "getTransaction", []any{"signature", confirmedOption}))
		requireBalance(t, pool, 103)
	})
}

func TestSlotThatNobodyElseKnowsOfIsNotBelievedForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := &player{slot: 1 << 50}, &player{slot: 1_000}, &player{slot: 1_001}
		pool := newPlayed(t, nil, one, two, three)
		requireBalance(t, pool, 1<<50)
		one.reach(1_002)
		_, err := balance(t.Context(), pool)
		require.ErrorIs(t, err, ErrBehind)
		_, err = balance(t.Context(), pool)
		require.NoError(t, err)

		// A single node has nobody who could contradict what it says now.
		alone := newPlayed(t, nil, one)
		one.reach(1 << 50)
		requireBalance(t, alone, 1<<50)
		one.reach(1_002)
		for range 3 {
			_, err = balance(t.Context(), alone)
			require.ErrorIs(t, err, ErrBehind)
		}
	})
}

func TestSlotIsNotForgottenBecauseTheOnesThatKnowItAreSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &player{slot: 1_000}, &player{slot: 10}
		pool := newPlayed(t, nil, one, two)
		requireBalance(t, pool, 1_000)
		one.fail = always(errReset)
		for range 3 {
			_, err := balance(t.Context(), pool)
			require.ErrorIs(t, err, ErrBehind)
		}
	})
}

func TestReadsStayMonotoneWhateverNodesDo(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 5))
			players := []*player{{}, {}, {}, {}}
			pool := newPlayed(t, nil, players...)
			var seen, last uint64
			for head := uint64(100); head < 160; head++ {
				synctest.Wait() // for requests that have been given up
				honest := random.IntN(len(players))
				for i, player := range players {
					player.fail, player.latency = nil, time.Duration(random.IntN(700))*time.Millisecond
					player.reach(head)
					if i == honest {
						continue
					}
					switch random.IntN(5) {
					case 0:
						player.fail = failing(errReset, "getBalance", "getSlot", "getSignaturesForAddress")
					case 1:
						player.fail = failing(tooMany, "getBalance")
					case 2:
						player.reach(head - uint64(random.IntN(100)))
					case 3:
						player.latency = time.Hour
					}
				}
				read := balance
				if random.IntN(3) == 0 {
					read = list
				}
				got, err := read(t.Context(), pool)
				require.NoError(t, err, "seed %d: one node is well", seed)
				require.GreaterOrEqual(t, got, seen, "seed %d", seed)
				seen, last = max(seen, got), got
				time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
			}
			require.Positive(t, last)
		})
	}
}
