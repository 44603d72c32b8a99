package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/session"
)

// longestLine keeps the help readable in a terminal of usual width.
const longestLine = 110

func everyCommand(t *testing.T, visit func(cmd *cobra.Command)) {
	t.Helper()
	root := newRootCommand(&session.Session{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		visit(cmd)
		for _, member := range cmd.Commands() {
			walk(member)
		}
	}
	walk(root)
}

func TestEveryCommandHasHelp(t *testing.T) {
	count := 0
	everyCommand(t, func(cmd *cobra.Command) {
		count++
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		require.NotEmpty(t, cmd.Long, cmd.CommandPath())
		if cmd.Runnable() && !cmd.HasSubCommands() {
			require.Contains(t, cmd.Example, cmd.CommandPath(), "the example of %s shows it", cmd.CommandPath())
		}
		for _, line := range strings.Split(cmd.Long, "\n") {
			require.LessOrEqual(t, len(line), longestLine, line)
		}
	})
	require.Greater(t, count, 20)
}

func TestEveryFlagHasAUsage(t *testing.T) {
	everyCommand(t, func(cmd *cobra.Command) {
		for _, line := range strings.Split(strings.TrimSpace(cmd.Flags().FlagUsages()), "\n") {
			if line != "" {
				require.Greater(t, len(strings.Fields(line)), 2, "%s: %s", cmd.CommandPath(), line)
			}
		}
	})
}
