//go:build unix

package issues_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/agent/issues"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// TestOnlyRegularFilesAreRead uses a document that is a named pipe, whose reader would wait for a writer, and
// others that are no files. The player waits for the document, and then decides without reading it.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o666))
	for name, put := range map[string]func(path string) error{
		"pipe":           func(path string) error { return syscall.Mkfifo(path, 0o666) },
		"link to a pipe": func(path string) error { return os.Symlink(pipe, path) },
		"device":         func(path string) error { return os.Symlink(os.DevNull, path) },
		"endless device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder":         func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newTable(t, strategy.CAR())
			s.decide()
			_, hash := s.document(1_000_000, 2)
			path := filepath.Join(s.channel.Path, s.file(hash))
			require.NoError(t, put(path))
			s.offer(protocol.OfferSideSeller, 1_000_000, hash)
			require.Equal(t, agent.Wait{Until: 1}, s.decide())
			s.turn.Now = 60
			require.IsType(t, agent.Offer{}, s.decide())
			refused := s.moves[1].Refused
			require.ErrorIs(t, refused, issues.ErrNoDocument)
			require.EqualError(t, refused, "issues: the offer's document is missing: "+path+": not a regular file")
		})
	}
}

func TestALargeFileIsReadToItsBound(t *testing.T) {
	folder := issues.Folder{Path: t.TempDir()}
	require.NoError(t, folder.Put(t.Context(), "large", make([]byte, 3*terms.MaxSize)))
	text, err := folder.Get(t.Context(), "large")
	require.NoError(t, err)
	require.Len(t, text, terms.MaxSize+1)
}
