package store_test

import (
	"context"
	"crypto/ed25519"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/databases"
	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// The conversation chains are consistent and match the checkpoints. A changed entry is found.
func TestChangedEntryIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		public, private, err := ed25519.GenerateKey(nil)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "checkpoints.jsonl")
		checkpoints, err := audit.OpenCheckpointer(path, private)
		require.NoError(t, err)
		defer checkpoints.Close()
		all := talks(3)
		for _, k := range all {
			h.append(t, k, hire.RoleSeeker, hire.TypeProposal)
			h.append(t, k, hire.RoleWorker, hire.TypeCounter)
		}
		written, err := checkpoints.Write(t.Context(), h, h.now)
		require.NoError(t, err)
		require.Len(t, written.Heads, 3)
		h.now = h.now.Add(time.Hour)
		h.append(t, all[0], hire.RoleSeeker, hire.TypeAccept)
		changed := 0
		require.NoError(t, h.ChangedHeads(t.Context(), h.now, func(head audit.Head) error {
			changed++
			require.EqualValues(t, 3, head.Length)
			return nil
		}))
		require.Equal(t, 1, changed)
		options := audit.VerifyOptions{Path: path, Key: public}
		report, err := audit.Verify(t.Context(), h, options)
		require.NoError(t, err)
		require.EqualValues(t, 7, report.Entries)
		require.EqualValues(t, 1, report.Uncovered)
		require.Empty(t, report.Findings)

		attacker := hiretest.Connect(t, h.address)
		disarm := []string{`DROP TRIGGER hire_entries_not_updated`}
		if databases.IsPostgres(h.address) {
			disarm = []string{`ALTER TABLE hire_entries DISABLE TRIGGER ALL`}
		}
		id := store.ConversationID(all[1].Conversation, all[1].Seeker.ID, all[1].Worker.ID)
		for _, statement := range append(disarm,
			`UPDATE hire_entries SET entry = REPLACE(entry, '5 USDC', '6 USDC') WHERE sequence = 2 AND conversation = '`+id+`'`) {
			_, err := attacker.ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}
		report, err = audit.Verify(t.Context(), h, options)
		require.NoError(t, err)
		require.Len(t, report.Findings, 1)
		require.Equal(t, audit.Changed, report.Findings[0].Problem)
		require.Equal(t, id, report.Findings[0].Chain)
		require.EqualValues(t, 2, report.Findings[0].Entry)
	})
}

// A conversation's log is read page by page, in sequence, excluding other conversations' entries.
func TestLinksArePaged(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		all := talks(2)
		const count = store.MaxLinks + 3
		for range count {
			h.append(t, all[0], hire.RoleSeeker, hire.TypeProposal)
			h.append(t, all[1], hire.RoleSeeker, hire.TypeProposal)
		}
		id := store.ConversationID(all[0].Conversation, all[0].Seeker.ID, all[0].Worker.ID)
		first, err := h.Links(t.Context(), id, 0)
		require.NoError(t, err)
		require.Len(t, first, store.MaxLinks)
		rest, err := h.Links(t.Context(), id, store.MaxLinks)
		require.NoError(t, err)
		require.Len(t, rest, count-store.MaxLinks)
		previous := ""
		for i, link := range append(first, rest...) {
			require.EqualValues(t, i+1, link.Sequence)
			require.Equal(t, audit.Hash(previous, link.Text), link.Hash)
			previous = link.Hash
		}
	})
}

// An A2A task shows a conversation's end, no matter how long the conversation is.
func TestLatestMessagesAreReadInTheirOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		all := talks(2)
		var sent []hire.Hash
		for range store.MaxLinks + 3 {
			h.append(t, all[0], hire.RoleSeeker, hire.TypeProposal)
			sent = append(sent, all[0].Last)
			h.append(t, all[1], hire.RoleSeeker, hire.TypeProposal)
		}
		id := store.ConversationID(all[0].Conversation, all[0].Seeker.ID, all[0].Worker.ID)
		for limit, want := range map[int][]hire.Hash{2: sent[len(sent)-2:], len(sent): sent, 500: sent} {
			latest, err := h.Latest(t.Context(), id, limit)
			require.NoError(t, err)
			hashes := make([]hire.Hash, len(latest))
			for i, m := range latest {
				hashes[i] = m.Hash()
			}
			require.Equal(t, want, hashes)
		}
	})
}

func TestEndedContextEndsASnapshot(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		h.append(t, talks(1)[0], hire.RoleSeeker, hire.TypeProposal)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, h.AuditSnapshot(ctx, nil, nil), context.Canceled)
		require.ErrorIs(t, h.AuditSnapshot(t.Context(), func(audit.Head) error { return errTest }, nil), errTest)
	})
}
