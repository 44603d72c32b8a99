package toolchain

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPackagesAreInstalledTwice runs a script that lacks two tools, as toolchain/validator can on a new
// machine.
func TestPackagesAreInstalledTwice(t *testing.T) {
	cache := t.TempDir()
	output, err := script(t, cache, `
have() { [ "$1" = brew ]; }
brew() { echo "$2" >>"$HAGGLE_CACHE/installed"; }
need_packages "a first tool" brew:first
need_packages "a second tool" brew:second`)
	require.NoError(t, err, output)
	installed, err := os.ReadFile(filepath.Join(cache, "installed"))
	require.NoError(t, err)
	require.Equal(t, "first\nsecond\n", string(installed))
}

// TestFailedInstallationEndsTheScript shows the package manager's message and goes no further.
func TestFailedInstallationEndsTheScript(t *testing.T) {
	output, err := script(t, t.TempDir(), `
have() { [ "$1" = brew ]; }
brew() { echo "no such package"; return 1; }
need_packages "a tool" brew:missing
echo "the script went on"`)
	require.Error(t, err)
	require.Contains(t, output, "no such package")
	require.NotContains(t, output, "the script went on")
}

func script(t *testing.T, cache, text string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-c", "set -euo pipefail\n. ./steps.sh"+text, "toolchain/script")
	command.Env = append(os.Environ(), "HAGGLE_CACHE="+cache, "HAGGLE_INSTALL=yes")
	command.WaitDelay = time.Second
	output, err := command.CombinedOutput()
	return string(output), err
}
