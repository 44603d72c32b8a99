package postgres_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/testpostgres"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/journal"
	"github.com/haggle-protocol/haggle/sdk/journal/journaltest"
	"github.com/haggle-protocol/haggle/sdk/journal/postgres"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// server is the PostgreSQL server of all tests.
var server *testpostgres.Server

// addressVariable has the address of the database in a process that journaltest.RunKilled kills.
const addressVariable = "HAGGLE_TEST_JOURNAL"

func TestMain(m *testing.M) {
	if os.Getenv(addressVariable) != "" {
		journaltest.Main(m, open)
	}
	os.Exit(testpostgres.Run(m, &server))
}

// open opens the journal that a path stands for: the one in a schema with a name of its own.
func open(path string) (journaltest.Store, error) { return openWith(path, true) }

func openStalled(path string) (journaltest.Store, error) { return openWith(path, false) }

func openWith(path string, renew bool) (journaltest.Store, error) {
	ctx, address := context.Background(), os.Getenv(addressVariable)
	if address == "" {
		address = server.Address("postgres")
	}
	schema := fmt.Sprintf("journal_%x", sha256.Sum224([]byte(path)))
	connection, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	if _, err = connection.Exec(ctx, "SELECT pg_advisory_lock(1)"); err == nil {
		_, err = connection.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+schema)
	}
	if err := errors.Join(err, connection.Close(ctx)); err != nil {
		return nil, err
	}
	address += "&pool_max_conns=4&search_path=" + schema
	store, err := postgres.OpenWithLease(ctx, address, time.Second, renew)
	if err != nil {
		return nil, err
	}
	return store, nil
}

func TestStoreIsAJournal(t *testing.T) { journaltest.Run(t, open, openStalled) }

func TestKilledProcessLosesNothingThatWasPromised(t *testing.T) {
	t.Setenv(addressVariable, server.Create(t))
	journaltest.RunKilled(t, open)
}

func TestOldEntriesAreForgottenOnRequest(t *testing.T) {
	store, err := postgres.Open(t.Context(), server.Create(t))
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	entries := store.OpenJournal()
	wallet := journaltest.Wallet(1)
	for i := range uint64(4) {
		require.NoError(t, entries.Begin(t.Context(), journaltest.Entry(wallet, i)))
	}
	for i := range uint64(3) {
		signature, acknowledged := journaltest.Signature(wallet, i), i < 2
		require.NoError(t, entries.Finish(t.Context(), signature, transaction.Confirmed, acknowledged))
	}
	forgotten, err := store.Forget(t.Context(), time.Now().Add(-time.Hour))
	require.NoError(t, err)
	assert.Zero(t, forgotten)
	forgotten, err = store.Forget(t.Context(), time.Now().Add(time.Hour))
	require.NoError(t, err)
	assert.EqualValues(t, 2, forgotten)
	left, err := journaltest.Unfinished(t.Context(), entries, wallet)
	require.NoError(t, err)
	assert.Equal(t, []haggle.JournalEntry{journaltest.Entry(wallet, 3)}, left)
}

func TestTableIsCreatedOnce(t *testing.T) {
	address := server.Create(t)
	opened := make(chan error, 4)
	for range cap(opened) {
		go func() {
			store, err := postgres.Open(context.Background(), address)
			if err == nil {
				err = store.Close()
			}
			opened <- err
		}()
	}
	for range cap(opened) {
		require.NoError(t, <-opened)
	}
}

// Its unfinished transactions could be sent twice if the table were taken for an empty journal.
func TestTableOfAnEarlierVersionIsRefused(t *testing.T) {
	address := server.Create(t)
	connection, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	_, err = connection.Exec(t.Context(), "CREATE TABLE haggle_journal (signature text PRIMARY KEY, outcome text)")
	require.NoError(t, errors.Join(err, connection.Close(t.Context())))
	_, err = postgres.Open(t.Context(), address)
	require.ErrorIs(t, err, journal.ErrVersion)
	require.ErrorContains(t, err, "then use a new database")
}

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
		"postgres://me:not-printed@127.0.0.1:1/name?sslmode=disable",
		"postgres://127.0.0.1:1/name?user=me&password=not-printed&sslmode=what",
		"postgresql://me:not-printed@%zz/name",
	} {
		_, err := postgres.Open(t.Context(), wrong)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "not-printed")
	}
}
