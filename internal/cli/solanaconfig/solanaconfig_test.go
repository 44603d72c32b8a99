package solanaconfig

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"
)

// written is what "solana config set" of the Solana tools 4.2 leaves.
const written = `---
json_rpc_url: https://api.devnet.solana.com
websocket_url: ''
keypair_path: /keys/id.json
address_labels:
  '11111111111111111111111111111111': System Program
commitment: confirmed
`

func TestReadsFilesOfTheSolanaTools(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yml")
	require.NoError(t, os.WriteFile(path, []byte(written), 0o600))
	config, err := Read(path)
	require.NoError(t, err)
	require.Equal(t, Config{URL: "https://api.devnet.solana.com", KeypairPath: "/keys/id.json", Commitment: rpc.CommitmentConfirmed}, config)

	require.NoError(t, config.Write(path))
	again, err := Read(path)
	require.NoError(t, err)
	require.Equal(t, config, again)
}

func TestAFileIsOptionalUnlessItIsNamed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	require.Equal(t, filepath.Join(home, ".config", "solana", "cli", "config.yml"), DefaultPath())
	require.Equal(t, filepath.Join(home, ".config", "solana", "id.json"), DefaultKeypairPath())
	config, err := Read("")
	require.NoError(t, err)
	require.Zero(t, config)

	_, err = Read(filepath.Join(home, "none.yml"))
	require.ErrorIs(t, err, os.ErrNotExist)

	broken := filepath.Join(home, "broken.yml")
	require.NoError(t, os.WriteFile(broken, []byte("json_rpc_url: ["), 0o600))
	_, err = Read(broken)
	require.ErrorContains(t, err, broken)

	t.Setenv("HOME", "")
	require.Empty(t, DefaultPath())
	require.Empty(t, DefaultKeypairPath())
}

func TestResolveURL(t *testing.T) {
	for given, want := range map[string]string{
		"l": LocalhostURL, "localhost": LocalhostURL, "d": rpc.DevNet_RPC, "devnet": rpc.DevNet_RPC, "t": rpc.TestNet_RPC,
		"testnet": rpc.TestNet_RPC, "m": rpc.MainNetBeta_RPC, "mainnet-beta": rpc.MainNetBeta_RPC,
		"http://127.0.0.1:1234": "http://127.0.0.1:1234", "https://rpc.example/key": "https://rpc.example/key",
	} {
		got, err := ResolveURL(given)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, given := range []string{"", "local", "devnett", "127.0.0.1:8899", "ws://127.0.0.1:8900", "http://", "http://%"} {
		_, err := ResolveURL(given)
		require.Error(t, err, given)
	}
}

func TestParseCommitment(t *testing.T) {
	for _, given := range []string{"processed", "confirmed", "finalized", "Finalized"} {
		_, err := ParseCommitment(given)
		require.NoError(t, err)
	}
	_, err := ParseCommitment("max")
	require.ErrorContains(t, err, "confirmed")
}
