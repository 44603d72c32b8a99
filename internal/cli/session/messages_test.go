package session_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/session"
)

// A logger and the progress report write from several goroutines. The race detector finds writes at the same time.
func TestMessagesAreWrittenOneAfterTheOther(t *testing.T) {
	var out bytes.Buffer
	s := &session.Session{Stderr: &out}
	defer s.ShowProgress("starting")()
	logger := s.Logger(slog.LevelInfo)
	const each = 100
	var writing sync.WaitGroup
	writing.Go(func() {
		for range each {
			s.Report("working")
		}
	})
	writing.Go(func() {
		for range each {
			logger.Info("waiting")
		}
	})
	writing.Wait()
	require.Equal(t, each, strings.Count(out.String(), "working ("))
	require.Equal(t, each, strings.Count(out.String(), "msg=waiting\n"))
}
