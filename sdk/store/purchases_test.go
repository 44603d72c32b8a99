package store_test

import (
	"database/sql"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

func TestPurchaseRecordIsDurable(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		wallet, first, second := newKeypair(t).PublicKey(), newKeypair(t).PublicKey(), newKeypair(t).PublicKey()
		record, err := open().BeginPurchase(t.Context(), wallet, "order-1", [32]byte{1})
		require.NoError(t, err)
		require.Equal(t, agent.PurchaseRecord{Wallet: wallet, Key: "order-1", Terms: [32]byte{1}}, record)

		authorized, err := open().AuthorizePurchase(t.Context(), record, first, 2)
		require.NoError(t, err)
		want := agent.PurchaseRecord{
			Wallet: wallet, Key: "order-1", Terms: [32]byte{1}, Generation: 1, Negotiation: first, Round: 2,
		}
		require.Equal(t, want, authorized)
		_, err = open().AuthorizePurchase(t.Context(), record, second, 0)
		require.ErrorIs(t, err, agent.ErrPurchaseChanged, "the record has another generation by now")
		kept, err := open().BeginPurchase(t.Context(), wallet, "order-1", [32]byte{2})
		require.NoError(t, err)
		require.Equal(t, want, kept, "the terms of the first call stay")

		// Another key and another wallet have records of their own.
		other, err := open().BeginPurchase(t.Context(), wallet, "order-2", [32]byte{1})
		require.NoError(t, err)
		require.Zero(t, other.Generation)
		third, err := open().BeginPurchase(t.Context(), first, "order-1", [32]byte{1})
		require.NoError(t, err)
		require.Zero(t, third.Generation)
	})
}

func TestOneOfManyProcessesAuthorizes(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		wallet := newKeypair(t).PublicKey()
		record, err := open().BeginPurchase(t.Context(), wallet, "order-1", [32]byte{1})
		require.NoError(t, err)
		var all sync.WaitGroup
		var authorized atomic.Int32
		for range 8 {
			process, negotiation := open(), newKeypair(t).PublicKey()
			all.Go(func() {
				_, err := process.AuthorizePurchase(t.Context(), record, negotiation, 0)
				if err == nil {
					authorized.Add(1)
				} else {
					assert.ErrorIs(t, err, agent.ErrPurchaseChanged)
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, authorized.Load())
	})
}

func TestDamagedPurchaseAuthorizesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	state, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer state.Close()
	wallet := newKeypair(t).PublicKey()
	_, err = state.BeginPurchase(t.Context(), wallet, "order-1", [32]byte{1})
	require.NoError(t, err)
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "UPDATE haggle_purchases SET negotiation = 'x'")
	require.NoError(t, err)
	_, err = state.BeginPurchase(t.Context(), wallet, "order-1", [32]byte{1})
	require.ErrorIs(t, err, store.ErrDamaged)
}
