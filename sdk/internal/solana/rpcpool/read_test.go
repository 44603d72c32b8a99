package rpcpool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

var (
	errReset    = fmt.Errorf("read tcp: %w", io.ErrUnexpectedEOF)
	tooMany     = &jsonrpc.RPCError{Code: http.StatusTooManyRequests, Message: "Too many requests"}
	unavailable = jsonrpc.NewHTTPError(http.StatusServiceUnavailable, errors.New("unavailable"))
)

func TestFailedReadGoesToAnotherNode(t *testing.T) {
	for name, err := range map[string]error{
		"reset": errReset, "limited": tooMany, "unavailable": unavailable,
		"internal error": &jsonrpc.RPCError{Code: internalError, Message: "Internal error"},
		"forbidden":      jsonrpc.NewHTTPError(http.StatusForbidden, errors.New("forbidden")),
		"no such method": &jsonrpc.RPCError{Code: transaction.CodeMethodNotFound, Message: "Method not found"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one, two := &fakeNode{slot: 7, fail: failing(err, "getBalance")}, &fakeNode{slot: 8}
				pool := newFakePool(t, nil, one, two)
				began := time.Now()
				requireBalance(t, pool, 8)
				assert.Zero(t, time.Since(began), "no pause while another node is available")
				requireBalance(t, pool, 8)
				assert.Equal(t, 1, one.called("getBalance"), "a node that has just failed is not the first choice")
			})
		})
	}
}

func TestFirstNodeIsUsedAgainAfterItsRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 7, fail: failing(errReset, "getBalance")}, &fakeNode{slot: 7}
		pool := newFakePool(t, nil, one, two)
		requireBalance(t, pool, 7)
		one.fail = nil
		time.Sleep(time.Second)
		requireBalance(t, pool, 7)
		assert.Equal(t, 2, one.called("getBalance"))
		assert.Equal(t, 1, two.called("getBalance"))
		assert.Zero(t, pool.Health()[0].Failures)
	})
}

func TestFailingNodeRestsLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 7, fail: failing(errReset, "getBalance")}, &fakeNode{slot: 7}
		pool := newFakePool(t, nil, one, two)
		for second := range 3_600 {
			requireBalance(t, pool, 7)
			time.Sleep(time.Second)
			if second == 10 {
				assert.LessOrEqual(t, one.called("getBalance"), 8, "after ten seconds")
			}
		}
		assert.InDelta(t, 3_600/longRest.Seconds(), one.called("getBalance"), 60, "in an hour")
	})
}

func TestReadIsRepeatedWhileConnectionsFailAndThenGivenUp(t *testing.T) {
	for players := 1; players <= 3; players++ {
		synctest.Test(t, func(t *testing.T) {
			var all []*fakeNode
			for range players {
				all = append(all, &fakeNode{slot: 7, fail: func(method string, call int) error {
					if method == "getBalance" && call < 3 {
						return errReset
					}
					return nil
				}})
			}
			pool := newFakePool(t, nil, all...)
			requireBalance(t, pool, 7)
			for _, each := range all {
				each.fail = failing(errReset, "getBalance")
			}
			before := all[0].called("getBalance")
			_, err := balance(t.Context(), pool)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.Equal(t, brokenRounds, all[0].called("getBalance")-before)
		})
	}
}

func TestBusyNodesAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 7, fail: failing(tooMany, "getBalance")}, &fakeNode{slot: 7, fail: failing(unavailable, "getBalance")}
		pool := newFakePool(t, nil, one, two)
		began := time.Now()
		_, err := balance(t.Context(), pool)
		var refusal *transaction.NodeError
		require.ErrorAs(t, err, &refusal)
		assert.Equal(t, BusyRounds, one.called("getBalance"))
		assert.Equal(t, BusyRounds, two.called("getBalance"))
		assert.InDelta(t, 7.75, time.Since(began).Seconds(), 4)
		var failures Failures
		require.ErrorAs(t, err, &failures)
		assert.Equal(t, "a: node returned error 429: Too many requests; b: node returned error 503: Service Unavailable", err.Error())
	})
}

func TestFailuresAreInTheNodesOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrong := &jsonrpc.RPCError{Code: transaction.CodeInvalidParams, Message: "Invalid params"}
		one, two := &fakeNode{slot: 7, fail: failing(tooMany, "getBalance")}, &fakeNode{slot: 7}
		pool := newFakePool(t, nil, one, two)
		requireBalance(t, pool, 7)
		one.fail, two.fail = failing(wrong, "getBalance"), failing(wrong, "getBalance")
		_, err := balance(t.Context(), pool)
		require.EqualError(t, err, "a: node returned error -32602: Invalid params; b: node returned error -32602: Invalid params")
	})
}

func TestServerErrorIsRetried(t *testing.T) {
	for _, err := range []error{
		jsonrpc.NewHTTPError(http.StatusInternalServerError, errors.New("internal")), jsonrpc.NewHTTPError(520, errors.New("unknown")),
		jsonrpc.NewHTTPError(http.StatusRequestTimeout, errors.New("timeout")), &jsonrpc.RPCError{Code: internalError, Message: "Internal error"},
	} {
		synctest.Test(t, func(t *testing.T) {
			one := &fakeNode{slot: 7, fail: func(_ string, call int) error {
				if call < brokenRounds {
					return err
				}
				return nil
			}}
			requireBalance(t, newFakePool(t, nil, one), 7)
		})
	}
}

func TestWrongRequestIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrong := &jsonrpc.RPCError{Code: transaction.CodeInvalidParams, Message: "Invalid params"}
		one, two := &fakeNode{fail: failing(wrong, "getBalance")}, &fakeNode{fail: failing(wrong, "getBalance")}
		pool := newFakePool(t, nil, one, two)
		_, err := balance(t.Context(), pool)
		var refusal *transaction.NodeError
		require.ErrorAs(t, err, &refusal)
		assert.Equal(t, 1, one.called("getBalance"))
		assert.Equal(t, 1, two.called("getBalance"))
		assert.Zero(t, pool.Health()[0].Failures, "that is not the node's fault")
	})
}

func TestUnknownMethodsAreNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{fail: failing(errReset, "requestAirdrop")}, &fakeNode{}
		pool := newFakePool(t, nil, one, two)
		require.ErrorIs(t, pool.Call(t.Context(), new(string), "requestAirdrop", []any{"address"}), io.ErrUnexpectedEOF)
		assert.Zero(t, two.called("requestAirdrop"))

		one.fail = func(method string, call int) error {
			if method == "requestAirdrop" && call == 2 {
				return tooMany
			}
			return nil
		}
		time.Sleep(time.Minute)
		require.NoError(t, pool.Call(t.Context(), new(any), "requestAirdrop", []any{"address"}))
		assert.Equal(t, 2, one.called("requestAirdrop"))
		assert.Equal(t, 1, two.called("requestAirdrop"), "a refusal because of a limit guarantees no effect")
	})
}

func TestRetryAfterIsObserved(t *testing.T) {
	limited := &transaction.NodeError{Code: http.StatusTooManyRequests, Message: "Too many requests", RetryAfter: 20 * time.Second}
	once := func(method string, call int) error {
		if method == "getBalance" && call == 1 {
			return limited
		}
		return nil
	}
	t.Run("alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			one := &fakeNode{slot: 7, fail: once}
			pool := newFakePool(t, nil, one)
			began := time.Now()
			requireBalance(t, pool, 7)
			assert.Equal(t, 20*time.Second, time.Since(began))
			assert.Equal(t, 2, one.called("getBalance"))
		})
	})
	t.Run("also by others", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			one := &fakeNode{slot: 7, fail: once}
			pool := newFakePool(t, nil, one)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := balance(ctx, pool)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			var refusal *transaction.NodeError
			require.ErrorAs(t, err, &refusal, "the reason of the delay is kept")
			require.NoError(t, send(t.Context(), pool))
			assert.Equal(t, 1, one.called("getBalance"))
			assert.Equal(t, 1, one.called("sendTransaction"))
		})
	})
	t.Run("while another one is healthy", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			one, two := &fakeNode{slot: 7, fail: once}, &fakeNode{slot: 7}
			pool := newFakePool(t, nil, one, two)
			for range 19 {
				requireBalance(t, pool, 7)
				require.NoError(t, send(t.Context(), pool))
				time.Sleep(time.Second)
			}
			assert.Equal(t, 1, one.called("getBalance"))
			assert.Zero(t, one.called("sendTransaction"))
			time.Sleep(time.Second)
			requireBalance(t, pool, 7)
			assert.Equal(t, 2, one.called("getBalance"))
		})
	})
}

