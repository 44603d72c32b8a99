package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/journal"
	"github.com/haggle-protocol/haggle/sdk/journal/journaltest"
	"github.com/haggle-protocol/haggle/sdk/journal/sqlite"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func open(path string) (journaltest.Store, error) { return openWith(path, true) }

func openStalled(path string) (journaltest.Store, error) { return openWith(path, false) }

func openWith(path string, renew bool) (journaltest.Store, error) {
	store, err := sqlite.OpenWithLease(path, time.Second, renew)
	if err != nil {
		return nil, err
	}
	return store, nil
}

func TestMain(m *testing.M) { journaltest.Main(m, open) }

func TestStoreIsAJournal(t *testing.T) { journaltest.Run(t, open, openStalled) }

func TestKilledProcessLosesNothingThatWasPromised(t *testing.T) { journaltest.RunKilled(t, open) }

func TestWhatWasFinishedLongAgoIsForgottenOnRequest(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "journal #1?.db"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	entries := store.OpenJournal()
	wallet := journaltest.Wallet(1)
	for i := range uint64(3) {
		require.NoError(t, entries.Begin(t.Context(), journaltest.Entry(wallet, i)))
	}
	for i := range uint64(2) {
		require.NoError(t, entries.Finish(t.Context(), journaltest.Signature(wallet, i), transaction.Confirmed, true))
	}
	forgotten, err := store.Forget(t.Context(), time.Now().Add(-time.Hour))
	require.NoError(t, err)
	assert.Zero(t, forgotten)
	forgotten, err = store.Forget(t.Context(), time.Now().Add(time.Hour))
	require.NoError(t, err)
	assert.EqualValues(t, 2, forgotten)
	left, err := journaltest.Unfinished(t.Context(), entries, wallet)
	require.NoError(t, err)
	assert.Equal(t, []haggle.JournalEntry{journaltest.Entry(wallet, 2)}, left)
}

func TestTablesAreCreatedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	opened := make(chan error, 4)
	for range cap(opened) {
		go func() {
			store, err := sqlite.Open(path)
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

func TestMissingFolderIsNoDamage(t *testing.T) {
	_, err := sqlite.Open(filepath.Join(t.TempDir(), "missing", "journal.db"))
	require.Error(t, err)
	require.NotErrorIs(t, err, journal.ErrDamaged)
}

func TestFileThatIsNoDatabaseIsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	require.NoError(t, os.WriteFile(path, []byte("this is no database, and long enough for the header of one to be looked for"), 0o600))
	_, err := sqlite.Open(path)
	require.ErrorIs(t, err, journal.ErrDamaged)
	require.ErrorContains(t, err, path)
}

// Its unfinished transactions could be sent twice if the file were taken for an empty journal.
func TestFileOfAnEarlierVersionIsRefused(t *testing.T) {
	for name, statements := range map[string]string{
		"numbered tables": `CREATE TABLE journal (number INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE,
			wallet TEXT NOT NULL, entry TEXT NOT NULL, outcome TEXT) STRICT; PRAGMA user_version = 3;`,
		"a table with fewer columns": `CREATE TABLE haggle_journal (number INTEGER PRIMARY KEY,
			signature TEXT NOT NULL UNIQUE, wallet TEXT NOT NULL, entry TEXT NOT NULL, outcome TEXT) STRICT;`,
		"a table without authorisations": `CREATE TABLE haggle_journal (number INTEGER PRIMARY KEY,
			signature TEXT NOT NULL UNIQUE, wallet TEXT NOT NULL, action TEXT NOT NULL, negotiation TEXT,
			begun TEXT NOT NULL, entry TEXT NOT NULL, idempotency TEXT, intent TEXT, owner TEXT,
			leased_until INTEGER NOT NULL, outcome TEXT, finished TEXT, acknowledged INTEGER NOT NULL DEFAULT 0) STRICT;`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			db, err := sql.Open("sqlite", path)
			require.NoError(t, err)
			_, err = db.ExecContext(t.Context(), statements)
			require.NoError(t, err)
			require.NoError(t, db.Close())

			_, err = sqlite.Open(path)
			require.ErrorIs(t, err, journal.ErrVersion)
			require.NotErrorIs(t, err, journal.ErrDamaged)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, "let that version find the outcomes of its transactions, then use a new file")
		})
	}
}
