package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver

	"github.com/haggle-protocol/haggle/sdk/keeper"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/database"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

var owner = solana.PublicKey{1}

func open(t *testing.T, path string) *store.Store {
	t.Helper()
	state, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, state.Close()) })
	return state
}

// create creates a database and closes it.
func create(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state.db")
	state, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, count(t, state.UsageLog(owner)))
	require.NoError(t, state.Close())
	return path
}

// count writes a usage record.
func count(t *testing.T, log policy.Log) error {
	t.Helper()
	return log.Append(t.Context(), policy.Record{Kind: policy.RecordApproved, Wallet: owner})
}

// read returns the number of further records.
func read(t *testing.T, log policy.Log) (n int) {
	t.Helper()
	for _, err := range log.Next(t.Context()) {
		require.NoError(t, err)
		n++
	}
	return n
}

func TestOnlyTheOwnerReadsTheFiles(t *testing.T) {
	path := create(t)
	require.NoError(t, os.Chmod(path, 0o644))
	open(t, path)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), suffix)
		}
	}
}

// A killed process leaves the write-ahead log, with the permissions that the database had.
func TestFilesOfAKilledProcessBecomePrivate(t *testing.T) {
	path := create(t)
	open(t, path)
	left := filepath.Join(t.TempDir(), "state.db")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		content, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(left+suffix, content, 0o644))
	}
	canonical, err := sqlite.PrepareFile(left)
	require.NoError(t, err)
	require.Equal(t, filepath.Base(left), filepath.Base(canonical))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(left + suffix)
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), suffix)
		}
	}
}

func TestHardLinkIsRefused(t *testing.T) {
	path := create(t)
	second := filepath.Join(filepath.Dir(path), "second.db")
	require.NoError(t, os.Link(path, second))
	for _, name := range []string{path, second} {
		_, err := sqlite.Open(t.Context(), name)
		require.ErrorIs(t, err, store.ErrHardLinks)
		require.EqualError(t, err, "state database: haggle: database has several hard links: "+name+
			" has 2: use a file with one name")
	}
}

func TestHardLinkToAnOpenFileStopsWrites(t *testing.T) {
	path := create(t)
	state := open(t, path)
	require.NoError(t, os.Link(path, path+".second"))
	log := state.UsageLog(owner)
	require.Equal(t, 1, read(t, log))
	require.ErrorIs(t, count(t, log), store.ErrHardLinks)
}

func TestSymbolicLinksNameOneDatabase(t *testing.T) {
	path := create(t)
	directory := filepath.Join(t.TempDir(), "directory")
	require.NoError(t, os.Symlink(filepath.Dir(path), directory))
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	first, second, third := open(t, path), open(t, link), open(t, filepath.Join(directory, "state.db"))
	for i, state := range []*store.Store{first, second, third} {
		log := state.UsageLog(owner)
		require.ErrorIs(t, count(t, log), policy.ErrBehind)
		require.Equal(t, i+1, read(t, log))
		require.NoError(t, count(t, log))
		require.Equal(t, i+2, read(t, first.UsageLog(owner)))
	}
	_, err := os.Lstat(link + "-wal")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestWriteToADeletedOrReplacedFileFails(t *testing.T) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		for name, damage := range map[string]func(path string) error{
			"is missing": os.Remove,
			"is a different file": func(path string) error {
				content, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				if err := os.WriteFile(path+".copy", content, 0o600); err != nil {
					return err
				}
				return os.Rename(path+".copy", path)
			},
		} {
			t.Run(suffix+" "+name, func(t *testing.T) {
				path := create(t)
				state := open(t, path)
				log := state.UsageLog(owner)
				require.Equal(t, 1, read(t, log))
				require.NoError(t, count(t, log))
				require.NoError(t, damage(path+suffix))
				err := count(t, log)
				require.ErrorIs(t, err, store.ErrReplaced)
				require.EqualError(t, err, "state database "+path+": haggle: database deleted or replaced: "+
					path+suffix+" "+name+": end all processes that use it, then restore it")
			})
		}
	}
}

func TestDamagedFileIsRefused(t *testing.T) {
	for name, damage := range map[string]func(content []byte) []byte{
		"text": func([]byte) []byte {
			return []byte("not a database, but long enough to have a header of 100 bytes: " + string(make([]byte, 100)))
		},
		"truncated": func(content []byte) []byte { return content[:len(content)-len(content)/3] },
		"a page":    func(content []byte) []byte { copy(content[4096:], make([]byte, 4096)); return content },
	} {
		path := create(t)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, damage(content), 0o600))
		_, err = sqlite.Open(t.Context(), path)
		require.ErrorIs(t, err, store.ErrDamaged, name)
		require.ErrorContains(t, err, path)
	}
}

