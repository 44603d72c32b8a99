package indexer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

// OpenExisting leaves nothing in a database that belongs to another application.
func TestOpenExistingChangesNothing(t *testing.T) {
	for name, address := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "else.db"), "postgres": server.Create(t)} {
		t.Run(name, func(t *testing.T) {
			other := openWithoutTables(t, address)
			defer other.Close()
			_, err := other.statements().exec(t.Context(), `CREATE TABLE customers (name TEXT)`)
			require.NoError(t, err)
			_, err = OpenExisting(t.Context(), address)
			require.ErrorIs(t, err, ErrNotIndexed)
			tables := map[Dialect]string{
				SQLite:   `SELECT COUNT(*) FROM sqlite_master`,
				Postgres: `SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'public'`,
			}
			require.Equal(t, 1, single[int](t, t.Context(), other, tables[other.Dialect]))
		})
	}
}

// Open migrates a database with an older schema and keeps the rows. Until then it is not readable.
func TestAnOlderDatabaseIsMigrated(t *testing.T) {
	for name, address := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "x.db"), "postgres": server.Create(t)} {
		t.Run(name, func(t *testing.T) {
			chain, steps := forkingChain(t)
			older := openWithoutTables(t, address)
			migrateTo(t, older, migrationsOf(older.Dialect == Postgres), 1)
			// Today's indexer writes two more columns than the older one did.
			later := map[string]string{"rebuilt": "BOOLEAN NOT NULL DEFAULT FALSE", "metadata": "BYTEA"}
			if older.Dialect == SQLite {
				later = map[string]string{"rebuilt": "INTEGER NOT NULL DEFAULT 0", "metadata": "BLOB"}
			}
			for name, kind := range later {
				_, err := older.statements().exec(t.Context(), `ALTER TABLE events ADD COLUMN `+name+` `+kind)
				require.NoError(t, err)
			}
			runOnce(t, t.Context(), older, chain.client(), rpc.CommitmentConfirmed)
			for name := range later {
				_, err := older.statements().exec(t.Context(), `ALTER TABLE events DROP COLUMN `+name)
				require.NoError(t, err)
			}
			_, err := older.statements().exec(t.Context(), `UPDATE negotiations SET complete = FALSE`)
			require.NoError(t, err)
			require.NoError(t, older.Close())
			_, err = OpenExisting(t.Context(), address)
			require.ErrorIs(t, err, ErrOldSchema)

			database := openAt(t, address)
			require.Equal(t, 1, single[int](t, t.Context(), database, `SELECT COUNT(*) FROM outcomes WHERE status = 'Countered' AND fee IS NULL`))
			chain.add(104, 1, steps[4])
			runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
			fresh := newSQLite(t)
			runOnce(t, t.Context(), fresh, chain.client(), rpc.CommitmentConfirmed)
			require.Equal(t, contents(t, t.Context(), fresh), contents(t, t.Context(), database))
		})
	}
}

// A database with a newer schema is refused.
func TestANewerSchemaIsRefused(t *testing.T) {
	for name, address := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "x.db"), "postgres": server.Create(t)} {
		t.Run(name, func(t *testing.T) {
			database := openAt(t, address)
			_, err := database.statements().exec(t.Context(), `UPDATE schema_version SET version_id = 99 WHERE version_id > 0`)
			require.NoError(t, err)
			for _, open := range []func() (*Database, error){
				func() (*Database, error) { return Open(t.Context(), address) },
				func() (*Database, error) { return OpenExisting(t.Context(), address) },
			} {
				_, err = open()
				require.ErrorContains(t, err, "a newer version of haggle has written it")
			}
		})
	}
}

// Export and status need only SELECT. An indexer that is not allowed to write returns an error naming the
// database.
func TestReadingNeedsOnlySelect(t *testing.T) {
	chain, _ := forkingChain(t)
	address := server.Create(t)
	database := openAt(t, address)
	runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
	for _, statement := range []string{`CREATE ROLE reader LOGIN`, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader`} {
		_, err := database.statements().exec(t.Context(), statement)
		require.NoError(t, err)
	}
	reader, err := OpenExisting(t.Context(), strings.Replace(address, testpostgres.Superuser+":", "reader:", 1))
	require.NoError(t, err)
	defer reader.Close()
	_, err = reader.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, contents(t, t.Context(), database), contents(t, t.Context(), reader))
	indexer, err := New(reader, Config{RPC: chain.client(), Once: true})
	require.NoError(t, err)
	require.ErrorContains(t, indexer.Run(t.Context()), reader.Name+": ERROR: permission denied")
}

func TestOnlyTheOwnerReadsTheFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	database, err := Open(t.Context(), "sqlite:"+path)
	require.NoError(t, err)
	defer database.Close()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), suffix)
	}
}

// The two slashes in an address are not part of the path.
func TestTheSlashesOfAnAddressAreNotPartOfThePath(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, address := range []string{"sqlite:plain.db", "sqlite://slashes.db", "sqlite:///" + t.TempDir() + "/a b%20?#.db"} {
		made := openAt(t, address)
		require.FileExists(t, made.Name)
		found, err := OpenExisting(t.Context(), address)
		require.NoError(t, err, address)
		require.NoError(t, found.Close())
	}
	for _, open := range []string{"sqlite:", "sqlite://"} {
		_, err := OpenExisting(t.Context(), open)
		require.ErrorIs(t, err, ErrAddress)
	}
	_, err := OpenExisting(t.Context(), "sqlite://missing.db")
	require.ErrorIs(t, err, ErrNotIndexed)
	require.NoFileExists(t, "missing.db")
}

// A context that ends before the commit is returned as the error, and a panic leaves no transaction that
// would block Close.
func TestTransactionsEndWithTheirContextAndPanics(t *testing.T) {
	for name, address := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "x.db"), "postgres": server.Create(t)} {
		t.Run(name, func(t *testing.T) {
			d, err := Open(t.Context(), address)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			require.ErrorIs(t, d.write(ctx, func(statements) error {
				cancel()
				time.Sleep(100 * time.Millisecond)
				return nil
			}), context.Canceled)
			require.Panics(t, func() {
				_ = d.write(t.Context(), func(statements) error { panic("an error of the program") })
			})
			closed := make(chan error, 1)
			go func() { closed <- d.Close() }()
			select {
			case err := <-closed:
				require.NoError(t, err)
			case <-time.After(10 * time.Second):
				t.Fatal("Close waits for the transaction")
			}
		})
	}
}
