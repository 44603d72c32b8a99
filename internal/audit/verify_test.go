package audit_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
)

// An untouched history yields no finding, and the report counts the entries not covered by a checkpoint.
func TestUntouchedHistoryIsValid(t *testing.T) {
	h := newHistory(t)
	require.Equal(t, &audit.Report{Chains: 3, Entries: 15, Checkpoints: 1, Uncovered: 2,
		Findings: []audit.Finding{}}, h.verify(t))
	second := h.checkpoint(t)
	require.Len(t, second.Heads, 1, "only the changed chain")
	require.Equal(t, 3, second.Count)
	require.Nil(t, h.checkpoint(t), "nothing has changed")
	h.reopen(t)
	require.EqualValues(t, 2, h.checkpoints.Sequence())
	require.Nil(t, h.checkpoint(t))
	h.append(t, "a", "six")
	require.Len(t, h.checkpoint(t).Heads, 1)
	require.Equal(t, &audit.Report{Chains: 3, Entries: 16, Checkpoints: 3, Findings: []audit.Finding{}},
		h.verify(t))
}

// Each attack leads to a single finding with the chain and the entry.
func TestAttackIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		attack func(t *testing.T, h *history)
		want   audit.Finding
		text   string
	}{
		"changed entry": {func(_ *testing.T, h *history) { h.links["b"][3].Text += " " },
			audit.Finding{Problem: audit.Changed, Chain: "b", Entry: 4}, "chain b: entry 4 changed: hash is "},
		"entry of another chain": {func(_ *testing.T, h *history) { h.links["b"][0].Text = h.links["a"][0].Text },
			audit.Finding{Problem: audit.Changed, Chain: "b", Entry: 1},
			"chain b: entry 1 changed: the text belongs to entry 1 of chain a"},
		"entry of another chain with its hash": {func(_ *testing.T, h *history) {
			h.links["b"][0].Text, h.links["b"][0].Hash = h.links["a"][0].Text, h.links["a"][0].Hash
		}, audit.Finding{Problem: audit.Changed, Chain: "b", Entry: 1},
			"chain b: entry 1 changed: the text belongs to entry 1 of chain a"},
		"no entry": {func(_ *testing.T, h *history) { h.links["b"][1].Text = "x" },
			audit.Finding{Problem: audit.Changed, Chain: "b", Entry: 2}, "chain b: entry 2 changed: invalid JSON"},
		"missing entry": {func(_ *testing.T, h *history) { h.links["a"] = slices.Delete(h.links["a"], 1, 2) },
			audit.Finding{Problem: audit.Missing, Chain: "a", Entry: 2},
			"chain a: entry 2 missing: the next entry is 3"},
		"truncated chain with its record": {func(_ *testing.T, h *history) {
			h.links["a"] = h.links["a"][:3]
			h.recorded["a"] = audit.Head{Chain: "a", Length: 3, Hash: h.links["a"][2].Hash}
		}, audit.Finding{Problem: audit.Truncated, Chain: "a", Entry: 4, Until: 5},
			"chain a: entry 4 truncated: the chain has 3 entries, a checkpoint 5"},
		"truncated entries that no checkpoint covers": {
			func(_ *testing.T, h *history) { h.links["c"] = h.links["c"][:4] },
			audit.Finding{Problem: audit.Truncated, Chain: "c", Entry: 5, Until: 5},
			"chain c: entry 5 truncated: the chain has 4 entries, the recorded head 5"},
		"deleted chain": {func(_ *testing.T, h *history) { delete(h.links, "b") },
			audit.Finding{Problem: audit.Deleted, Chain: "b", Entry: 1, Until: 5},
			"chain b: entry 1 deleted: a checkpoint has 5 entries"},
		"deleted chain with its record": {func(_ *testing.T, h *history) {
			delete(h.links, "b")
			delete(h.recorded, "b")
		}, audit.Finding{Problem: audit.Deleted, Chain: "b", Entry: 1, Until: 5},
			"chain b: entry 1 deleted: a checkpoint has 5 entries"},
		"deleted chain that no checkpoint covers": {func(t *testing.T, h *history) {
			h.append(t, "d", "one", "two")
			delete(h.links, "d")
		}, audit.Finding{Problem: audit.Deleted, Chain: "d", Entry: 1, Until: 2},
			"chain d: entry 1 deleted: the recorded head has 2 entries"},
		"rewritten chain": {func(_ *testing.T, h *history) { h.rewrite("a", 1) },
			audit.Finding{Problem: audit.Rewritten, Chain: "a", Entry: 1, Until: 5},
			"chain a: entry 1 rewritten: head of 5 entries is "},
		// The finding names the part between the last checkpoint that agrees and the first that disagrees.
		"partly rewritten chain": {func(t *testing.T, h *history) {
			h.checkpoint(t) // entries 1 to 3 of c are in checkpoint 1, 4 and 5 in checkpoint 2
			h.rewrite("c", 4)
		}, audit.Finding{Problem: audit.Rewritten, Chain: "c", Entry: 4, Until: 5},
			"chain c: entry 4 rewritten: head of 5 entries is "},
		// The next checkpoint signs it, but the earlier checkpoint still contradicts it.
		"rewritten chain that continues": {func(t *testing.T, h *history) {
			h.rewrite("a", 2)
			h.append(t, "a", "six")
			h.checkpoint(t)
		}, audit.Finding{Problem: audit.Rewritten, Chain: "a", Entry: 1, Until: 5},
			"chain a: entry 1 rewritten: head of 5 entries is "},
		"changed record": {func(_ *testing.T, h *history) {
			h.recorded["c"] = audit.Head{Chain: "c", Length: 4, Hash: h.links["c"][3].Hash}
		}, audit.Finding{Problem: audit.Unrecorded, Chain: "c", Entry: 4},
			"chain c: entry 4 unrecorded: the recorded head has 4 entries and hash "},
		"invented chain": {func(t *testing.T, h *history) {
			h.append(t, "d", "one")
			delete(h.recorded, "d")
		}, audit.Finding{Problem: audit.Unrecorded, Chain: "d", Entry: 1},
			"chain d: entry 1 unrecorded: no head is recorded"},
		"invented chain without a name": {func(_ *testing.T, h *history) {
			text := `{"chain":"","sequence":1,"time":"0001-01-01T00:00:00Z","kind":"one"}`
			h.links[""] = []audit.Link{{Sequence: 1, Text: text, Hash: audit.Hash("", text)}}
		}, audit.Finding{Problem: audit.Unrecorded, Entry: 1}, "chain : entry 1 unrecorded: no head is recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			c.attack(t, h)
			report := h.verify(t)
			require.Len(t, report.Findings, 1)
			found := report.Findings[0]
			require.Contains(t, found.String(), c.text)
			found.Detail = ""
			require.Equal(t, c.want, found)
		})
	}
}

