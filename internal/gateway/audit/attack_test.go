package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/audit"
)

// requireFinding requires the only finding of a report.
func requireFinding(t *testing.T, g *gateway, problem audit.Problem, negotiation string, entry, until int64) {
	t.Helper()
	report := g.verify(t)
	require.Len(t, report.Findings, 1)
	found := report.Findings[0]
	require.NotEmpty(t, found.Detail)
	found.Detail = ""
	require.Equal(t, audit.Finding{Problem: problem, Negotiation: negotiation, Entry: entry, Until: until},
		found)
}

// An untouched database has no finding, and the report says which entries no checkpoint covers.
func TestAnUntouchedHistoryIsValid(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		require.Equal(t, &audit.Report{Negotiations: 3, Entries: 15, Checkpoints: 1, Uncovered: 2,
			Findings: []audit.Finding{}}, g.verify(t))
		second := g.checkpoint(t)
		require.Len(t, second.Heads, 1, "only the changed chain")
		require.Equal(t, 3, second.Count)
		require.Nil(t, g.checkpoint(t), "nothing has changed")
		g.reopen(t)
		require.EqualValues(t, 2, g.checkpoints.Sequence())
		require.Nil(t, g.checkpoint(t))
		g.round(t, g.ids[0])
		require.Len(t, g.checkpoint(t).Heads, 1)
		require.Equal(t, &audit.Report{Negotiations: 3, Entries: 17, Checkpoints: 3, Findings: []audit.Finding{}},
			g.verify(t))
	})
}

func TestAChangedEntryIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		g.attack(t, `UPDATE audit_entries SET entry = REPLACE(entry, '1500', '1501')`+where(g.ids[1],
			4)+` AND sequence <= 4`)
		requireFinding(t, g, audit.Changed, g.ids[1], 4, 0)
	})
}

// The text and hash of an entry of another negotiation do not pass as an entry of this one.
func TestAnEntryOfAnotherNegotiationIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		g.attack(t, `UPDATE audit_entries SET entry = (SELECT entry FROM audit_entries`+where(g.ids[0],
			1)+` AND sequence = 1)`+
			where(g.ids[1], 1)+` AND sequence = 1`)
		requireFinding(t, g, audit.Changed, g.ids[1], 1, 0)
	})
}

func TestAMissingEntryIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		g.attack(t, `DELETE FROM audit_entries`+where(g.ids[0], 2)+` AND sequence = 2`)
		requireFinding(t, g, audit.Missing, g.ids[0], 2, 0)
	})
}

// An attacker who shortens a chain and corrects the negotiation's record of it is found by the checkpoint.
func TestATruncatedChainIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		g.attack(t, `DELETE FROM audit_entries`+where(g.ids[0], 4),
			`UPDATE negotiations SET audit_length = 3, audit_head = (SELECT hash FROM audit_entries`+where(g.ids[0],
				3)+`) WHERE id = '`+g.ids[0]+`'`)
		requireFinding(t, g, audit.Truncated, g.ids[0], 4, 5)
		// Nor does the gateway sign it.
		g.reopen(t)
		_, err := g.checkpoints.Write(t.Context(), g, time.Now())
		require.ErrorContains(t, err, "negotiation "+g.ids[0]+": checkpoint not signed: the chain has 3 entries")
	})
}

// Entries that no checkpoint covers yet are found missing by the negotiation's own record.
func TestAnUncoveredTruncationIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		g.attack(t, `DELETE FROM audit_entries`+where(g.ids[2], 5))
		requireFinding(t, g, audit.Truncated, g.ids[2], 5, 5)
	})
}

func TestADeletedNegotiationIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		g.attack(t, `DELETE FROM audit_entries`+where(g.ids[1], 1))
		requireFinding(t, g, audit.Deleted, g.ids[1], 1, 5)
		for _, statement := range []string{
			`DELETE FROM negotiation_rounds WHERE negotiation_id = '` + g.ids[1] + `'`,
			`DELETE FROM negotiations WHERE id = '` + g.ids[1] + `'`,
		} {
			if g.Dialect == "postgres" {
				_, err := g.attacker.Exec(`ALTER TABLE negotiation_rounds DISABLE TRIGGER ALL`)
				require.NoError(t, err)
			} else {
				_, err := g.attacker.Exec(`DROP TRIGGER IF EXISTS negotiation_rounds_not_deleted`)
				require.NoError(t, err)
			}
			_, err := g.attacker.Exec(statement)
			require.NoError(t, err)
		}
		requireFinding(t, g, audit.Deleted, g.ids[1], 1, 5)
	})
}

