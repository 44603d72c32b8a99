package tools

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
)

// A call that waits returns as soon as something waits for the model, or a deal has ended.
func TestInboxWaitsUntilThereIsSomethingNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := NewDesk(hire.RoleWorker, "me", nil, nil)
		begin := time.Now()
		go func() {
			time.Sleep(time.Second)
			work, err := desk.Deliver(t.Context(), party.Contract{Conversation: "c"})
			require.NoError(t, err)
			require.Equal(t, "done", string(work))
			time.Sleep(time.Second)
			desk.Ended(party.Result{Outcome: party.Settled})
		}()
		answer := desk.inbox(t.Context(), inboxArguments{WaitSeconds: 60})
		require.Len(t, answer.Items, 1)
		require.Equal(t, time.Second, time.Since(begin))
		require.True(t, desk.deliver(t.Context(), deliverArguments{ID: answer.Items[0].ID, Text: "done"}).Done)
		answer = desk.inbox(t.Context(), inboxArguments{WaitSeconds: 60})
		require.Empty(t, answer.Items)
		require.Len(t, answer.Ended, 1)
		require.Equal(t, 2*time.Second, time.Since(begin))
		answer = desk.inbox(t.Context(), inboxArguments{WaitSeconds: 60})
		require.Len(t, answer.Ended, 1)
		require.Equal(t, 62*time.Second, time.Since(begin))
		// An end before the call is new as well.
		desk.Ended(party.Result{Outcome: party.Declined})
		require.Len(t, desk.inbox(t.Context(), inboxArguments{WaitSeconds: 60}).Ended, 2)
		require.Equal(t, 62*time.Second, time.Since(begin))
	})
}

// A decision that does not wait any more is refused: the runtime has acted without it.
func TestLateDecisionIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := NewDesk(hire.RoleWorker, "me", nil, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := desk.Deliver(ctx, party.Contract{Conversation: "c"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		answer := desk.deliver(t.Context(), deliverArguments{ID: "1", Text: "done"})
		require.Contains(t, answer.Error, "no order with this id waits")
	})
}
