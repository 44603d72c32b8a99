package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

func TestPushIsClaimedByOneProcess(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		peer := hiretest.At("https://peer.example")
		k := hiretest.NewTalk(hiretest.NewAgent(), peer)
		for range 2 {
			m := k.Message(t, hire.RoleSeeker, hire.TypeProposal, h.now)
			_, err := h.store(t, m, func(a *store.Arrival) { a.Pushes = true })
			require.NoError(t, err)
			k.Stored(m)
		}
		h.append(t, talks(1)[0], hire.RoleSeeker, hire.TypeProposal) // nothing to push
		due := func(now time.Time) []store.Push {
			found, err := h.DuePushes(t.Context(), now, 10)
			require.NoError(t, err)
			return found
		}
		require.Equal(t, []store.Push{{Agent: peer.ID}}, due(h.now))
		until := h.now.Add(time.Minute)
		claimed, found, err := h.ClaimPush(t.Context(), peer.ID, h.now, until)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, store.Push{Agent: peer.ID}, claimed)
		_, found, err = open(t, h.address).ClaimPush(t.Context(), peer.ID, h.now, until)
		require.NoError(t, err)
		require.False(t, found, "another process pushes")
		require.Empty(t, due(h.now))
		require.Len(t, due(until), 1, "the process may have been killed")

		claimed.Pushed, claimed.Failures = 1, 3
		require.NoError(t, h.SavePush(t.Context(), claimed, time.Time{}))
		require.Equal(t, []store.Push{{Agent: peer.ID, Pushed: 1, Failures: 3}}, due(h.now))
		again, found, err := h.ClaimPush(t.Context(), peer.ID, h.now, until)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, claimed, again)
		again.Pushed, again.Failures = 2, 0
		require.NoError(t, h.SavePush(t.Context(), again, time.Time{}))
		require.Empty(t, due(until), "all is done")
		// A process with a lost claim does not move the position back.
		require.NoError(t, h.SavePush(t.Context(), claimed, time.Time{}))
		require.Empty(t, due(until))
	})
}

func TestChangedRecipientsAreFound(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		k, later := talks(1)[0], talks(1)[0]
		h.append(t, k, hire.RoleSeeker, hire.TypeProposal)
		since := h.now.Add(time.Second)
		h.append(t, later, hire.RoleSeeker, hire.TypeProposal)
		h.append(t, later, hire.RoleSeeker, hire.TypeProposal)
		found := map[string]int64{}
		require.NoError(t, h.ChangedRecipients(t.Context(), since, func(agent string, last int64) { found[agent] = last }))
		require.Equal(t, map[string]int64{later.Worker.ID: 2}, found)
	})
}
