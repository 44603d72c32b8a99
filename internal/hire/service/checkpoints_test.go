package service_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
)

// A process's last checkpoint covers every message, and another process continues the file.
func TestCheckpointsCoverAllMessages(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		signer := hiretest.NewAgent()
		path := filepath.Join(t.TempDir(), "checkpoints.jsonl")
		h.config.Checkpoints = &service.Checkpoints{Path: path, Key: signer.Key}
		for sequence := range uint64(2) {
			h.reopen(t)
			stop := h.run(t)
			stopOther := h.another(t).run(t) // one process waits for the file
			h.agree(t, h.talk())
			stop()
			stopOther()
			report, err := audit.Verify(t.Context(), h.config.Store, audit.VerifyOptions{Path: path, Key: signer.Public()})
			require.NoError(t, err)
			require.Empty(t, report.Findings)
			require.Zero(t, report.Uncovered)
			require.Greater(t, report.Checkpoints, sequence)
		}
	})
}
