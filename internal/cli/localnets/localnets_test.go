package localnets

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/statefolder"
)

func TestRunningChainsAreListed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	require.Empty(t, Running())
	const usual = "http://localhost:8899"
	require.Empty(t, Hint(usual))
	entry := Entry{URL: "http://127.0.0.1:4000", Folder: "/tmp/net"}
	withdraw, err := Announce(entry)
	require.NoError(t, err)
	folder, err := statefolder.Path(statefolder.Localnets)
	require.NoError(t, err)
	// This entry's process has ended.
	obsolete := filepath.Join(folder, "1.json")
	require.NoError(t, os.WriteFile(obsolete, []byte(`{"rpc_url":"http://127.0.0.1:1"}`), 0o600))
	require.Equal(t, []Entry{entry}, Running())
	require.NoFileExists(t, obsolete)
	require.Equal(t, "a localnet is running at http://127.0.0.1:4000: use --url http://127.0.0.1:4000, "+
		"or -C /tmp/net/buyer.yml", Hint(usual))
	require.Empty(t, Hint("https://api.devnet.solana.com"))
	require.Empty(t, Hint(entry.URL))
	require.NoError(t, withdraw())
	require.Empty(t, Running())
}
