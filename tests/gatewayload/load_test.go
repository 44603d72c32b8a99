package gatewayload

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestShortRun is a small run. It asserts that nothing is lost or doubled, but asserts no durations.
func TestShortRun(t *testing.T) {
	program := filepath.Join(t.TempDir(), "haggle")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/haggle").
		CombinedOutput()
	require.NoError(t, err, "%s", output)
	result, err := Run(t.Context(), Options{
		Program: program, Publishers: 40, Clients: 1000, Workers: 4, Processes: 2, Windows: 1, Lasting: time.Second,
		Progress: t.Output(),
	})
	require.NoError(t, err)
	require.Empty(t, result.Findings)
	require.Equal(t, limitResults{
		open: limitTry{sent: 100, created: 60, refused: 40}, hour: limitTry{sent: 240, created: 200, refused: 40},
	}, result.limits)
	require.True(t, result.verified.Valid)
	require.Equal(t, result.rows.negotiations, result.verified.Chains)
	require.Greater(t, result.rows.negotiations, 260, "the workers have negotiated, too")
	for _, mode := range modes {
		gateway, pgbench := together(
			result.measured[mode.fsync].gateway,
		), together(
			result.measured[mode.fsync].pgbench,
		)
		require.Positive(t, gateway.count())
		require.Positive(t, pgbench.count())
	}
	for at, statements := range result.script.statements {
		require.GreaterOrEqual(t, statements, 4, "step %d has BEGIN, a lock, the writes and COMMIT", at)
	}

	path := filepath.Join(t.TempDir(), "GATEWAY_LOAD.md")
	require.NoError(t, result.Write(path))
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(page), "no round is lost or doubled")
	for _, block := range strings.Split(strings.TrimSpace(string(page)), "\n\n") {
		rows := strings.Split(block, "\n")
		if !strings.HasPrefix(rows[0], "|") {
			require.NotContains(t, block, "\n|", "a table without a blank line before it")
			continue
		}
		require.Regexp(t, `^\|(-+:?\|)+$`, rows[1], "a table's head")
		for _, row := range rows[2:] {
			require.Equal(t, strings.Count(rows[0], "|"), strings.Count(row, "|"), row)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, example := range []struct {
		options Options
		want    string
	}{
		{Options{}, "program not set"},
		{Options{Program: "haggle", Workers: 81}, "use 1 to 80 workers"},
		{Options{Program: "haggle", Publishers: 3}, "use at least 20 and 56"},
		{Options{Program: "haggle", Lasting: 1500 * time.Millisecond}, "use whole seconds"},
	} {
		_, err := Run(t.Context(), example.options)
		require.ErrorContains(t, err, example.want)
	}
}

// Missed names each missed target with the figure of the run.
func TestMissedTargets(t *testing.T) {
	windows := func(perSecond float64, took time.Duration) []window {
		w := window{lasted: time.Second, perSecond: perSecond}
		w.add(counter, took)
		return []window{w}
	}
	pgbench := windows(1000, 10*time.Millisecond)
	r := Result{measured: map[bool]*measurements{
		true:  {gateway: windows(600, 30*time.Millisecond), pgbench: pgbench},
		false: {gateway: windows(590, 31*time.Millisecond), pgbench: pgbench},
	}}
	require.Equal(t, []string{
		"no waiting for the disk (fsync off): 0.59 of pgbench's rate, less than 0.6",
		"no waiting for the disk (fsync off): 3.1 times pgbench's 99th percentile, more than 3",
	}, r.Missed())
}
