package statefolder

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPathFollowsTheEnvironment(t *testing.T) {
	t.Setenv("HOME", "/somewhere")
	for state, want := range map[string]string{
		"/state":   "/state/haggle/zopa",
		"relative": "/somewhere/.local/state/haggle/zopa",
		"":         "/somewhere/.local/state/haggle/zopa",
	} {
		t.Setenv("XDG_STATE_HOME", state)
		path, err := Path(Zopa)
		require.NoError(t, err)
		require.Equal(t, want, path, "XDG_STATE_HOME=%q", state)
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	_, err := Path(Zopa)
	require.ErrorContains(t, err, "HOME")
}
