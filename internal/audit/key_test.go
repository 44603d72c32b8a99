package audit_test

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/audit"
)

// Processes that start at once agree on a single key, which later processes read, and only the owner can read
// it.
func TestKeyIsCreatedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoints.key")
	var keys [8]ed25519.PrivateKey
	var group errgroup.Group
	for i := range keys {
		group.Go(func() (err error) {
			keys[i], err = audit.LoadOrCreateKey(path)
			return err
		})
	}
	require.NoError(t, group.Wait())
	for _, key := range keys {
		require.Equal(t, keys[0], key)
	}
	status, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), status.Mode().Perm())
	public, err := audit.ReadPublicKey(path + audit.PublicSuffix)
	require.NoError(t, err)
	require.Equal(t, keys[0].Public(), public)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 2, "no temporary file stays")

	_, err = audit.ReadPublicKey(path)
	require.ErrorContains(t, err, "no PEM block with a PUBLIC KEY")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
	_, err = audit.LoadOrCreateKey(path)
	require.ErrorContains(t, err, "checkpoint key: "+path+": no PEM block with a PRIVATE KEY")
	_, err = audit.ReadPublicKey(path + ".missing")
	require.ErrorIs(t, err, os.ErrNotExist)
}
