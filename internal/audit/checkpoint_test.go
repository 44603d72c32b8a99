package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
)

// A shortened chain, or a chain with another head, is not signed.
func TestShortenedChainIsNotSigned(t *testing.T) {
	h := newHistory(t)
	before, err := os.ReadFile(h.path)
	require.NoError(t, err)
	h.recorded["a"] = audit.Head{Chain: "a", Length: 3, Hash: h.links["a"][2].Hash}
	_, err = h.checkpoints.Write(t.Context(), h, start)
	require.ErrorContains(t, err, "chain a: checkpoint not signed: it has 3 entries")
	h.rewrite("a", 5)
	_, err = h.checkpoints.Write(t.Context(), h, start)
	require.ErrorContains(t, err, "chain a: checkpoint not signed: it has 5 entries and head "+
		h.recorded["a"].Hash)
	after, err := os.ReadFile(h.path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// The checkpoint file cannot be changed either.
func TestChangedCheckpointFileIsFound(t *testing.T) {
	h := newHistory(t)
	h.checkpoint(t)
	h.append(t, "a", "six")
	h.checkpoint(t)
	whole, err := os.ReadFile(h.path)
	require.NoError(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	require.Len(t, lines, 4)
	_, other, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	forged := h.path + ".forged"
	c, err := audit.OpenCheckpointer(forged, other)
	require.NoError(t, err)
	_, err = c.Write(t.Context(), h, start)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	foreign, err := os.ReadFile(forged)
	require.NoError(t, err)
	// The key signs a second continuation of the first checkpoint.
	fork := &history{links: h.links, recorded: h.recorded, path: h.path + ".fork", private: h.private}
	require.NoError(t, os.WriteFile(fork.path, lines[0], 0o600))
	fork.reopen(t)
	for _, kind := range []string{"seven", "eight"} {
		fork.append(t, "a", kind)
		fork.checkpoint(t)
	}
	forked, err := os.ReadFile(fork.path)
	require.NoError(t, err)
	second := bytes.SplitAfter(forked, []byte("\n"))
	for problem, content := range map[string][]byte{
		"line 1: heads do not have the signed digest": bytes.Replace(whole, []byte(`"length":5`),
			[]byte(`"length":4`), 1),
		"line 1: invalid signature": bytes.Replace(whole, []byte(`"count":3`),
			[]byte(`"count":2`), 1),
		"line 1: sequence is 2, want 1":                    bytes.Join(lines[1:], nil),
		"line 2: sequence is 3, want 2":                    bytes.Join([][]byte{lines[0], lines[2]}, nil),
		"line 3: does not follow the checkpoint before it": bytes.Join([][]byte{lines[0], lines[1], second[2]}, nil),
		"line 1: signed with another key":                  foreign,
		"line 1: invalid JSON":                             append([]byte("x"), whole...),
		"ends with checkpoint 2, but checkpoint 3":         bytes.Join(lines[:2], nil),
	} {
		require.NoError(t, os.WriteFile(h.path, content, 0o600))
		report, err := audit.Verify(t.Context(), h,
			audit.VerifyOptions{Path: h.path, Key: h.public, MinSequence: 3})
		require.NoError(t, err)
		require.NotEmpty(t, report.Findings, problem)
		require.Equal(t, audit.BadCheckpoint, report.Findings[0].Problem)
		require.Contains(t, report.Findings[0].String(), problem)
	}
}

// A process killed during a write leaves an incomplete line, and the next process removes it.
func TestIncompleteCheckpointIsRemoved(t *testing.T) {
	h := newHistory(t)
	_, err := audit.OpenCheckpointer(h.path, h.private)
	require.ErrorIs(t, err, audit.ErrLocked)
	whole, err := os.ReadFile(h.path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(h.path, append(whole, whole[:40]...), 0o600))
	require.Empty(t, h.verify(t).Findings)
	h.reopen(t)
	h.checkpoint(t)
	report := h.verify(t)
	require.EqualValues(t, 2, report.Checkpoints)
	require.Empty(t, report.Findings)

	_, other, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	require.NoError(t, h.checkpoints.Close())
	_, err = audit.OpenCheckpointer(h.path, other)
	var invalid *audit.CheckpointError
	require.True(t, errors.As(err, &invalid))
	require.Equal(t, 1, invalid.Line)
}
