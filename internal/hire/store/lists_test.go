package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// all returns a query's conversations, page by page.
func (h *home) all(t *testing.T, q store.Query) (ids []string, latest int64, pages int) {
	t.Helper()
	for {
		page, err := h.Conversations(t.Context(), q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.States), store.MaxPage)
		for _, state := range page.States {
			ids = append(ids, state.Conversation)
		}
		if pages++; page.Next == "" {
			return ids, page.Latest, pages
		}
		q.After = page.Next
	}
}

func TestConversationsArePaged(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		const count = 2*store.MaxPage + 7
		all := talks(count)
		var want []string
		for _, k := range all {
			h.append(t, k, hire.RoleSeeker, hire.TypeProposal)
			want = append(want, k.Conversation)
		}
		h.append(t, hiretest.NewTalk(hiretest.NewAgent(), all[0].Worker), hire.RoleSeeker, hire.TypeProposal)
		for agent, events := range map[string]int64{all[0].Seeker.ID: 0, all[0].Worker.ID: count + 1} {
			ids, latest, pages := h.all(t, store.Query{Agent: agent})
			require.Equal(t, events, latest)
			require.Equal(t, 3, pages)
			if agent == all[0].Seeker.ID {
				require.ElementsMatch(t, want, ids)
			} else {
				require.Len(t, ids, count+1)
				require.Subset(t, ids, want)
			}
		}
		ids, _, _ := h.all(t, store.Query{Agent: "a stranger"})
		require.Empty(t, ids)
	})
}

func TestOpenConversationsAndSessionsAreFound(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		all := talks(4)
		until := start.Add(time.Minute)
		add := func(k *hiretest.Talk, due time.Time, session *uint64) {
			m := k.Message(t, hire.RoleSeeker, hire.TypeProposal, h.now)
			_, err := h.store(t, m, func(a *store.Arrival) { a.Due, a.Session = due, session })
			require.NoError(t, err)
		}
		add(all[0], until, nil)
		add(all[1], until.Add(-time.Microsecond), sessionOf(1<<64-1))
		add(all[2], time.Time{}, sessionOf(7))
		add(all[3], until.Add(time.Hour), sessionOf(7))
		for name, c := range map[string]struct {
			query store.Query
			want  []int
		}{
			"all":                   {store.Query{}, []int{0, 1, 2, 3}},
			"open":                  {store.Query{Open: until}, []int{0, 3}},
			"session":               {store.Query{Session: sessionOf(7)}, []int{2, 3}},
			"largest session":       {store.Query{Session: sessionOf(1<<64 - 1)}, []int{1}},
			"unknown session":       {store.Query{Session: sessionOf(8)}, nil},
			"session of a stranger": {store.Query{Agent: "stranger", Session: sessionOf(7)}, nil},
		} {
			for _, agent := range []string{all[0].Seeker.ID, all[0].Worker.ID} {
				if c.query.Agent != "stranger" {
					c.query.Agent = agent
				}
				var want []string
				for _, i := range c.want {
					want = append(want, all[i].Conversation)
				}
				ids, _, _ := h.all(t, c.query)
				require.ElementsMatch(t, want, ids, name)
			}
		}
		tx, err := h.Begin(t.Context())
		require.NoError(t, err)
		defer tx.Cancel()
		for limit, want := range map[int]int{1: 1, 2: 2, 10: 2} {
			open, err := tx.CountOpen(t.Context(), until, limit)
			require.NoError(t, err)
			require.Equal(t, want, open)
		}
		deal, err := h.HasDeal(t.Context(), store.ConversationID(all[1].Conversation, all[1].Seeker.ID, all[1].Worker.ID))
		require.NoError(t, err)
		require.True(t, deal)
		deal, err = h.HasDeal(t.Context(), store.ConversationID(all[0].Conversation, all[1].Seeker.ID, all[1].Worker.ID))
		require.NoError(t, err)
		require.False(t, deal)
	})
}

// A seeker that uses the same conversation id with two workers opens two conversations, one for each worker.
func TestConversationsAreFoundByTheirNames(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		k := talks(1)[0]
		other := hiretest.NewTalk(k.Seeker, hiretest.NewAgent())
		other.Conversation = k.Conversation
		for _, each := range []*hiretest.Talk{k, other} {
			h.append(t, each, hire.RoleSeeker, hire.TypeProposal)
		}
		for agent, want := range map[string]int{k.Seeker.ID: 2, k.Worker.ID: 1, "stranger": 0} {
			ids, err := h.Named(t.Context(), agent, k.Conversation, k.Seeker.ID)
			require.NoError(t, err)
			require.Len(t, ids, want)
		}
	})
}

func TestConversationsAwaitTheirContract(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		all := talks(3)
		for i, k := range all {
			m := k.Message(t, hire.RoleSeeker, hire.TypeProposal, h.now)
			_, err := h.store(t, m, func(a *store.Arrival) {
				a.AcceptedAt = start.Add(-time.Duration(i) * time.Minute)
			})
			require.NoError(t, err)
			k.Stored(m)
		}
		h.append(t, all[0], hire.RoleWorker, hire.TypeCounter) // the home no longer waits
		awaiting, err := h.AwaitingContract(t.Context(), start.Add(-2*time.Minute))
		require.NoError(t, err)
		require.Len(t, awaiting, 1)
		require.Equal(t, start.Add(-time.Minute), awaiting[0].AcceptedAt)
		require.Equal(t, store.ConversationID(all[1].Conversation, all[1].Seeker.ID, all[1].Worker.ID), awaiting[0].ID)
		m, at, err := h.Message(t.Context(), awaiting[0].ID, all[1].Last)
		require.NoError(t, err)
		require.Equal(t, all[1].Last, m.Hash())
		require.Equal(t, start, at)
		_, _, err = h.Message(t.Context(), awaiting[0].ID, "0")
		require.ErrorIs(t, err, store.ErrNotFound)
	})
}
