// Package anchor runs the Anchor TypeScript clients, which know the program by idl/haggle.json alone, against a
// local chain.
package anchor

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// runLimit is the longest time per test file.
const runLimit = 5 * time.Minute

func TestClients(t *testing.T) {
	packages := installedPackages(t)
	files, err := filepath.Glob("*.test.js")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, client := range []string{"@anchor-lang/core", "@coral-xyz/anchor"} {
		for _, file := range files {
			t.Run(client+" "+file, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), runLimit)
				defer cancel()
				node := exec.CommandContext(ctx, "node", "--test", "--test-reporter=spec", file)
				node.Env = append(os.Environ(), "NODE_PATH="+packages, "HAGGLE_ANCHOR_CLIENT="+client)
				node.Env = append(node.Env, chainVariables(t)...)
				output, err := node.CombinedOutput()
				t.Logf("%s", output)
				require.NoError(t, err)
			})
		}
	}
}

// chainVariables starts a chain with an uninitialized protocol, and returns the environment variables that
// name it. If the environment already names a chain, that chain is used unchanged.
func chainVariables(t *testing.T) []string {
	t.Helper()
	if os.Getenv(localnet.EnvRPCURL) != "" {
		return nil
	}
	chain, err := localnet.StartChain(t.Context(), localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, chain.Close()) })
	authority, err := wallet.NewKeypair(chain.UpgradeAuthority)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "authority.json")
	require.NoError(t, authority.Save(path))
	return []string{localnet.EnvRPCURL + "=" + chain.RPCURL(), localnet.EnvUpgradeAuthority + "=" + path}
}

// installedPackages returns the directory of the clients' packages.
func installedPackages(t *testing.T) string {
	t.Helper()
	install := exec.CommandContext(t.Context(), "../../toolchain/anchor-packages")
	var progress strings.Builder
	install.Stderr = io.MultiWriter(&progress, os.Stderr)
	path, err := install.Output()
	require.NoError(t, err, progress.String())
	return strings.TrimSpace(string(path))
}
