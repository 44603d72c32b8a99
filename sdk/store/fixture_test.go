package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/testpostgres"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/postgres"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// server is the PostgreSQL server of all tests.
var server *testpostgres.Server

func TestMain(m *testing.M) {
	if path := os.Getenv(victimPath); path != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(path))
		os.Exit(1)
	}
	os.Exit(testpostgres.Run(m, &server))
}

// onBoth runs a test on two empty databases, one per engine. Each call of open opens the database once more,
// as a further process does.
func onBoth(t *testing.T, test func(t *testing.T, open func() *store.Store)) {
	t.Helper()
	closed := func(t *testing.T, opened *store.Store, err error) *store.Store {
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, opened.Close()) })
		return opened
	}
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		test(t, func() *store.Store {
			opened, err := sqlite.Open(t.Context(), path)
			return closed(t, opened, err)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		address := server.Create(t)
		test(t, func() *store.Store {
			opened, err := postgres.Open(t.Context(), address)
			return closed(t, opened, err)
		})
	})
}

func newKeypair(t *testing.T) *wallet.Keypair {
	t.Helper()
	me, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	return me
}
