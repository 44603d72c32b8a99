package store

import (
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
		}{{"version_id + 1", ErrNewerSchema}, {"0", ErrOldSchema}} {
			_, err := f.db.ExecContext(t.Context(), `UPDATE `+versionTable+` SET version_id = `+change.version)
			require.NoError(t, err)
			require.ErrorIs(t, f.Ready(t.Context()), change.want)
			_, err = OpenExisting(t.Context(), Config{Address: f.address})
			require.ErrorIs(t, err, change.want)
		}
		_, err = f.db.ExecContext(t.Context(), `DROP TABLE `+versionTable)
		require.NoError(t, err)
		require.ErrorIs(t, f.Ready(t.Context()), ErrNoGateway)
	})
	missing := filepath.Join(t.TempDir(), "missing.db")
	_, err := OpenExisting(t.Context(), Config{Address: "sqlite:" + missing})
	require.ErrorIs(t, err, ErrNoGateway)
	require.NoFileExists(t, missing)
}
