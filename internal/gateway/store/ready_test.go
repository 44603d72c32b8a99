package store

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// OpenExisting opens a database that a gateway wrote, and neither creates nor migrates it.
func TestAnExistingDatabaseIsNotMigrated(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.Ready(t.Context()))
		existing, err := OpenExisting(t.Context(), Config{Address: f.address})
		require.NoError(t, err)
		read, err := existing.Publishers(t.Context(), Page{})
		require.NoError(t, err)
		require.NotEmpty(t, read.Items)
		require.NoError(t, existing.Close())

		for _, change := range []struct {
			version string
			want    error
		}{{"version_id + 1", ErrVersion}, {"0", ErrOldSchema}} {
			_, err := f.db.ExecContext(t.Context(), `UPDATE `+tables.VersionTable+` SET version_id = `+change.version)
			require.NoError(t, err)
			require.ErrorIs(t, f.Ready(t.Context()), change.want)
			_, err = OpenExisting(t.Context(), Config{Address: f.address})
			require.ErrorIs(t, err, change.want)
		}
		_, err = f.db.ExecContext(t.Context(), `DROP TABLE `+tables.VersionTable)
		require.NoError(t, err)
		require.ErrorIs(t, f.Ready(t.Context()), ErrNoGateway)
	})
	missing := filepath.Join(t.TempDir(), "missing.db")
	_, err := OpenExisting(t.Context(), Config{Address: "sqlite:" + missing})
	require.ErrorIs(t, err, ErrNoGateway)
	require.NoFileExists(t, missing)
}

// Open refuses another program's file. OpenExisting reports that it has no gateway.
func TestFileOfAnotherProgramIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	other, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = other.ExecContext(t.Context(), `CREATE TABLE other (n INTEGER)`)
	require.NoError(t, err)
	require.NoError(t, other.Close())
	_, err = Open(t.Context(), Config{Address: "sqlite:" + path})
	require.ErrorIs(t, err, ErrVersion)
	require.ErrorContains(t, err, "tables of another program")
	_, err = OpenExisting(t.Context(), Config{Address: "sqlite:" + path})
	require.ErrorIs(t, err, ErrNoGateway)
}
