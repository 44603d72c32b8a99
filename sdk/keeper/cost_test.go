package keeper_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/keeper"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// intercept replaces or accompanies a client's requests. before returns a request's result, or an empty
// string to forward the request.
type intercept struct {
	before func(method string) (result string)
}

func (i intercept) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := request.GetBody()
	if err != nil {
		return nil, err
	}
	var call struct{ ID, Method string }
	if err := json.NewDecoder(body).Decode(&call); err != nil {
		return nil, err
	}
	result := i.before(call.Method)
	if result == "" {
		return http.DefaultTransport.RoundTrip(request)
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":%s}`, call.ID, result)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(bytes.NewReader([]byte(answer))),
	}, nil
}

// through replaces the keepers' client by a client that passes all requests through an intercept.
func (s *fixture) through(before func(method string) string, maxPriorityFee uint64) {
	s.t.Helper()
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: s.Chain.RPCURL(), WSEndpoint: s.Chain.WSURL(), MaxPriorityFee: maxPriorityFee,
		HTTPClient: &http.Client{Transport: intercept{before}},
	})
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		require.NoError(s.t, client.Close())
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	s.Client = client
}

// The market's fees rise between the simulation and the transaction.
func TestKeeperSpendsNoMoreThanItReserved(t *testing.T) {
	s := setStage(t)
	negotiation := s.agreed()
	asked := 0
	s.through(func(method string) string {
		if method != "getRecentPrioritizationFees" {
			return ""
		}
		asked++
		if asked == 1 {
			return `[{"slot":1,"prioritizationFee":1000}]`
		}
		return `[{"slot":1,"prioritizationFee":100000000}]`
	}, 1_000_000)
	const limit = 10_000
	w := s.keeper(keeper.Config{MaxFee: limit, DailyBudget: 2 * limit, CloseShareBps: 5000})
	before := s.lamports(w.key.PublicKey())
	require.NoError(t, w.Once(s.ctx))
	cost := before - s.lamports(w.key.PublicKey())
	require.LessOrEqual(t, cost, uint64(limit))
	done := w.reported(keeper.Done)
	require.Len(t, done, 1)
	require.Equal(t, cost, done[0].Cost)
	require.Greater(t, cost, uint64(5_000), "a priority fee was paid")
	require.Nil(t, s.state(negotiation))
}

// Another sender creates the treasury's token account before the keeper's transaction.
func TestUnpaidRentReturnsToTheBudget(t *testing.T) {
	s := setStage(t)
	var err error
	s.Mint, err = s.Chain.CreateMint(s.ctx, 6)
	require.NoError(t, err)
	require.NoError(t, s.Chain.Endow(s.ctx, s.Mint, localnet.Holding{Owner: s.Buyer.PublicKey(), Tokens: 5_000_000}))
	negotiation := s.agreed()
	config, err := s.Client.GetConfig(s.ctx)
	require.NoError(t, err)
	created := false
	s.through(func(method string) string {
		if method == "sendTransaction" && !created {
			created = true
			require.NoError(t, s.Chain.Endow(s.ctx, s.Mint, localnet.Holding{Owner: config.Treasury}))
		}
		return ""
	}, 0)
	w := s.keeper(keeper.Config{MaxFee: 3_000_000, DailyBudget: 6_000_000, CloseShareBps: 5000})
	before := s.lamports(w.key.PublicKey())
	require.NoError(t, w.Once(s.ctx))
	require.Nil(t, s.state(negotiation))
	require.True(t, created)
	require.EqualValues(t, 5_000, before-s.lamports(w.key.PublicKey()))
	require.EqualValues(t, 5_000, w.reported(keeper.Done)[0].Cost)
}

// rotate replaces the treasury by a new wallet.
func (s *fixture) rotate(hasAccount bool) {
	s.t.Helper()
	treasury := s.wallet().PublicKey()
	if hasAccount {
		require.NoError(s.t, s.Chain.Endow(s.ctx, s.Mint, localnet.Holding{Owner: treasury}))
	}
	require.NoError(s.t, s.ReplaceTreasury(s.ctx, treasury))
}

// at calls a function before the request with this number, from 1, to a method.
func (s *fixture) at(method string, number int, do func()) {
	s.t.Helper()
	direct, called := s.Client, 0
	s.through(func(requested string) string {
		if requested == method {
			if called++; called == number {
				through := s.Client
				s.Client = direct
				do()
				s.Client = through
			}
		}
		return ""
	}, 0)
}

// The new treasury has no token account for the mint. The first keeper has reserved the fee for a close, but
// no rent.
func TestRentOfANewTreasuryIsBudgetedFirst(t *testing.T) {
	s := setStage(t)
	negotiation := s.agreed()
	s.at("simulateTransaction", 3, func() { s.rotate(false) }) // an action is simulated twice, then reserved
	w := s.keeper(keeper.Config{})
	before := s.lamports(w.key.PublicKey())
	require.NoError(t, w.Once(s.ctx))
	failed := w.reported(keeper.Failed)
	require.Len(t, failed, 1)
	require.ErrorIs(t, failed[0].Err, haggle.ErrTreasuryChanged)
	require.Zero(t, failed[0].Cost)
	require.Equal(t, before, s.lamports(w.key.PublicKey()))

	const cost = 5_000 + token.AccountRent
	frugal := s.keeper(keeper.Config{MaxFee: cost - 1})
	require.NoError(t, frugal.Once(s.ctx))
	require.EqualValues(t, cost, frugal.reported(keeper.TooExpensive)[0].Cost)
	generous := s.keeper(keeper.Config{MaxFee: cost, DailyBudget: 2 * cost, CloseShareBps: 5000})
	require.NoError(t, generous.Once(s.ctx))
	require.EqualValues(t, cost, generous.reported(keeper.Done)[0].Cost)
	require.Nil(t, s.state(negotiation))
}

// A close executed with the former treasury has used up the reservation.
func TestFailedCloseIsNotRepeatedBeyondItsBudget(t *testing.T) {
	s := setStage(t)
	negotiation := s.agreed()
	s.at("sendTransaction", 1, func() { s.rotate(true) })
	w := s.keeper(keeper.Config{})
	require.NoError(t, w.Once(s.ctx))
	failed := w.reported(keeper.Failed)
	require.Len(t, failed, 1)
	require.ErrorIs(t, failed[0].Err, protocol.ErrConstraintRaw)
	require.EqualValues(t, 5_000, failed[0].Cost)
	require.Equal(t, 1, s.wasted(w.key.PublicKey()))
	require.NotNil(t, s.state(negotiation))

	next := s.keeper(keeper.Config{})
	require.NoError(t, next.Once(s.ctx))
	require.Len(t, next.reported(keeper.Done), 1)
	require.Nil(t, s.state(negotiation))
}
