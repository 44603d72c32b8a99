package pinstest_test

import (
	"path/filepath"
	"testing"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/pinstest"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// The state database's pin store passes the tests.
func Example() {
	_ = func(t *testing.T) { // TestPins
		state, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer state.Close()
		pinstest.Run(t, func() hire.Pins { return state.HirePins() })
	}
}
