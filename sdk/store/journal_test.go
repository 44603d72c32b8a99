package store_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/journaltest"
	"github.com/haggle-protocol/haggle/sdk/store/postgres"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestStoreIsAJournal(t *testing.T) {
	// Each path stands for a database of the server.
	var lock sync.Mutex
	addresses := make(map[string]string)
	address := func(t *testing.T, path string) string {
		lock.Lock()
		defer lock.Unlock()
		if addresses[path] == "" {
			addresses[path] = server.Create(t)
		}
		return addresses[path]
	}
	for name, open := range map[string]func(*testing.T, string) (*store.Store, error){
		"sqlite": func(t *testing.T, path string) (*store.Store, error) { return sqlite.Open(t.Context(), path) },
		"postgres": func(t *testing.T, path string) (*store.Store, error) {
			return postgres.Open(t.Context(), address(t, path))
		},
	} {
		opens := func(renewed bool) journaltest.Open {
			return func(t *testing.T, path string) (journaltest.Store, error) {
				opened, err := open(t, path)
				if err != nil {
					return nil, err
				}
				opened.SetLeases(time.Second, renewed)
				return opened, nil
			}
		}
		t.Run(name, func(t *testing.T) { journaltest.Run(t, opens(true), opens(false)) })
	}
}

func TestOldEntriesAreForgottenOnRequest(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		state := open()
		entries := state.OpenJournal()
		wallet := journaltest.Wallet(1)
		for i := range uint64(4) {
			require.NoError(t, entries.Begin(t.Context(), journaltest.Entry(wallet, i)))
		}
		for i := range uint64(3) {
			signature, acknowledged := journaltest.Signature(wallet, i), i < 2
			require.NoError(t, entries.Finish(t.Context(), signature, transaction.Confirmed, acknowledged))
		}
		forgotten, err := state.ForgetEntries(t.Context(), time.Now().Add(-time.Hour))
		require.NoError(t, err)
		assert.Zero(t, forgotten)
		forgotten, err = state.ForgetEntries(t.Context(), time.Now().Add(time.Hour))
		require.NoError(t, err)
		assert.EqualValues(t, 2, forgotten, "the third one is not acknowledged")
		left, err := journaltest.Unfinished(t.Context(), entries, wallet)
		require.NoError(t, err)
		assert.Equal(t, []haggle.JournalEntry{journaltest.Entry(wallet, 3)}, left)
		found, err := entries.Confirmed(t.Context(), wallet, journaltest.Entry(wallet, 2).Key, solana.Hash{})
		require.NoError(t, err)
		assert.NotNil(t, found)
	})
}

// A deleted journal would authorize a purchase a second time.
func TestEntryIsRefusedAfterTheFileIsDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	state, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, state.Close()) }()
	entries := state.OpenJournal()
	require.NoError(t, entries.Begin(t.Context(), journaltest.Entry(journaltest.Wallet(1), 1)))
	require.NoError(t, os.Remove(path))
	err = entries.Begin(t.Context(), journaltest.Entry(journaltest.Wallet(1), 2))
	require.ErrorIs(t, err, store.ErrReplaced)
}
