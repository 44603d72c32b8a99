package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/session"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// version returns the module version from the build information, with the commit if built from a checkout.
func version() string {
	info, known := debug.ReadBuildInfo()
	if !known {
		return "unknown"
	}
	text := info.Main.Version
	if text == "" || text == "(devel)" {
		text = "development"
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && !strings.Contains(text, setting.Value[:min(12, len(setting.Value))]) {
			text += " " + setting.Value
		}
	}
	return text
}

type versionView struct {
	Version string `json:"version"`
	// Program is the on-chain program's address.
	Program string `json:"program"`
}

func newVersionCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version and the program's address",
		Long:    "Prints the version of this binary and the address of the on-chain program.",
		Example: "  haggle version --json | jq -r .program",
	}
	command.Documents(cmd, versionView{})
	cmd.RunE = s.Limited(func(context.Context, []string) error {
		v := versionView{version(), protocol.ProgramAddress}
		return s.Print(v, "haggle "+v.Version, "program "+v.Program)
	})
	return cmd
}

// newExitCodesTopic returns a page of the help.
func newExitCodesTopic() *cobra.Command {
	var page strings.Builder
	page.WriteString("The exit code tells a script the outcome of a command:\n\n")
	for _, known := range exitcode.Kinds {
		fmt.Fprintf(&page, "  %3d  %-18s  %s\n", known.Kind, known.Name, known.Meaning)
	}
	page.WriteString(`
Errors go to stderr, with --json as documents:

  {"error":{"exit_code":3,"code":6002,"name":"NotYourTurn","message":"...","hint":"...","logs":[...]}}

"code" and "name" are the program's error (exit code 3), "hint" is the next step, and "denial" has the rule,
the amounts and the limit of a policy (exit code 10).`)
	return &cobra.Command{Use: "exit-codes", Short: "The exit codes", Long: page.String()}
}
