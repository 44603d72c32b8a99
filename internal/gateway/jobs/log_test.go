package jobs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyTheCancelledStatementsOfAStopAreNotLogged(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	var written bytes.Buffer
	logger := quiet(slog.New(slog.NewTextHandler(&written, nil))).With("service", "river")
	lines := func(log func()) string {
		written.Reset()
		log()
		return written.String()
	}
	canceled := errors.New("begin: context canceled").Error()
	require.Empty(t, lines(func() { logger.InfoContext(t.Context(), "started") }))
	require.Empty(t, lines(func() { logger.ErrorContext(stopped, "insert", "jobs", 3, "error", canceled) }))
	require.Empty(t, lines(func() { logger.ErrorContext(stopped, "commit", "error", "conn closed") }))
	running := lines(func() { logger.ErrorContext(t.Context(), "insert", "error", canceled) })
	require.Contains(t, running, "insert")
	full := lines(func() { logger.ErrorContext(stopped, "insert", "error", "disk full") })
	require.Contains(t, full, "disk full")
	require.Contains(t, lines(func() { logger.WarnContext(stopped, "slow") }), "slow")
}
