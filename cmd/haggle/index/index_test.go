package index

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/indexer"
)

func TestADatabaseWithOtherTablesFailsWithAHint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	database, err := indexer.Open(t.Context(), "sqlite:"+path)
	require.NoError(t, err)
	require.NoError(t, database.Close())
	file, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = file.ExecContext(t.Context(), `ALTER TABLE events DROP COLUMN rebuilt`)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	_, err = indexer.Open(t.Context(), "sqlite:"+path)
	var failure *exitcode.Error
	require.ErrorAs(t, Failure(err), &failure)
	require.Equal(t, exitcode.Refused, failure.Kind)
	require.ErrorContains(t, failure, "column events.rebuilt is missing")
	require.Contains(t, failure.Hint, "delete the database")
}

func TestTablesOfAnotherProgramFailWithAHint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	file, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = file.ExecContext(t.Context(), `CREATE TABLE customers (name TEXT)`)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	_, err = indexer.Open(t.Context(), "sqlite:"+path)
	var failure *exitcode.Error
	require.ErrorAs(t, Failure(err), &failure)
	require.Equal(t, exitcode.Refused, failure.Kind)
	require.ErrorContains(t, failure, path+": haggle: database of another version: tables of another program")
	require.Equal(t, "set another --db", failure.Hint)
}
