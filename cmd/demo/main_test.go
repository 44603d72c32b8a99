package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
)

func TestTheDemonstrationSettles(t *testing.T) {
	t.Setenv(localnet.EnvRPCURL, "")
	var out, progress bytes.Buffer
	require.Zero(t, run(t.Context(), nil, &out, &progress), progress.String())
	require.Contains(t, out.String(), "seller  offer accepted           7  3.295533")
	require.Contains(t, out.String(), "3.295533 |                                        B  accepted\n")
	require.Contains(t, out.String(),
		"\nescrow 5.000000 = paid 3.279056 + fee 0.016477 + decay 0.501956 + refund 1.202511 TEST\nsettled, closed, and conserved to the unit\n")
	require.NotContains(t, out.String(), "\x1b")
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, len(line), 101)
	}
}

func TestTheDemonstrationAsJSON(t *testing.T) {
	t.Setenv(localnet.EnvRPCURL, "")
	var out, progress bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"--json"}, &out, &progress), progress.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 12, "11 actions and the account")
	for _, line := range lines {
		require.True(t, json.Valid([]byte(line)), line)
	}
	require.Contains(t, lines[11], `"accounts_gone":true`)
}

func TestArguments(t *testing.T) {
	var out, progress bytes.Buffer
	require.Equal(t, misused, run(t.Context(), []string{"--chian"}, &out, &progress))
	require.Equal(t, misused, run(t.Context(), []string{"now"}, &out, &progress))
	require.Equal(t, "demo: unknown flag: --chian\n\nSee demo --help.\ndemo: unexpected argument \"now\"\n\nSee demo --help.\n",
		progress.String())
	require.Empty(t, out.String())
	require.Zero(t, run(t.Context(), []string{"--help"}, &out, &progress))
	require.Contains(t, out.String(), "      --json   print each action and the balances as a JSON document\n")
}

func TestInterrupted(t *testing.T) {
	t.Setenv(localnet.EnvRPCURL, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, progress bytes.Buffer
	require.Equal(t, interrupted, run(ctx, nil, &out, &progress))
	require.Equal(t, "demo: interrupted\n", progress.String())
}
