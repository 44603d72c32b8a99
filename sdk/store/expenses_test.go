package store_test

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/keeper"
	"github.com/haggle-protocol/haggle/sdk/store"
)

func TestKeepersNeverExceedABudgetTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		budget := keeper.Budget{Wallet: newKeypair(t).PublicKey(), Name: "closes", Limit: 20}
		var reserved atomic.Int64
		var running sync.WaitGroup
		for range 4 {
			state := open()
			running.Go(func() {
				for range 15 {
					id, retryIn, err := state.ReserveExpense(context.Background(), budget, 1)
					switch {
					case err != nil:
						t.Error(err)
					case id != "":
						reserved.Add(1)
					case retryIn <= 23*time.Hour || retryIn > 24*time.Hour:
						t.Error(retryIn)
					}
				}
			})
		}
		running.Wait()
		require.EqualValues(t, budget.Limit, reserved.Load())
	})
}

func TestSettledExpenseReturnsTheDifference(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		state := open()
		budget := keeper.Budget{Wallet: newKeypair(t).PublicKey(), Limit: 100}
		reserve := func(lamports uint64) string {
			id, _, err := state.ReserveExpense(t.Context(), budget, lamports)
			require.NoError(t, err)
			return id
		}
		first := reserve(100)
		require.NotEmpty(t, first)
		require.Empty(t, reserve(1))
		require.NoError(t, state.SettleExpense(t.Context(), first, 40))
		second := reserve(60)
		require.NotEmpty(t, second)
		require.NoError(t, state.SettleExpense(t.Context(), second, 0))
		require.NotEmpty(t, reserve(60))
		require.ErrorContains(t, state.SettleExpense(t.Context(), second, 1), "unknown expense")
	})
}

func TestBudgetsAreSeparate(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		state, wallet := open(), newKeypair(t).PublicKey()
		for _, budget := range []keeper.Budget{
			{Wallet: wallet, Name: "closes", Limit: 5}, {Wallet: wallet, Name: "urgent", Limit: 5},
			{Wallet: newKeypair(t).PublicKey(), Name: "closes", Limit: 5},
		} {
			id, _, err := state.ReserveExpense(t.Context(), budget, 5)
			require.NoError(t, err)
			require.NotEmpty(t, id)
		}
	})
}

func TestExpensesDoNotWrapAround(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		state := open()
		budget := keeper.Budget{Wallet: newKeypair(t).PublicKey(), Limit: math.MaxInt64}
		_, _, err := state.ReserveExpense(t.Context(), budget, math.MaxUint64)
		require.Error(t, err)
		id, _, err := state.ReserveExpense(t.Context(), budget, math.MaxInt64)
		require.NoError(t, err)
		require.Error(t, state.SettleExpense(t.Context(), id, math.MaxUint64))
		refused, _, err := state.ReserveExpense(t.Context(), budget, math.MaxInt64)
		require.NoError(t, err)
		require.Empty(t, refused)
	})
}
