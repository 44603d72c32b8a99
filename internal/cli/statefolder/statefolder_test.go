package statefolder

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPathFollowsTheEnvironment(t *testing.T) {
	t.Setenv("HOME", "/somewhere")
	for state, want := range map[string]string{
		"/state":   "/state/haggle/state",
		"relative": "/somewhere/.local/state/haggle/state",
		"":         "/somewhere/.local/state/haggle/state",
	} {
		t.Setenv("XDG_STATE_HOME", state)
		path, err := Path(State)
		require.NoError(t, err)
		require.Equal(t, want, path, "XDG_STATE_HOME=%q", state)
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	_, err := Path(State)
	require.ErrorContains(t, err, "HOME")
}
