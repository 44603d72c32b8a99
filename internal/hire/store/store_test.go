package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/databases"
	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

func TestStateAndMessagesAreReadAsTheyWereStored(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		k := talks(1)[0]
		proposal := k.Message(t, hire.RoleSeeker, hire.TypeProposal, h.now)
		number, err := h.store(t, proposal, func(*store.Arrival) {})
		require.NoError(t, err)
		require.EqualValues(t, 1, number)
		want, err := hire.State{}.Next(proposal, h.now, hire.Rules{})
		require.NoError(t, err)
		got, err := h.State(t.Context(), store.ConversationID(k.Conversation, k.Worker.ID, k.Seeker.ID))
		require.NoError(t, err)
		require.Equal(t, want, got)
		events, err := h.Events(t.Context(), k.Worker.ID, 0)
		require.NoError(t, err)
		require.Equal(t, []store.Event{{Number: 1, At: h.now, Message: proposal.Text()}}, events)
		require.NoError(t, h.Ready(t.Context()))
	})
}

func TestMessageIsStoredOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		k := talks(1)[0]
		proposal := k.Message(t, hire.RoleSeeker, hire.TypeProposal, h.now)
		_, err := h.store(t, proposal, func(*store.Arrival) {})
		require.NoError(t, err)
		k.Stored(proposal)
		h.append(t, k, hire.RoleWorker, hire.TypeCounter)
		_, err = h.store(t, proposal, func(*store.Arrival) {})
		require.ErrorIs(t, err, store.ErrStored)
		numbers, _ := h.numbers(t, k.Worker.ID)
		require.Equal(t, upTo(1), numbers)
		links, err := h.Links(t.Context(), store.ConversationID(k.Conversation, k.Seeker.ID, k.Worker.ID), 0)
		require.NoError(t, err)
		require.Len(t, links, 2)
		for message, stored := range map[hire.Hash]bool{proposal.Hash(): true, hire.Hash("0"): false} {
			found, err := h.Contains(t.Context(), message)
			require.NoError(t, err)
			require.Equal(t, stored, found)
		}
	})
}

// Strangers that use a conversation's id get a separate conversation.
func TestStrangersHaveTheirOwnConversation(t *testing.T) {
	seeker, worker, stranger := hiretest.NewAgent(), hiretest.NewAgent(), hiretest.NewAgent()
	id := store.ConversationID("conv", seeker.ID, worker.ID)
	require.Equal(t, id, store.ConversationID("conv", worker.ID, seeker.ID))
	for _, other := range []string{
		store.ConversationID("conv", stranger.ID, worker.ID), store.ConversationID("conv2", seeker.ID, worker.ID),
	} {
		require.NotEqual(t, id, other)
	}
	require.NotEqual(t, store.ConversationID("a", "b", "c"), store.ConversationID("ab", "c", ""))
}

// Messages from many conversations to a single recipient, over several connections, with some canceled: event
// numbers have no gaps, and a reader that continues from the last known number misses none.
func TestEventNumbersHaveNoGaps(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		const senders, each = 6, 12
		worker := hiretest.NewAgent()
		var sending sync.WaitGroup
		for range senders {
			other := &home{Store: open(t, h.address), now: h.now}
			sending.Go(func() {
				k := hiretest.NewTalk(hiretest.NewAgent(), worker)
				for i := range each {
					m := k.Message(t, hire.RoleSeeker, hire.TypeProposal, other.now.Add(time.Duration(i)*time.Second))
					if i%3 == 0 {
						assert.ErrorIs(t, other.cancelled(t, m), errTest)
					}
					_, err := other.store(t, m, func(*store.Arrival) {})
					assert.NoError(t, err)
					k.Stored(m)
				}
			})
		}
		done := make(chan struct{})
		go func() { sending.Wait(); close(done) }()
		var seen []int64
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			default:
			}
			for more := true; more; {
				page, err := h.Events(t.Context(), worker.ID, int64(len(seen)))
				require.NoError(t, err)
				for _, event := range page {
					seen = append(seen, event.Number)
				}
				more = len(page) > 0
			}
		}
		require.Equal(t, upTo(senders*each), seen)
		_, messages := h.numbers(t, worker.ID)
		require.Len(t, messages, senders*each)
	})
}

