package progress

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheBarShowsCountAndShare(t *testing.T) {
	var out strings.Builder
	bar := NewBar(&out, "sessions")
	bar.Stop() // nothing has been shown
	require.Empty(t, out.String())
	bar.Set(50, 200)
	time.Sleep(2 * barInterval)
	bar.Set(100, 200)
	bar.Stop()
	require.Contains(t, out.String(), "sessions  50% |███████████████               | (100/200")
	require.True(t, strings.HasSuffix(strings.TrimRight(out.String(), " "), "\r"), "the line is not free: %q",
		out.String())
}

func TestFilesAreNoTerminals(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	require.False(t, IsTerminal(file))
	require.False(t, IsTerminal(new(strings.Builder)))
}
