package simulation

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
)

// TestRowsDoNotStayInMemory requires that Parquet's rows are written in groups, not all at the end.
func TestRowsDoNotStayInMemory(t *testing.T) {
	folder := t.TempDir()
	written, err := newTable[scoreRow](folder, "rows")
	require.NoError(t, err)
	for range 2*groupRows + 1 {
		require.NoError(t, written.write(nil, scoreRow{Strategy: "micro"}))
	}
	require.NoError(t, written.finish())
	file, err := os.Open(filepath.Join(folder, "rows.parquet"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	info, err := file.Stat()
	require.NoError(t, err)
	read, err := parquet.OpenFile(file, info.Size())
	require.NoError(t, err)
	require.Equal(t, int64(2*groupRows+1), read.NumRows())
	require.Len(t, read.RowGroups(), 3)
}