// cancelled appends a message, but does not commit.
func (h *home) cancelled(t *testing.T, m *hire.Message) error {
	tx, err := h.Begin(t.Context())
	if err != nil {
		return err
	}
	c, err := tx.Lock(t.Context(), m.Conversation(), m.From(), m.To(), h.now)
	if err == nil {
		_, err = tx.Append(t.Context(), c, store.Arrival{Message: m, At: h.now, State: c.State})
	}
	if err == nil {
		err = errTest
	}
	if cancelled := tx.Cancel(); cancelled != nil {
		return cancelled
	}
	return err
}

func TestCancelledMessageLeavesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		k := talks(1)[0]
		m := k.Message(t, hire.RoleSeeker, hire.TypeProposal, h.now)
		require.ErrorIs(t, h.cancelled(t, m), errTest)
		_, err := h.State(t.Context(), store.ConversationID(k.Conversation, k.Worker.ID, k.Seeker.ID))
		require.ErrorIs(t, err, store.ErrNotFound)
		found, err := h.Contains(t.Context(), m.Hash())
		require.NoError(t, err)
		require.False(t, found)
		numbers, _ := h.numbers(t, k.Worker.ID)
		require.Empty(t, numbers)
		tx, err := h.Begin(t.Context())
		require.NoError(t, err)
		defer tx.Cancel()
		_, err = tx.LockExisting(t.Context(), store.ConversationID(k.Conversation, k.Worker.ID, k.Seeker.ID))
		require.ErrorIs(t, err, store.ErrNotFound)
	})
}

// If two processes send to the same conversation at once, the second process waits, and sees the first
// process's state.
func TestConversationIsLocked(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		k, other := talks(1)[0], open(t, h.address)
		h.append(t, k, hire.RoleSeeker, hire.TypeProposal)
		tx, err := h.Begin(t.Context())
		require.NoError(t, err)
		c, err := tx.Lock(t.Context(), k.Conversation, k.Worker.ID, k.Seeker.ID, h.now)
		require.NoError(t, err)
		second := make(chan hire.Hash, 1)
		go func() {
			waiting, err := other.Begin(t.Context())
			if !assert.NoError(t, err) {
				return
			}
			defer waiting.Cancel()
			found, err := waiting.Lock(t.Context(), k.Conversation, k.Seeker.ID, k.Worker.ID, h.now)
			if assert.NoError(t, err) {
				second <- found.State.Last
			}
		}()
		h.awaitLock(t)
		m := k.Message(t, hire.RoleWorker, hire.TypeCounter, h.now.Add(time.Second))
		next, err := c.State.Next(m, h.now, hire.Rules{})
		require.NoError(t, err)
		_, err = tx.Append(t.Context(), c, store.Arrival{Message: m, At: h.now, State: next})
		require.NoError(t, err)
		require.NoError(t, tx.Commit())
		require.Equal(t, m.Hash(), <-second)
	})
}

// awaitLock waits until a transaction waits for a lock. SQLite cannot show this.
func (h *home) awaitLock(t *testing.T) {
	t.Helper()
	if !databases.IsPostgres(h.address) {
		return
	}
	observer := hiretest.Connect(t, h.address)
	require.Eventually(t, func() bool {
		var waiting int
		err := observer.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
		return err == nil && waiting == 1
	}, time.Minute, time.Millisecond)
}

func TestEntriesNeverChange(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		h.append(t, talks(1)[0], hire.RoleSeeker, hire.TypeProposal)
		attacker := hiretest.Connect(t, h.address)
		statements := []string{
			`UPDATE hire_entries SET entry = '{}'`, `DELETE FROM hire_entries`,
		}
		if databases.IsPostgres(h.address) {
			statements = append(statements, `TRUNCATE hire_entries CASCADE`)
		} else {
			statements = append(statements, `INSERT OR REPLACE INTO hire_entries SELECT * FROM hire_entries`)
		}
		for _, statement := range statements {
			_, err := attacker.ExecContext(t.Context(), statement)
			require.ErrorContains(t, err, "hire_entries: rows never change", statement)
		}
	})
}
