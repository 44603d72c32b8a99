package jobs_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/jobs"
)

// TestAStopLogsNoError stops at several moments in the first seconds, while River starts services.
func TestAStopLogsNoError(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		for _, after := range []time.Duration{0, 200 * time.Millisecond, 700 * time.Millisecond, 2 * time.Second} {
			var written bytes.Buffer
			running, err := jobs.Start(t.Context(), jobs.Config{
				Store: f.Store, Logger: slog.New(slog.NewTextHandler(&written, nil)),
			})
			require.NoError(t, err)
			time.Sleep(after)
			require.NoError(t, running.Stop(context.Background()))
			require.NotContains(t, written.String(), "level=ERROR", "after %s", after)
		}
	})
}
