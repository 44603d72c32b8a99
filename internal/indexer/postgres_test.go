package indexer

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"
)

// SQLite and PostgreSQL hold the same data, views and exports included.
func TestBothDatabasesHoldTheSame(t *testing.T) {
	s := newScenario(t)
	s.all()
	file, server := newSQLite(t), openAt(t, server.Create(t))
	runOnce(t, s.ctx, file, s.Client.RPC(), rpc.CommitmentConfirmed)
	runOnce(t, s.ctx, server, s.Client.RPC(), rpc.CommitmentConfirmed)
	held := contents(t, s.ctx, file)
	require.Contains(t, held, "NegotiationSettled")
	require.Equal(t, held, contents(t, s.ctx, server))
	// Further runs change nothing else.
	s.bargain(9)
	for _, database := range []*Database{file, server} {
		runOnce(t, s.ctx, database, s.Client.RPC(), rpc.CommitmentConfirmed)
		runOnce(t, s.ctx, database, s.Client.RPC(), rpc.CommitmentConfirmed)
	}
	again := contents(t, s.ctx, file)
	require.NotEqual(t, held, again)
	require.Equal(t, again, contents(t, s.ctx, server))
}

// Errors and the status contain no password.
func TestNoErrorQuotesAPassword(t *testing.T) {
	address := server.Create(t)
	require.Contains(t, address, "not-printed")
	database := openAt(t, address)
	require.NotContains(t, database.Name, "not-printed")
	for _, wrong := range []string{
		strings.Replace(address, "test_", "missing_", 1),
		strings.Replace(address, server.Folder, "/nowhere", 1),
		"postgres://me:not-printed@host:port/name",
		"postgres://me:not-printed@127.0.0.1:1/name?sslmode=disable",
		"postgres://127.0.0.1:1/name?user=me&password=not-printed&sslmode=what",
		"postgresql://me:not-printed@%zz/name",
		"mysql://me:not-printed@host/name",
		"me:not-printed",
	} {
		_, err := Open(t.Context(), wrong)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "not-printed")
		_, err = OpenExisting(t.Context(), wrong)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "not-printed")
	}
}

// Several indexers can start at once on an empty database.
func TestTablesAreCreatedOnce(t *testing.T) {
	for name, address := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "x.db"), "postgres": server.Create(t)} {
		t.Run(name, func(t *testing.T) {
			outcomes := make(chan error, 4)
			for range cap(outcomes) {
				go func() {
					database, err := Open(context.Background(), address)
					if err == nil {
						err = database.Close()
					}
					outcomes <- err
				}()
			}
			for range cap(outcomes) {
				require.NoError(t, <-outcomes)
			}
		})
	}
}
