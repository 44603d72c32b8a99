// Package config has the commands of "haggle config".
package config

import (
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/session"
)

// Command returns "haggle config".
func Command(s *session.Session) *cobra.Command {
	return command.Group("config", "Initialize and show the protocol's configuration",
		"The configuration is one account for the whole protocol: its treasury, its fee, and the defaults of\nnew negotiations. (For the configuration of the Solana tools see --config.)",
		newConfigInitCommand(s), newConfigShowCommand(s))
}
