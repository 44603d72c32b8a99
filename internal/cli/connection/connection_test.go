package connection

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/yellowstone"
)

// configured writes a configuration of the Solana tools to a new home folder.
func configured(t *testing.T, content string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	folder := filepath.Join(home, ".config", "solana", "cli")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "config.yml"), []byte(content), 0o600))
}

func settle(t *testing.T, arguments ...string) (Settings, error) {
	t.Helper()
	return flagsOf(t, arguments...).Settle()
}

func TestFlagsThenConfigurationThenLocalhost(t *testing.T) {
	configured(t, "json_rpc_url: https://rpc.example\nwebsocket_url: wss://ws.example\nkeypair_path: /keys/a.json\ncommitment: finalized\n")
	settings, err := settle(t)
	require.NoError(t, err)
	require.Equal(t, Settings{haggle.Config{Endpoint: "https://rpc.example", WSEndpoint: "wss://ws.example", Commitment: "finalized"}, "/keys/a.json"}, settings)

	settings, err = settle(t, "-u", "localhost", "-k", "b.json", "--commitment", "confirmed", "--max-priority-fee", "7")
	require.NoError(t, err)
	require.Equal(t, Settings{haggle.Config{
		Endpoint: "http://localhost:8899", Commitment: "confirmed", MaxPriorityFee: 7,
	}, "b.json"}, settings, "the configured WebSocket endpoint belongs to another cluster")

	settings, err = settle(t, "-u", "d", "--ws", "ws://127.0.0.1:9")
	require.NoError(t, err)
	require.Equal(t, "https://api.devnet.solana.com", settings.Endpoint)
	require.Equal(t, "ws://127.0.0.1:9", settings.WSEndpoint)

	settings, err = settle(t, "--fallback", "https://a.example", "--fallback", "devnet", "--poll", "5s")
	require.NoError(t, err)
	require.Equal(t, []string{"https://a.example", "https://api.devnet.solana.com"}, settings.Fallbacks)
	require.Equal(t, events.NewPolling(5*time.Second), settings.Source)

	t.Setenv("HOME", t.TempDir())
	settings, err = settle(t)
	require.NoError(t, err)
	require.Equal(t, "http://localhost:8899", settings.Endpoint)
	require.Equal(t, filepath.Join(os.Getenv("HOME"), ".config", "solana", "id.json"), settings.KeypairPath)
}

func TestProcessedCommitmentIsRaisedToConfirmed(t *testing.T) {
	configured(t, "commitment: processed\n")
	settings, err := settle(t)
	require.NoError(t, err)
	require.EqualValues(t, "confirmed", settings.Commitment)
	_, err = settle(t, "--commitment", "processed")
	require.Equal(t, exitcode.Usage, exitcode.KindOf(err))
}

func TestMistakes(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, arguments := range [][]string{
		{"--url", "nowhere"}, {"--commitment", "max"}, {"--config", "none.yml"},
		{"--fallback", "nowhere"},
	} {
		_, err := settle(t, arguments...)
		require.Equal(t, exitcode.Usage, exitcode.KindOf(err), "%v", arguments)
	}
	var flags Flags
	_, err := flags.Signer(t.Context())
	require.Equal(t, exitcode.Usage, exitcode.KindOf(err))
	require.ErrorContains(t, err, "keypair file not found")
}

func TestAddress(t *testing.T) {
	var address Address
	require.Empty(t, address.String())
	require.Equal(t, "address", address.Type())
	require.NoError(t, address.Set(protocol.ProgramAddress))
	require.Equal(t, protocol.ProgramID, address.Key())
	require.Equal(t, protocol.ProgramAddress, address.String())
	for _, written := range []string{"", "0", "abc", protocol.ProgramAddress + "1", protocol.ProgramAddress[1:] + "é"} {
		require.Error(t, address.Set(written), "%q", written)
	}
	system, err := ParseAddress("11111111111111111111111111111111")
	require.NoError(t, err)
	require.True(t, system.IsZero())
}

func TestEventsComeFromOneSource(t *testing.T) {
	settings, err := settle(t, "--yellowstone", "http://localhost:10000")
	require.NoError(t, err)
	assert.IsType(t, &yellowstone.Source{}, settings.Source)

	_, err = settle(t, "--yellowstone", "http://localhost:10000", "--poll", "1s")
	require.ErrorContains(t, err, "--yellowstone: excludes --poll; leave one out")
	_, err = settle(t, "--yellowstone", "localhost:10000")
	require.ErrorContains(t, err, "--yellowstone")
}