// An exported chain is checked alone.
func TestExportedChainIsVerified(t *testing.T) {
	h := newHistory(t)
	head, finding := audit.VerifyChain("a", h.links["a"])
	require.Nil(t, finding)
	require.Equal(t, h.recorded["a"], head)

	head, finding = audit.VerifyChain("a", nil)
	require.Nil(t, finding)
	require.Equal(t, audit.Head{Chain: "a"}, head)

	head, finding = audit.VerifyChain("a", h.links["a"][:3])
	require.Nil(t, finding, "a cut end is valid")
	require.Equal(t, audit.Head{Chain: "a", Length: 3, Hash: h.links["a"][2].Hash}, head)
}

func TestChangedExportIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		change func(own, other []audit.Link) []audit.Link
		want   string
		// valid is the number of entries before the finding.
		valid int64
	}{
		"changed text": {func(own, _ []audit.Link) []audit.Link {
			own[2].Text += " "
			return own
		}, "chain a: entry 3 changed: hash is ", 2},
		"changed hash": {func(own, _ []audit.Link) []audit.Link {
			own[4].Hash = own[3].Hash
			return own
		}, "chain a: entry 5 changed: hash is ", 4},
		"missing entry": {func(own, _ []audit.Link) []audit.Link { return slices.Delete(own, 1, 2) },
			"chain a: entry 2 missing: the next entry is 3", 1},
		"missing first entries": {func(own, _ []audit.Link) []audit.Link { return own[2:] },
			"chain a: entry 1 missing: the next entry is 3", 0},
		"repeated entry": {func(own, _ []audit.Link) []audit.Link { return append(own, own[4]) },
			"chain a: entry 6 missing: the next entry is 5", 5},
		"renumbered entries": {func(own, _ []audit.Link) []audit.Link {
			own = slices.Delete(own, 1, 2)
			for i := range own {
				own[i].Sequence = int64(i + 1)
			}
			return own
		}, "chain a: entry 2 changed: the text belongs to entry 3 of chain a", 1},
		"entry of another chain": {func(own, other []audit.Link) []audit.Link {
			return append(own[:2], other[2:]...)
		}, "chain a: entry 3 changed: the next entry belongs to chain b", 2},
		"another chain": {func(_, other []audit.Link) []audit.Link { return other },
			"chain a: entry 1 changed: the next entry belongs to chain b", 0},
		"another chain with new ids": {renamed, "chain a: entry 1 changed: the text belongs to entry 1 of chain b", 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			original := slices.Clone(h.links["a"])
			head, finding := audit.VerifyChain("a", c.change(h.links["a"], h.links["b"]))
			require.NotNil(t, finding)
			require.Contains(t, finding.String(), c.want)
			require.Equal(t, c.valid, head.Length)
			if c.valid > 0 {
				require.Equal(t, original[c.valid-1].Hash, head.Hash)
			}
		})
	}
}

// renamed returns the other chain's links under the first chain's name.
func renamed(own, other []audit.Link) []audit.Link {
	for i := range other {
		other[i].Chain = own[0].Chain
	}
	return other
}
