package connection

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

func trustOf(t *testing.T, arguments ...string) *TrustFlags {
	t.Helper()
	flags := &TrustFlags{}
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Register(set)
	require.NoError(t, set.Parse(arguments))
	return flags
}

func TestTrustFlags(t *testing.T) {
	gate, err := trustOf(t).Gate()
	require.NoError(t, err)
	require.Nil(t, gate, "nothing is asked for")

	list := filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.WriteFile(list, []byte(protocol.ProgramAddress+" 50\n"), 0o600))
	gate, err = trustOf(t, "--allowlist", list).Gate()
	require.NoError(t, err)
	require.NoError(t, gate.Check(t.Context(), protocol.ProgramID), "an address on the list")
	require.ErrorIs(t, gate.Check(t.Context(), token.WrappedSOL2022), identity.ErrRefused)
	gate, err = trustOf(t, "--allowlist", list, "--trust-threshold", "51").Gate()
	require.NoError(t, err)
	require.ErrorIs(t, gate.Check(t.Context(), protocol.ProgramID), identity.ErrRefused)
	gate, err = trustOf(t, "--trust", "https://registry.example", "--trust-threshold", "0").Gate()
	require.NoError(t, err)
	require.NotNil(t, gate)

	for _, arguments := range [][]string{
		{"--trust-threshold", "50"}, {"--trust", "https://registry.example"}, {"--allowlist", list, "--trust-threshold", "NaN"},
		{"--allowlist", list, "--trust-threshold", "-1"}, {"--allowlist", list + "2"}, {"--trust", "http://registry.example", "--trust-threshold", "50"},
	} {
		_, err := trustOf(t, arguments...).Gate()
		require.Equal(t, exitcode.Usage, exitcode.KindOf(err), "%v: %v", arguments, err)
	}
}
