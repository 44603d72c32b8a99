package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
)

// requireFinding requires a report with this finding only.
func requireFinding(t *testing.T, h *history, problem audit.Problem, chain string, entry, until int64) {
	t.Helper()
	report := h.verify(t)
	require.Len(t, report.Findings, 1)
	found := report.Findings[0]
	require.NotEmpty(t, found.Detail)
	found.Detail = ""
	require.Equal(t, audit.Finding{Problem: problem, Chain: chain, Entry: entry, Until: until},
		found)
}

// An untouched database yields no findings, and the report lists the entries that no checkpoint covers.
func TestUntouchedHistoryIsValid(t *testing.T) {
	onBothHistories(t, func(t *testing.T, h *history) {
		require.Equal(t, &audit.Report{Chains: 3, Entries: 15, Checkpoints: 1, Uncovered: 2,
			Findings: []audit.Finding{}}, h.verify(t))
		second := h.checkpoint(t)
		require.Len(t, second.Heads, 1, "only the changed chain")
		require.Equal(t, 3, second.Count)
		require.Nil(t, h.checkpoint(t), "nothing has changed")
		h.reopen(t)
		require.EqualValues(t, 2, h.checkpoints.Sequence())
		require.Nil(t, h.checkpoint(t))
		h.round(t, h.ids[0])
		require.Len(t, h.checkpoint(t).Heads, 1)
		require.Equal(t, &audit.Report{Chains: 3, Entries: 17, Checkpoints: 3, Findings: []audit.Finding{}},
			h.verify(t))
	})
}

func TestChangedEntryIsFound(t *testing.T) {
	onBothHistories(t, func(t *testing.T, h *history) {
		h.attack(t, `UPDATE audit_entries SET entry = REPLACE(entry, '1500', '1501')`+entriesFrom(h.ids[1],
			4)+` AND sequence <= 4`)
		requireFinding(t, h, audit.Changed, h.ids[1], 4, 0)
	})
}

// An entry does not pass with the text and hash of another negotiation's entry.
func TestEntryOfAnotherNegotiationIsFound(t *testing.T) {
	onBothHistories(t, func(t *testing.T, h *history) {
		h.attack(t, `UPDATE audit_entries SET entry = (SELECT entry FROM audit_entries`+entriesFrom(h.ids[0],
			1)+` AND sequence = 1)`+
			entriesFrom(h.ids[1], 1)+` AND sequence = 1`)
		requireFinding(t, h, audit.Changed, h.ids[1], 1, 0)
	})
}

func TestMissingEntryIsFound(t *testing.T) {
	onBothHistories(t, func(t *testing.T, h *history) {
		h.attack(t, `DELETE FROM audit_entries`+entriesFrom(h.ids[0], 2)+` AND sequence = 2`)
		requireFinding(t, h, audit.Missing, h.ids[0], 2, 0)
	})
}

// An attacker who shortens a chain and corrects the negotiation's record is found by the checkpoint.
func TestTruncatedChainIsFound(t *testing.T) {
	onBothHistories(t, func(t *testing.T, h *history) {
		h.attack(t, `DELETE FROM audit_entries`+entriesFrom(h.ids[0], 4),
			`UPDATE negotiations SET audit_length = 3, audit_head = (SELECT hash FROM audit_entries`+entriesFrom(h.ids[0],
				3)+`) WHERE id = '`+h.ids[0]+`'`)
		requireFinding(t, h, audit.Truncated, h.ids[0], 4, 5)
		// Nor does the gateway sign it.
		h.reopen(t)
		_, err := h.checkpoints.Write(t.Context(), h, h.now())
		require.ErrorContains(t, err, "chain "+h.ids[0]+": checkpoint not signed: it has 3 entries")
	})
}

// Entries that no checkpoint covers yet are found missing by the negotiation's own record.
func TestUncoveredTruncationIsFound(t *testing.T) {
	onBothHistories(t, func(t *testing.T, h *history) {
		h.attack(t, `DELETE FROM audit_entries`+entriesFrom(h.ids[2], 5))
		requireFinding(t, h, audit.Truncated, h.ids[2], 5, 5)
	})
}

func TestDeletedNegotiationIsFound(t *testing.T) {
	onBothHistories(t, func(t *testing.T, h *history) {
		h.attack(t, `DELETE FROM audit_entries`+entriesFrom(h.ids[1], 1))
		requireFinding(t, h, audit.Deleted, h.ids[1], 1, 5)
		for _, statement := range []string{
			`DELETE FROM negotiation_rounds WHERE negotiation_id = '` + h.ids[1] + `'`,
			`DELETE FROM negotiations WHERE id = '` + h.ids[1] + `'`,
		} {
			if h.Dialect == "postgres" {
				_, err := h.attacker.Exec(`ALTER TABLE negotiation_rounds DISABLE TRIGGER ALL`)
				require.NoError(t, err)
			} else {
				_, err := h.attacker.Exec(`DROP TRIGGER IF EXISTS negotiation_rounds_not_deleted`)
				require.NoError(t, err)
			}
			_, err := h.attacker.Exec(statement)
			require.NoError(t, err)
		}
		requireFinding(t, h, audit.Deleted, h.ids[1], 1, 5)
	})
}

// An attacker who computes all hashes again agrees with the database, but not with the checkpoint.
func TestRewrittenChainIsFound(t *testing.T) {
	onBothHistories(t, func(t *testing.T, h *history) {
		h.rewrite(t, h.ids[0], 1)
		requireFinding(t, h, audit.Rewritten, h.ids[0], 1, 5)
	})
}

// The finding names the part between the last checkpoint that agrees and the first that does not.
func TestPartlyRewrittenChainIsLocated(t *testing.T) {
	onBothHistories(t, func(t *testing.T, h *history) {
		h.checkpoint(t) // entries 1 to 3 of the third negotiation in checkpoint 1, 4 and 5 in checkpoint 2
		h.rewrite(t, h.ids[2], 4)
		requireFinding(t, h, audit.Rewritten, h.ids[2], 4, 5)
	})
}

// A rewritten chain that goes on is signed by the next checkpoint, and still found by the earlier checkpoint.
func TestRewrittenChainThatContinuesIsFound(t *testing.T) {
	onBothHistories(t, func(t *testing.T, h *history) {
		h.rewrite(t, h.ids[0], 2)
		h.round(t, h.ids[0])
		h.checkpoint(t)
		requireFinding(t, h, audit.Rewritten, h.ids[0], 1, 5)
	})
}

// A chain that belongs to no negotiation is not history.
func TestInventedChainIsFound(t *testing.T) {
	onBothHistories(t, func(t *testing.T, h *history) {
		id := "00000000-0000-7000-8000-000000000000"
		links, _, err := audit.Append(audit.Head{Chain: id}, audit.Entry{Kind: "round"})
		require.NoError(t, err)
		h.attack(t, `INSERT INTO audit_entries VALUES ('`+id+`', 1, '`+links[0].Text+`', '`+links[0].Hash+`')`)
		requireFinding(t, h, audit.Unrecorded, id, 1, 0)
	})
}