func TestContextEndsEveryWait(t *testing.T) {
	cases := map[string]*fakeNode{
		"an answer":           {latency: time.Hour},
		"a node that is busy": {fail: always(tooMany)},
		"a node's own pause":  {fail: always(&transaction.NodeError{Code: http.StatusServiceUnavailable, RetryAfter: retryAfterMost})},
	}
	for name, one := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newFakePool(t, nil, one)
				for _, do := range []func(context.Context) error{
					func(ctx context.Context) error { _, err := balance(ctx, pool); return err },
					func(ctx context.Context) error { return send(ctx, pool) },
				} {
					began := time.Now()
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					err := do(ctx)
					cancel()
					require.ErrorIs(t, err, context.DeadlineExceeded)
					assert.Equal(t, time.Second, time.Since(began))

					reason := errors.New("the user has gone")
					why, end := context.WithCancelCause(t.Context())
					end(reason)
					err = do(why)
					require.ErrorIs(t, err, reason)
					require.ErrorIs(t, err, context.Canceled)
				}
			})
		})
	}
}

func TestAttemptHasATimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &fakeNode{slot: 7, latency: time.Hour}
		pool := newFakePool(t, nil, one)
		began := time.Now()
		_, err := balance(t.Context(), pool)
		require.Error(t, err)
		assert.False(t, errors.Is(err, context.DeadlineExceeded), "the caller has set no deadline")
		assert.InDelta(t, brokenRounds*attemptLimit.Seconds(), time.Since(began).Seconds(), 1)
		assert.Equal(t, brokenRounds, one.abandoned())
	})
}

func TestRequestsPerSecondLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &fakeNode{slot: 7}
		pool := newFakePool(t, func(o *Options) { o.RequestsPerSecond = 5 }, one)
		began := time.Now()
		for range 55 {
			requireBalance(t, pool, 7)
		}
		assert.Equal(t, 10*time.Second, time.Since(began).Round(time.Millisecond))

		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := balance(ctx, pool)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 55, one.called("getBalance"))
	})
}

func TestRequestsAboveOneNodesLimitGoToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{slot: 7}, &fakeNode{slot: 7}
		pool := newFakePool(t, func(o *Options) { o.RequestsPerSecond = 5 }, one, two)
		began := time.Now()
		for range 8 {
			requireBalance(t, pool, 7)
		}
		assert.Zero(t, time.Since(began))
		assert.Equal(t, 4, one.called("getBalance"), "one question was which cluster it is of")
		assert.Equal(t, 4, two.called("getBalance"))
	})
}

func TestMissingMethodGoesToAnotherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lacking := &jsonrpc.RPCError{Code: transaction.CodeMethodNotFound, Message: "Method not found"}
		one, two := &fakeNode{slot: 7, fail: failing(lacking, "getBalance")}, &fakeNode{slot: 7}
		pool := newFakePool(t, nil, one, two)
		for range 5 {
			requireBalance(t, pool, 7)
			var slot uint64
			require.NoError(t, pool.Call(t.Context(), &slot, "getSlot", []any{confirmedOption}))
		}
		assert.Equal(t, 1, one.called("getBalance"))
		assert.Equal(t, 5, one.called("getSlot"), "for the rest it is healthy")
	})
}

func TestUndecodableAnswerDoesNotChangeTheResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := &fakeNode{slot: 7, answer: func(method string, _ []any) any {
			if method == "getBalance" {
				return object{"context": object{"slot": 7}, "Other": 5, "value": "much"}
			}
			return nil
		}}
		two := &fakeNode{slot: 7}
		pool := newFakePool(t, nil, one, two)
		requireBalance(t, pool, 7)

		two.answer = one.answer
		answer := struct{ Other, Value uint64 }{Other: 3, Value: 3}
		require.Error(t, pool.Call(t.Context(), &answer, "getBalance", []any{"address", confirmedOption}))
		assert.EqualValues(t, 3, answer.Other)
		assert.EqualValues(t, 3, answer.Value)
	})
}
