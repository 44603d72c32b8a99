package party

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

// A foreign home could bind an agent to offers and acceptances for as long as a day.
func TestForeignHomeWithLongTimeoutsIsRefused(t *testing.T) {
	const origin = "https://home.example"
	for _, test := range []struct {
		role    hire.Role
		self    string
		refused bool
	}{
		{hire.RoleSeeker, idOf(seekerKey), true},
		{hire.RoleWorker, idOf(workerKey), true},
		{hire.RoleWorker, "https://worker.example", true},
		{hire.RoleWorker, origin, false},
	} {
		r := &runtime{
			Config: Config{Home: &hire.Home{Origin: origin, Agent: test.self}, Patience: DefaultPatience},
			role:   test.role, self: test.self,
			rules: hire.Rules{Timeouts: hire.Timeouts{Acceptance: DefaultPatience}},
		}
		require.NoError(t, r.checkTimeouts())
		r.rules.Timeouts.Acceptance += time.Second
		err := r.checkTimeouts()
		if !test.refused {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrBeyondLimit, "%s %s", test.role, test.self)
		require.ErrorContains(t, err, "10m1s")
	}
}
