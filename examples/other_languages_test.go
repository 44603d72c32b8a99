package examples

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
)

// settled is the expected output for a negotiation with three offers at 2 % decay: the last offer, 3,000,000,
// is accepted.
var settled = []string{
	"created ", "offered 2000000; the escrow is worth 4900000", "offered 4000000; the escrow is worth 4802000",
	"offered 3000000; the escrow is worth 4705960", "settled at 3000000: fee 15000, decay 294040",
	"closed; the seller has 2985000",
}

// packagesOf returns the path to an example's installed packages.
func packagesOf(t *testing.T, language string) string {
	t.Helper()
	install := exec.CommandContext(t.Context(), "../toolchain/example-packages", language)
	var progress strings.Builder
	install.Stderr = io.MultiWriter(&progress, os.Stderr)
	path, err := install.Output()
	require.NoError(t, err, progress.String())
	return strings.TrimSpace(string(path))
}

// negotiates runs an example in another language with wallets on a new chain.
func negotiates(t *testing.T, example func(ctx context.Context, net *localnet.Net) *exec.Cmd) {
	t.Helper()
	net, err := localnet.Start(t.Context(), localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	folder, err := filepath.Abs(".")
	require.NoError(t, err)
	wallets := t.TempDir()
	buyer, seller := filepath.Join(wallets, "buyer.json"), filepath.Join(wallets, "seller.json")
	require.NoError(t, net.Buyer.Save(buyer))
	require.NoError(t, net.Seller.Save(seller))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := example(ctx, net)
	command.Args = append(command.Args, "--rpc", net.Chain.RPCURL(), "--mint", net.Mint.String(), "--buyer", buyer,
		"--seller", seller, "--idl", filepath.Join(folder, "..", "idl", "haggle.json"))
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	for _, text := range settled {
		require.Contains(t, string(output), text)
	}
}

func TestPythonNegotiatesByTheIDL(t *testing.T) {
	packages := packagesOf(t, "python")
	negotiates(t, func(ctx context.Context, _ *localnet.Net) *exec.Cmd {
		command := exec.CommandContext(ctx, "python3", "python/negotiate.py")
		command.Env = append(os.Environ(), "PYTHONPATH="+packages, "PYTHONDONTWRITEBYTECODE=1")
		return command
	})
}

func TestTypeScriptNegotiatesByTheIDL(t *testing.T) {
	packages, folder := packagesOf(t, "typescript"), t.TempDir()
	require.NoError(t, os.Symlink(packages, filepath.Join(folder, "node_modules")))
	for _, name := range []string{"negotiate.ts", "tsconfig.json", "package.json"} {
		content, err := os.ReadFile(filepath.Join("typescript", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	compile := exec.CommandContext(t.Context(), filepath.Join(packages, ".bin", "tsc"))
	compile.Dir = folder
	output, err := compile.CombinedOutput()
	require.NoError(t, err, string(output))
	negotiates(t, func(ctx context.Context, net *localnet.Net) *exec.Cmd {
		program := filepath.Join(folder, "build", "negotiate.js")
		return exec.CommandContext(ctx, "node", program, "--ws", net.Chain.WSURL())
	})
}
