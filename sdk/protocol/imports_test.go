package protocol_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImportsNoNetwork keeps the package usable offline: in browsers, verifiers and tests.
func TestImportsNoNetwork(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	require.NoError(t, err)
	for _, path := range strings.Fields(string(out)) {
		require.NotContains(t, path, "/rpc")
		if path != "github.com/haggle-protocol/haggle/sdk/transaction" { // the outcomes of errors; TestImports there
			require.NotContains(t, path, "haggle/sdk")
		}
		require.NotEqual(t, "net/http", path)
	}
}
