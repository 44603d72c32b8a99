package transaction_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImports keeps the package usable without a node and by package protocol.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	require.NoError(t, err)
	for _, path := range strings.Fields(string(out)) {
		require.NotContains(t, path, "/rpc")
		require.NotContains(t, path, "haggle/sdk")
		require.NotEqual(t, "net/http", path)
	}
}
