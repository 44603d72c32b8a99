package postgres_test

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/testpostgres"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/postgres"
)

// server is the PostgreSQL server of all tests.
var server *testpostgres.Server

func TestMain(m *testing.M) { os.Exit(testpostgres.Run(m, &server)) }

func TestServerWithoutDurableCommitsIsRefused(t *testing.T) {
	_, err := postgres.Open(t.Context(), server.Create(t)+"&synchronous_commit=off")
	require.ErrorContains(t, err, "synchronous_commit")
}

func TestNoErrorQuotesAPassword(t *testing.T) {
	address := server.Create(t)
	for _, wrong := range []string{
		strings.Replace(address, "test_", "missing_", 1),
		strings.Replace(address, server.Folder, "/nowhere", 1),
		"postgres://me:not-printed@host:port/name",
	} {
		_, err := postgres.Open(t.Context(), wrong)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "not-printed")
	}
	_, err := postgres.Open(t.Context(), "postgres://me@host:port/name")
	require.ErrorIs(t, err, store.ErrAddress)
}

func TestNewerSchemaIsRefused(t *testing.T) {
	address := server.Create(t)
	state, err := postgres.Open(t.Context(), address)
	require.NoError(t, err)
	require.NoError(t, state.Close())
	db, err := sql.Open("pgx", address)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(context.Background(),
		"INSERT INTO "+store.VersionTable+" (version_id, is_applied) VALUES (1000, true)")
	require.NoError(t, err)
	_, err = postgres.Open(t.Context(), address)
	require.ErrorIs(t, err, store.ErrVersion)
}

// Connect creates nothing in the database of another program, and accepts a server without durable commits.
func TestConnectChangesNothing(t *testing.T) {
	opened, err := postgres.Connect(server.Create(t)+"&synchronous_commit=off", store.Schema())
	require.NoError(t, err)
	defer func() { require.NoError(t, opened.Close()) }()
	reading, err := opened.Snapshot(t.Context())
	require.NoError(t, err)
	var tables int
	require.NoError(t, reading.QueryRowContext(t.Context(),
		`SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'public'`).Scan(&tables))
	require.Zero(t, tables)
	require.NoError(t, reading.Rollback())
	_, err = postgres.Connect("postgres://me@host:port/name", store.Schema())
	require.ErrorIs(t, err, store.ErrAddress)
}
