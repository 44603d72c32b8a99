package audit_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
)

var start = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// history is a source in memory, with a checkpoint file. Tests change it as an attacker.
type history struct {
	links       map[string][]audit.Link
	recorded    map[string]audit.Head
	path        string
	public      ed25519.PublicKey
	private     ed25519.PrivateKey
	checkpoints *audit.Checkpointer
}

// newHistory returns the chains a, b and c with five entries each. A checkpoint covers all entries in a and
// b, and the first three in c.
func newHistory(t *testing.T) *history {
	t.Helper()
	h := &history{links: map[string][]audit.Link{}, recorded: map[string]audit.Head{},
		path: filepath.Join(t.TempDir(), "checkpoints.jsonl")}
	var err error
	h.public, h.private, err = ed25519.GenerateKey(nil)
	require.NoError(t, err)
	h.append(t, "a", "one", "two", "three", "four", "five")
	h.append(t, "b", "one", "two", "three", "four", "five")
	h.append(t, "c", "one", "two", "three")
	h.reopen(t)
	h.checkpoint(t)
	h.append(t, "c", "four", "five")
	return h
}

// append adds one entry per kind to a chain.
func (h *history) append(t *testing.T, chain string, kinds ...string) {
	t.Helper()
	head := h.recorded[chain]
	head.Chain = chain
	var entries []audit.Entry
	for _, kind := range kinds {
		entries = append(entries, audit.Entry{Time: start, Kind: kind, Data: json.RawMessage(`{"price":1500}`)})
	}
	links, head, err := audit.Append(head, entries...)
	require.NoError(t, err)
	h.links[chain] = append(h.links[chain], links...)
	h.recorded[chain] = head
}

// rewrite changes a chain's entries from a sequence number onward, and recomputes all hashes.
func (h *history) rewrite(chain string, from int64) {
	head := audit.Head{Chain: chain}
	for i, l := range h.links[chain] {
		if l.Sequence >= from {
			l.Text = strings.ReplaceAll(l.Text, "1500", "1501")
			l.Hash = audit.Hash(head.Hash, l.Text)
		}
		h.links[chain][i] = l
		head.Length, head.Hash = l.Sequence, l.Hash
	}
	h.recorded[chain] = head
}

// AuditSnapshot implements [audit.Source].
func (h *history) AuditSnapshot(_ context.Context, heads func(audit.Head) error,
	links func(audit.Link) error) error {
	if err := h.ChangedHeads(context.Background(), time.Time{}, heads); err != nil {
		return err
	}
	for _, chain := range slices.Sorted(maps.Keys(h.links)) {
		for _, l := range h.links[chain] {
			if err := links(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// ChangedHeads implements [audit.HeadSource]. It returns all heads.
func (h *history) ChangedHeads(_ context.Context, _ time.Time, each func(audit.Head) error) error {
	for _, head := range h.recorded {
		if err := each(head); err != nil {
			return err
		}
	}
	return nil
}

// reopen opens the checkpoint file as a new process.
func (h *history) reopen(t *testing.T) {
	t.Helper()
	if h.checkpoints != nil {
		require.NoError(t, h.checkpoints.Close())
	}
	var err error
	h.checkpoints, err = audit.OpenCheckpointer(h.path, h.private)
	require.NoError(t, err)
	t.Cleanup(func() { _ = h.checkpoints.Close() }) // a test can close it first
}

func (h *history) checkpoint(t *testing.T) *audit.Checkpoint {
	t.Helper()
	c, err := h.checkpoints.Write(t.Context(), h, start)
	require.NoError(t, err)
	return c
}

func (h *history) verify(t *testing.T) *audit.Report {
	t.Helper()
	report, err := audit.Verify(t.Context(), h, audit.VerifyOptions{Path: h.path, Key: h.public})
	require.NoError(t, err)
	return report
}
