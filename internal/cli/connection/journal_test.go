package connection

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJournalsAreInTheStateFolder(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	folder, err := JournalFolder()
	require.NoError(t, err)
	require.Equal(t, "/state/haggle/journal", folder)
	t.Setenv("XDG_STATE_HOME", "relative")
	folder, err = JournalFolder()
	require.NoError(t, err)
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(home, ".local", "state", "haggle", "journal"), folder)
}