func TestDamagedRowIsAnError(t *testing.T) {
	path := create(t)
	execute(t, path, `UPDATE haggle_usage_records SET record = '{"kind":"counted","surprise":1}'`)
	state := open(t, path)
	for _, err := range state.UsageLog(owner).Next(t.Context()) {
		require.ErrorIs(t, err, store.ErrDamaged)
		require.ErrorContains(t, err, "usage record 1 of "+owner.String())
	}
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}

func TestOtherVersionIsRefused(t *testing.T) {
	path := create(t)
	execute(t, path, "INSERT INTO "+store.VersionTable+" (version_id, is_applied) VALUES (1000, 1)")
	_, err := sqlite.Open(t.Context(), path)
	require.ErrorIs(t, err, store.ErrVersion)

	foreign := filepath.Join(t.TempDir(), "other.db")
	execute(t, foreign, "CREATE TABLE haggle_journal (number INTEGER PRIMARY KEY)")
	_, err = sqlite.Open(t.Context(), foreign)
	require.ErrorIs(t, err, store.ErrVersion)
	require.ErrorContains(t, err, foreign+": haggle: database of another version: tables of another program")
}

func TestMissingDirectoryIsAnError(t *testing.T) {
	_, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "none", "state.db"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestNewFileIsOpenedByManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a #?% name.db")
	var opening sync.WaitGroup
	for range 6 {
		opening.Go(func() {
			state, err := sqlite.Open(t.Context(), path)
			if assert.NoError(t, err) {
				assert.NoError(t, state.Close())
			}
		})
	}
	opening.Wait()
	open(t, path)
}

func TestExpensesEndAfterADay(t *testing.T) {
	path := create(t)
	state := open(t, path)
	budget := keeper.Budget{Wallet: owner, Limit: 100}
	id, _, err := state.ReserveExpense(t.Context(), budget, 100)
	require.NoError(t, err)
	require.NotEmpty(t, id)
	for _, c := range []struct {
		age  string
		free bool
	}{
		{"86390000", false}, // whole seconds, and time passes until the reservation
		{"-3600000", false}, // the clock was an hour ahead and then corrected
		{"86400000", true},
	} {
		execute(t, path, "UPDATE haggle_expenses SET spent_at = unixepoch() * 1000 - "+c.age)
		id, _, err := state.ReserveExpense(t.Context(), budget, 1)
		require.NoError(t, err)
		require.Equal(t, c.free, id != "", c.age)
	}
}

