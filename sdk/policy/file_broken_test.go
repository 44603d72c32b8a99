package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// After a failed write the file may end within a line, and a line behind it would be lost with it.
func TestNothingIsAppendedAfterAFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage")
	f, err := OpenFile(path)
	require.NoError(t, err)
	writable := f.file
	f.file, err = os.Open(path)
	require.NoError(t, err)
	require.Error(t, f.Append(t.Context(), Record{Kind: RecordApproved}))
	require.NoError(t, f.file.Close())
	f.file = writable
	require.ErrorContains(t, f.Append(t.Context(), Record{Kind: RecordApproved}), "not writable until it is reopened")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Empty(t, content)
	require.NoError(t, f.Close())
}
