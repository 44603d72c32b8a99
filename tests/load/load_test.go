package load

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// TestTwentyPairs is a small run. It asserts the results, but asserts no durations.
func TestTwentyPairs(t *testing.T) {
	if !localnet.HasValidator(t.Context()) {
		t.Skip("no validator is installed: make validator builds one")
	}
	t.Setenv(localnet.EnvRPCURL, "")
	const pairs = 20
	result, err := Run(t.Context(), Options{Pairs: pairs, Transfers: 4, Progress: t.Output()})
	require.NoError(t, err)
	require.Empty(t, result.Findings)
	require.Equal(t, [stageCount]int{pairs, pairs, pairs, 0}, result.audit.open,
		"open negotiations after each stage")

	done, transfers := map[string]int{}, 0
	for i := range result.records.records {
		switch entry := &result.records.records[i]; {
		case entry.isTransfer() && entry.done:
			transfers++
		case entry.done:
			done[entry.action]++
		}
	}
	offers := 0
	for _, n := range result.negotiations {
		offers += len(n.script.offers)
	}
	require.Equal(t, map[string]int{
		"create_negotiation": pairs, "accept_invitation": pairs, "submit_offer": offers,
		"accept_offer":       pairs * 3 / 4,
		"reject_negotiation": pairs / 4, "close_negotiation": pairs,
	}, done)
	require.Equal(t, 4*pairs+offers, len(result.blocks.program)-result.statistics().failed)
	require.Positive(t, transfers)
	require.Len(t, result.blocks.plain, transfers)

	locks := result.audit.locks
	require.Equal(t, pairs, locks.negotiations)
	require.Empty(t, locks.shared)
	for _, account := range locks.common {
		require.Zero(t, account.written, "%s is written before the closings", result.name(account))
	}
	require.Contains(t, namesOf(result, locks.common), "the protocol's configuration",
		"every creation reads it")
	require.ElementsMatch(t, []string{"the protocol's configuration", "the treasury's token account"},
		namesOf(result, locks.atClose))

	path := filepath.Join(t.TempDir(), "LOAD.md")
	require.NoError(t, result.Write(path))
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(page), "There was no difference.")
	require.Contains(t, string(page), "](load.svg)")
	for _, block := range strings.Split(strings.TrimSpace(string(page)), "\n\n") {
		if rows := strings.Split(block, "\n"); strings.HasPrefix(rows[0], "|") {
			require.Regexp(t, `^\|(-+:?\|)+$`, rows[1], "a table's head")
			for _, row := range rows[2:] {
				require.Equal(t, strings.Count(rows[0], "|"), strings.Count(row, "|"), row)
			}
		} else {
			require.NotContains(t, block, "\n|", "a table without a blank line before it")
		}
	}
	require.FileExists(t, filepath.Join(filepath.Dir(path), "load.svg"))
	require.FileExists(t, filepath.Join(filepath.Dir(path), "load.csv"))
}

func namesOf(result *Result, accounts []commonAccount) []string {
	names := map[string]bool{}
	for _, account := range accounts {
		names[result.name(account)] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func TestOptions(t *testing.T) {
	options, err := Options{}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, [3]int{1000, 1000, 1000}, [3]int{options.Pairs, options.InFlight, options.Transfers})
	options, err = Options{Pairs: 5_000}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, [2]int{1000, 1000}, [2]int{options.InFlight, options.Transfers})
	for _, wrong := range []Options{{Pairs: -1}, {InFlight: -1}, {Transfers: -1}, {Pairs: maxPairs + 1}} {
		_, err := Run(context.Background(), wrong)
		require.Error(t, err)
	}
}
