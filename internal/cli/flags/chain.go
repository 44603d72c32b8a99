package flags

import (
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// Chain selects the kind of local chain that a command starts. The zero value leaves the kind to the
// environment.
type Chain struct{ kind string }

// Register adds --chain.
func (c *Chain) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.kind, "chain", "", "process or validator (default: process)")
	command.Choices(cmd, "chain", string(localnet.Process), string(localnet.Validator))
}

// Kind returns the kind. It refuses unknown kinds before anything is built.
func (c *Chain) Kind() (localnet.Kind, error) {
	switch kind := localnet.Kind(c.kind); kind {
	case "", localnet.Process, localnet.Validator:
		return kind, nil
	}
	return "", exitcode.Usagef("--chain: %q is neither %s nor %s", c.kind, localnet.Process, localnet.Validator)
}
