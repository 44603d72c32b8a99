package keeper

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
)

func TestBudgetCoversOneDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryStore{}
		budget := Budget{Wallet: solana.PublicKey{1}, Limit: 100}
		reserve := func(lamports uint64) (string, time.Duration) {
			id, retryIn, err := store.ReserveExpense(t.Context(), budget, lamports)
			require.NoError(t, err)
			return id, retryIn
		}
		first, _ := reserve(60)
		require.NotEmpty(t, first)
		refused, _ := reserve(41)
		require.Empty(t, refused, "a reserved amount counts")
		require.NoError(t, store.SettleExpense(t.Context(), first, 30))
		time.Sleep(time.Hour)
		second, _ := reserve(70)
		require.NoError(t, store.SettleExpense(t.Context(), second, 70))
		time.Sleep(time.Hour)
		refused, retryIn := reserve(1)
		require.Empty(t, refused)
		require.Equal(t, 22*time.Hour, retryIn)
		time.Sleep(retryIn)
		refused, _ = reserve(31)
		require.Empty(t, refused)
		third, _ := reserve(30)
		require.NotEmpty(t, third, "expenses older than a day do not count")
		require.NoError(t, store.SettleExpense(t.Context(), third, 0))
		time.Sleep(time.Hour)
		whole, _ := reserve(100)
		require.NotEmpty(t, whole)
		time.Sleep(3 * day)
		refused, retryIn = reserve(101)
		require.Empty(t, refused)
		require.Equal(t, day, retryIn)
		require.Error(t, store.SettleExpense(t.Context(), "unknown", 1))
	})
}

func TestBudgetsOfOtherNamesAndWalletsAreSeparate(t *testing.T) {
	store := &memoryStore{}
	for _, budget := range []Budget{
		{Wallet: solana.PublicKey{1}, Name: "closes", Limit: 100}, {Wallet: solana.PublicKey{1}, Limit: 100},
		{Wallet: solana.PublicKey{2}, Limit: 100},
	} {
		id, _, err := store.ReserveExpense(t.Context(), budget, 100)
		require.NoError(t, err)
		require.NotEmpty(t, id)
	}
}

func TestExpensesDoNotWrapAround(t *testing.T) {
	store := &memoryStore{}
	budget := Budget{Limit: math.MaxUint64 - 1}
	id, _, err := store.ReserveExpense(t.Context(), budget, math.MaxUint64-1)
	require.NoError(t, err)
	require.NotEmpty(t, id)
	id, _, err = store.ReserveExpense(t.Context(), budget, 2)
	require.NoError(t, err)
	require.Empty(t, id)
}
