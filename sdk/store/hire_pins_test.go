package store_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/pinstest"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

func TestPinsAreSharedAndDurable(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		pinstest.Run(t, func() hire.Pins { return open().HirePins() })
	})
}

func TestDamagedPinIsNoFirstUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	state, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer state.Close()
	for origin, damaged := range map[string]hire.Pin{
		"https://key.example":        {Key: "x"},
		"https://settlement.example": {Key: "11111111111111111111111111111111", Settlement: "x"},
	} {
		_, err = state.HirePins().Move(t.Context(), origin, hire.Pin{}, damaged)
		require.ErrorIs(t, err, store.ErrDamaged)
		_, err = state.HirePins().Pinned(t.Context(), origin)
		require.ErrorIs(t, err, store.ErrDamaged)
		require.NotErrorAs(t, err, new(*hire.Refusal), "the message is not at fault")
	}
}