// An attacker who computes all hashes again agrees with the database, but not with the checkpoint.
func TestARewrittenChainIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		g.rewrite(t, g.ids[0], 1)
		requireFinding(t, g, audit.Rewritten, g.ids[0], 1, 5)
	})
}

// The finding names the part between the last checkpoint that agrees and the first one that does not.
func TestAPartlyRewrittenChainIsLocated(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		g.checkpoint(t) // entries 1 to 3 of the third negotiation in checkpoint 1, 4 and 5 in checkpoint 2
		g.rewrite(t, g.ids[2], 4)
		requireFinding(t, g, audit.Rewritten, g.ids[2], 4, 5)
	})
}

// A rewritten chain that goes on is signed by the next checkpoint, and still found by the earlier one.
func TestARewrittenChainThatContinuesIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		g.rewrite(t, g.ids[0], 2)
		g.round(t, g.ids[0])
		g.checkpoint(t)
		requireFinding(t, g, audit.Rewritten, g.ids[0], 1, 5)
	})
}

// A chain for which no negotiation exists is not history.
func TestAnInventedChainIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		id := "00000000-0000-7000-8000-000000000000"
		links, _, err := audit.Append(audit.Head{Negotiation: id}, audit.Entry{Kind: "round"})
		require.NoError(t, err)
		g.attack(t, `INSERT INTO audit_entries VALUES ('`+id+`', 1, '`+links[0].Text+`', '`+links[0].Hash+`')`)
		requireFinding(t, g, audit.Unrecorded, id, 1, 0)
	})
}

// The checkpoint file cannot be changed either.
func TestAChangedCheckpointFileIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		g.checkpoint(t)
		g.round(t, g.ids[0])
		g.checkpoint(t)
		whole, err := os.ReadFile(g.path)
		require.NoError(t, err)
		lines := bytes.SplitAfter(whole, []byte("\n"))
		require.Len(t, lines, 4)
		_, other, err := ed25519.GenerateKey(nil)
		require.NoError(t, err)
		forged := g.path + ".forged"
		c, err := audit.OpenCheckpointer(forged, other)
		require.NoError(t, err)
		_, err = c.Write(t.Context(), g, time.Now())
		require.NoError(t, err)
		require.NoError(t, c.Close())
		foreign, err := os.ReadFile(forged)
		require.NoError(t, err)
		for problem, content := range map[string][]byte{
			"line 1: heads do not have the signed digest": bytes.Replace(whole, []byte(`"length":5`),
				[]byte(`"length":4`), 1),
			"line 1: invalid signature": bytes.Replace(whole, []byte(`"count":3`),
				[]byte(`"count":2`), 1),
			"line 1: sequence is 2, want 1":            bytes.Join(lines[1:], nil),
			"line 2: sequence is 3, want 2":            bytes.Join([][]byte{lines[0], lines[2]}, nil),
			"line 1: signed with another key":          foreign,
			"line 1: invalid JSON":                     append([]byte("x"), whole...),
			"ends with checkpoint 2, but checkpoint 3": bytes.Join(lines[:2], nil),
		} {
			require.NoError(t, os.WriteFile(g.path, content, 0o600))
			report, err := audit.Verify(t.Context(), g,
				audit.VerifyOptions{Path: g.path, Key: g.public, MinSequence: 3})
			require.NoError(t, err)
			require.NotEmpty(t, report.Findings, problem)
			require.Equal(t, audit.BadCheckpoint, report.Findings[0].Problem)
			require.Contains(t, report.Findings[0].String(), problem)
		}
	})
}

// A process that is killed while it writes leaves a part of a line, which the next one removes.
func TestAnIncompleteCheckpointIsRemoved(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		_, err := audit.OpenCheckpointer(g.path, g.private)
		require.ErrorIs(t, err, audit.ErrLocked)
		whole, err := os.ReadFile(g.path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(g.path, append(whole, whole[:40]...), 0o600))
		require.Empty(t, g.verify(t).Findings)
		g.reopen(t)
		g.checkpoint(t)
		report := g.verify(t)
		require.EqualValues(t, 2, report.Checkpoints)
		require.Empty(t, report.Findings)

		_, other, err := ed25519.GenerateKey(nil)
		require.NoError(t, err)
		require.NoError(t, g.checkpoints.Close())
		_, err = audit.OpenCheckpointer(g.path, other)
		var invalid *audit.CheckpointError
		require.True(t, errors.As(err, &invalid))
		require.Equal(t, 1, invalid.Line)
	})
}
