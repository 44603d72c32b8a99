package gatewayfiles_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/gatewayfiles"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

func TestEachDatabaseHasItsOwnCheckpoints(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	t.Setenv(store.AddressVariable, "")
	files, err := gatewayfiles.Default("")
	require.NoError(t, err)
	require.Equal(t, gatewayfiles.Files{
		Database:    "sqlite:/state/haggle/gateway/gateway.db",
		Checkpoints: "/state/haggle/gateway/gateway-checkpoints.jsonl",
		Key:         "/state/haggle/gateway/gateway-checkpoints.key",
	}, files)

	beside, err := gatewayfiles.Default("sqlite:data/other.db")
	require.NoError(t, err)
	require.Equal(t, "data/other-checkpoints.jsonl", beside.Checkpoints)

	t.Setenv(store.AddressVariable, "postgres://me:secret@db.example/one")
	one, err := gatewayfiles.Default("")
	require.NoError(t, err)
	require.Equal(t, "postgres://me:secret@db.example/one", one.Database)
	other, err := gatewayfiles.Default("postgres://db.example/two")
	require.NoError(t, err)
	require.NotEqual(t, one.Checkpoints, other.Checkpoints)
	same, err := gatewayfiles.Default("postgres://another@db.example/one")
	require.NoError(t, err)
	require.Equal(t, one.Checkpoints, same.Checkpoints, "whoever connects")
}
