package party

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

// seekerOf returns a seeker's runtime with no chain, and the reported ends.
func seekerOf(t *testing.T) (*runtime, *[]Result) {
	t.Helper()
	var ends []Result
	return &runtime{
		Config: Config{
			Logger: slog.New(slog.DiscardHandler), Limits: limitsOf(), Patience: DefaultPatience,
			Ended: func(r Result) { ends = append(ends, r) },
		},
		role: hire.RoleSeeker, abandoned: map[place]abandonment{},
	}, &ends
}

func TestAbandonedDealIsNotRevivedByTheHome(t *testing.T) {
	r, ends := seekerOf(t)
	b := newTable(t)
	b.proposes("4 USDC")
	b.plays(hire.RoleWorker, Propose{Price: 5_000_000})
	b.plays(hire.RoleSeeker, Accept{})
	at := place{b.side(hire.RoleSeeker).id, b.side(hire.RoleSeeker).counterpart}
	follow := func(now time.Time) {
		tracked := &tracked{place: at, runtime: r, conversation: *b.side(hire.RoleSeeker)}
		require.True(t, tracked.settle(t.Context(), now))
	}
	follow(b.now.Add(time.Hour))
	// By the home's clock this was in time.
	b.says(hire.RoleWorker, &hire.Accept{Reply: b.worker.reply(), Terms: b.worker.state.Terms})
	follow(b.now)
	require.Len(t, *ends, 1)
	require.Equal(t, Abandoned, (*ends)[0].Outcome)
}

func TestStaleAgreementIsNotPaid(t *testing.T) {
	r, _ := seekerOf(t)
	now := time.Now()
	a := &agreement{
		Contract: Contract{Asset: usdc, Price: 5_000_000, Terms: hire.Terms{Arbiter: r.Limits.Arbiters[0]}}, acceptedAt: now,
	}
	s := &settler{runtime: r}
	require.NoError(t, s.refused(a, now.Add(r.depositLimit())))
	require.ErrorIs(t, s.refused(a, now.Add(r.depositLimit()+time.Second)), ErrStale)
}