// Tables of another program have readers that never wait for the writer, and that never write.
func TestReadersDoNotWaitForTheWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers.db")
	numbers := database.Schema{Kind: "numbers", VersionTable: "numbers_version", Readers: 1,
		Migrations: func(bool) fs.FS {
			return fstest.MapFS{"00001_numbers.sql": {Data: []byte("-- +goose Up\nCREATE TABLE numbers (n INTEGER NOT NULL);")}}
		}}
	opened, err := sqlite.OpenFile(t.Context(), path, numbers)
	require.NoError(t, err)
	defer func() { require.NoError(t, opened.Close()) }()
	writing, err := opened.Begin(t.Context())
	require.NoError(t, err)
	_, err = writing.ExecContext(t.Context(), `INSERT INTO numbers (n) VALUES (1)`)
	require.NoError(t, err)
	count := func() (n int) {
		require.NoError(t, opened.Reader.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM numbers`).Scan(&n))
		return n
	}
	require.Zero(t, count())
	_, err = opened.Reader.ExecContext(t.Context(), `INSERT INTO numbers (n) VALUES (2)`)
	require.ErrorContains(t, err, "readonly")
	require.NoError(t, writing.Commit())
	require.Equal(t, 1, count())
	require.NoError(t, writing.Cancel(), "after the commit it does nothing")

	_, err = sqlite.Open(t.Context(), path)
	require.ErrorIs(t, err, store.ErrVersion, "the tables of another program are no state database")
}

// Connect leaves the file of another program as it is, until a statement writes to it.
func TestConnectChangesNothing(t *testing.T) {
	numbers := database.Schema{Kind: "numbers", VersionTable: "numbers_version"}
	path := filepath.Join(t.TempDir(), "numbers.db")
	_, err := sqlite.Connect(path, numbers)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "numbers: ")
	require.NoFileExists(t, path)

	execute(t, path, `CREATE TABLE numbers (n INTEGER NOT NULL)`)
	require.NoError(t, os.Chmod(path, 0o644))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	opened, err := sqlite.Connect(path, numbers)
	require.NoError(t, err)
	defer func() { require.NoError(t, opened.Close()) }()
	reading, err := opened.Snapshot(t.Context())
	require.NoError(t, err)
	var n int
	require.NoError(t, reading.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM numbers`).Scan(&n))
	require.Zero(t, n)
	require.NoError(t, reading.Rollback())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after), "the file has changed")
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o644), info.Mode().Perm())
	}

	writing, err := opened.Begin(t.Context())
	require.NoError(t, err)
	_, err = writing.ExecContext(t.Context(), `INSERT INTO numbers (n) VALUES (1)`)
	require.NoError(t, err)
	require.NoError(t, writing.Commit())
	require.NoError(t, opened.Reader.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM numbers`).Scan(&n))
	require.Equal(t, 1, n)
}

// The readers of a connected file do not wait for a transaction that writes.
func TestConnectOpensReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers.db")
	execute(t, path, `PRAGMA journal_mode = WAL; CREATE TABLE numbers (n INTEGER NOT NULL)`)
	opened, err := sqlite.Connect(path, database.Schema{Kind: "numbers", Readers: 2})
	require.NoError(t, err)
	defer func() { require.NoError(t, opened.Close()) }()
	writing, err := opened.Begin(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var n int
	require.NoError(t, opened.Reader.QueryRowContext(ctx, `SELECT COUNT(*) FROM numbers`).Scan(&n))
	require.NoError(t, writing.Cancel())
	_, err = opened.Reader.ExecContext(t.Context(), `INSERT INTO numbers (n) VALUES (1)`)
	require.ErrorContains(t, err, "readonly")
}

func TestSecondCloseDoesNothing(t *testing.T) {
	opened, err := sqlite.OpenFile(t.Context(), filepath.Join(t.TempDir(), "state.db"), store.Schema())
	require.NoError(t, err)
	require.NoError(t, opened.Close())
	require.NoError(t, opened.Close())
}

// Functions migrate alone or between files, and each runs once.
func TestGoMigrations(t *testing.T) {
	runs := 0
	function := goose.NewGoMigration(2, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		runs++
		_, err := tx.ExecContext(ctx, `CREATE TABLE two (n INTEGER NOT NULL)`)
		return err
	}}, nil)
	for name, migrations := range map[string]func(bool) fs.FS{
		"alone": nil,
		"between files": func(bool) fs.FS {
			return fstest.MapFS{
				"00001_one.sql":   {Data: []byte("-- +goose Up\nCREATE TABLE one (n INTEGER NOT NULL);")},
				"00003_three.sql": {Data: []byte("-- +goose Up\nINSERT INTO one SELECT 1 FROM two;")},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			runs = 0
			path := filepath.Join(t.TempDir(), "numbers.db")
			tables := database.Schema{Kind: "numbers", VersionTable: "numbers_version", Migrations: migrations,
				GoMigrations: func(bool) ([]*goose.Migration, error) { return []*goose.Migration{function}, nil }}
			for range 2 {
				opened, err := sqlite.OpenFile(t.Context(), path, tables)
				require.NoError(t, err)
				require.NoError(t, opened.Close())
			}
			require.Equal(t, 1, runs)
		})
	}
	failing := database.Schema{Kind: "numbers", VersionTable: "numbers_version",
		GoMigrations: func(bool) ([]*goose.Migration, error) { return nil, errors.New("no template") }}
	_, err := sqlite.OpenFile(t.Context(), filepath.Join(t.TempDir(), "numbers.db"), failing)
	require.ErrorContains(t, err, "no template")
}

// A transaction on a replaced file is not committed.
func TestCommitToAReplacedFileIsRolledBack(t *testing.T) {
	path := create(t)
	opened, err := sqlite.OpenFile(t.Context(), path, database.Schema{
		Kind: "state", VersionTable: store.VersionTable, Migrations: func(bool) fs.FS {
			return fstest.MapFS{
				"00099_none.sql": {Data: []byte("-- +goose Up\nSELECT 1;")}}
		},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, opened.Close()) }()
	writing, err := opened.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, writing.Commit(), database.ErrReplaced)
	require.NoError(t, writing.Cancel())
	next, err := opened.Begin(t.Context())
	require.NoError(t, err, "the lock is released")
	require.NoError(t, next.Cancel())
}
