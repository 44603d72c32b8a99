package faults_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/haggle-protocol/haggle/tests/faults/proxy"
)

// Agents whose nodes fail, lag and lose responses, and whose processes are killed, complete every
// negotiation, repeat no action, miss no event and leave nothing unfinished.
func TestAgentsSurviveFaultsAndKills(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := scaleOf(t)
	t.Logf("%d negotiations by %d buyers and %d sellers in %d processes; play it again with %s=%d",
		s.negotiations, s.buyers, s.sellers, s.processes, envSeed, s.seed)
	t.Run("run", func(t *testing.T) { survive(t, s) })
}

func survive(t *testing.T, s scale) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), s.limit, fmt.Errorf("not done after %s", s.limit))
	defer cancel()
	st := newFixture(t, ctx, s)

	listening, deaf := context.WithCancel(ctx)
	defer deaf()
	var err error
	st.listeners, err = listen(listening, st.plan)
	require.NoError(t, err)
	defer func() {
		deaf()
		st.listeners.running.Wait()
		require.NoError(t, st.listeners.client.Close())
	}()

	st.workers.start(ctx, s.seed)
	killing, spare := context.WithCancel(ctx)
	st.workers.running.Go(func() { st.workers.kill(killing, s.kills, s.seed) })
	ended := st.awaitTheEnd(ctx)
	spare()
	if ended == nil {
		ended = st.awaitTheRepetitions(ctx)
	}
	if ended == nil {
		st.awaitTheListeners(ctx)
	} else {
		cancel()
	}
	finished := st.workers.finish()
	st.showOutput(ended != nil || finished != nil)
	require.NoError(t, ended)
	require.NoError(t, finished)

	a := &audit{fixture: st}
	require.NoError(t, a.everything(ctx))
	counts := st.counts()
	r := newResults(t, a, counts)
	t.Log("\n" + r.page(t))
	st.showOutput(len(a.findings) > 0)
	require.Empty(t, a.findings, strings.Join(a.findings, "\n"))
	require.Empty(t, st.listeners.failed, "subscriptions that have ended by themselves")
	require.GreaterOrEqual(t, counts.FaultyShare(), faultyLeast)
	require.Positive(t, counts.Lies[proxy.LieValidHeight], "no lie was told")
	anytime, sending := st.workers.kills()
	require.Positive(t, anytime+sending, "no process was killed")
	if path := os.Getenv(envReport); path != "" {
		require.NoError(t, os.WriteFile(path, []byte(r.page(t)), 0o644))
	}
}

// showOutput fails if any process reports an error such as a data race, and shows a failed run's log.
func (s *fixture) showOutput(wrong bool) {
	s.t.Helper()
	for host := range s.plan.Hosts {
		output, err := os.ReadFile(s.plan.outputFile(host))
		require.NoError(s.t, err)
		if len(bytes.TrimSpace(output)) > 0 {
			s.t.Errorf("host %d has written:\n%s", host, output)
		}
		if wrong {
			log, err := os.ReadFile(s.plan.logFile(host))
			s.t.Logf("the log of host %d (%v):\n%s", host, err, tail(log))
		}
	}
}

const logShown = 16 << 10

func tail(log []byte) []byte { return log[max(0, len(log)-logShown):] }
