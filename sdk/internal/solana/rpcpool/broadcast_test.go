package rpcpool

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

var (
	tooLarge  = &jsonrpc.RPCError{Code: transaction.CodeInvalidParams, Message: "too large"}
	known     = &jsonrpc.RPCError{Code: preflightFailure, Message: "Transaction simulation failed", Data: object{"err": "AlreadyProcessed"}}
	gateway   = jsonrpc.NewHTTPError(http.StatusGatewayTimeout, errors.New("timeout"))
	nodeError = &jsonrpc.RPCError{Code: internalError, Message: "Internal error"}
)

func TestTransactionGoesToSeveralNodesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{latency: time.Second}, &fakeNode{latency: 2 * time.Second}
		three, four := &fakeNode{latency: 3 * time.Second}, &fakeNode{}
		pool := newFakePool(t, nil, one, two, three, four)
		for _, e := range pool.endpoints {
			e.admitted.Store(true)
		}
		began := time.Now()
		require.NoError(t, send(t.Context(), pool))
		assert.Equal(t, time.Second, time.Since(began), "the first one that takes it is enough")
		time.Sleep(3 * time.Second)
		for _, each := range []*fakeNode{one, two, three} {
			assert.Equal(t, 1, each.called("sendTransaction"))
			assert.Zero(t, each.abandoned(), "the others get it too")
		}
		assert.Zero(t, four.called("sendTransaction"), "three are enough")
	})
}

func TestOneAcceptanceOfATransactionIsEnough(t *testing.T) {
	for _, err := range []error{tooLarge, errReset, tooMany, gateway} {
		synctest.Test(t, func(t *testing.T) {
			one, two := &fakeNode{fail: failing(err, "sendTransaction")}, &fakeNode{latency: time.Second}
			require.NoError(t, send(t.Context(), newFakePool(t, nil, one, two)))
		})
	}
}

func TestNotForwardedIsReportedOnlyIfAllNodesGuaranteeIt(t *testing.T) {
	cases := map[string]struct {
		answers []error
		certain bool
	}{
		"one refuses":                        {[]error{tooLarge}, true},
		"all refuse":                         {[]error{tooLarge, tooLarge, tooLarge}, true},
		"one does not answer":                {[]error{tooLarge, errReset}, false},
		"one does not answer, the other way": {[]error{errReset, tooLarge}, false},
		"one is busy":                        {[]error{tooLarge, tooMany}, false},
		"a gateway is":                       {[]error{gateway, tooLarge}, false},
		"one has failed itself":              {[]error{tooLarge, tooLarge, nodeError}, false},
		"one has the transaction":            {[]error{tooLarge, known}, false},
		"the only one has the transaction":   {[]error{known}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var players []*fakeNode
				for _, answer := range c.answers {
					players = append(players, &fakeNode{fail: failing(answer, "sendTransaction")})
				}
				err := send(t.Context(), newFakePool(t, nil, players...))
				require.Error(t, err)
				var first *transaction.NodeError
				require.ErrorAs(t, err, &first)
				assert.Equal(t, c.certain, !first.Repeated, "%v", err)
				for _, each := range players {
					assert.Equal(t, 1, each.called("sendTransaction"))
				}
			})
		})
	}
}

func TestRefusalAfterARepetitionIsNotCertain(t *testing.T) {
	for players := 1; players <= 2; players++ {
		synctest.Test(t, func(t *testing.T) {
			var all []*fakeNode
			for range players {
				all = append(all, &fakeNode{fail: func(method string, call int) error {
					switch {
					case method != "sendTransaction":
						return nil
					case call == 1:
						return gateway
					}
					return tooLarge
				}})
			}
			err := send(t.Context(), newFakePool(t, nil, all...))
			var refusal *transaction.NodeError
			require.ErrorAs(t, err, &refusal)
			assert.Equal(t, transaction.CodeInvalidParams, refusal.Code)
			assert.True(t, refusal.Repeated)
			assert.Equal(t, 2, all[0].called("sendTransaction"))
		})
	}
}

func TestBusyNodesAreSentTheTransactionAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{fail: failing(tooMany, "sendTransaction")}, &fakeNode{fail: failing(unavailable, "sendTransaction")}
		err := send(t.Context(), newFakePool(t, nil, one, two))
		var refusal *transaction.NodeError
		require.ErrorAs(t, err, &refusal)
		assert.True(t, refusal.IsBusy())
		assert.True(t, refusal.Repeated)
		assert.Equal(t, BusyRounds, one.called("sendTransaction"))
		assert.Equal(t, BusyRounds, two.called("sendTransaction"))
	})
}

func TestAcceptanceWithAnotherSignatureIsRejected(t *testing.T) {
	signature := solana.Signature{1, 2, 3}
	encoded := base64.StdEncoding.EncodeToString(slices.Concat([]byte{1}, signature[:], make([]byte, 100)))
	answer := func(text string) func(string, []any) any {
		return func(method string, _ []any) any {
			if method == "sendTransaction" {
				return text
			}
			return nil
		}
	}
	one := &fakeNode{answer: answer(solana.Signature{4}.String())}
	pool := newFakePool(t, nil, one)
	require.ErrorIs(t, pool.Call(t.Context(), new(string), "sendTransaction", []any{encoded, rpc.M{"encoding": solana.EncodingBase64}}), errOther)
	one.answer = answer(signature.String())
	require.NoError(t, pool.Call(t.Context(), new(string), "sendTransaction", []any{encoded, rpc.M{"encoding": solana.EncodingBase64}}))
}

func TestCancelledBroadcastEndsEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{latency: time.Hour}, &fakeNode{latency: time.Hour}
		pool := newFakePool(t, nil, one, two)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, send(ctx, pool), context.DeadlineExceeded)
		assert.Equal(t, 1, one.abandoned())
		assert.Equal(t, 1, two.abandoned())
	})
}

func TestClosingEndsTheRestOfABroadcast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fakeNode{}, &fakeNode{latency: 20 * time.Second}
		pool := newFakePool(t, nil, one, two)
		pool.endpoints[1].admitted.Store(true)
		require.NoError(t, send(t.Context(), pool))
		began := time.Now()
		pool.Close()
		assert.Zero(t, time.Since(began))
		assert.Equal(t, 1, two.abandoned())
		require.ErrorIs(t, send(t.Context(), pool), ErrClosed)
	})
}
