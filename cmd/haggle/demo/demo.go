// Package demo has the commands of "haggle demo".
package demo

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/flags"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/demo"
	"github.com/haggle-protocol/haggle/internal/exampleagent/buyer"
	"github.com/haggle-protocol/haggle/internal/exampleagent/seller"
)

const demoHelp = `Starts a local chain with the program, a mint and two funded agents; runs an example buyer and an example
seller as two processes that know only each other's address; and prints their actions on chain until the
negotiation is settled and closed.

At the end the command checks all balances on chain. The exit code is 0 only if the escrow was conserved to
the unit, both accounts are closed and all rent was returned.`

// Command returns "haggle demo".
func Command(s *session.Session) *cobra.Command {
	options := demo.Options{}
	var chain flags.Chain
	cmd := &cobra.Command{
		Use: "demo", Short: "Watch two agents bargain on a local chain", Long: demoHelp,
		Example: "  haggle demo\n  haggle demo --chain validator --svg offers.svg",
		Args:    command.Exactly(0),
	}
	chain.Register(cmd)
	cmd.Flags().StringVar(&options.Programs, "bin", "", "folder with other binaries buyer and seller (default: the example agents in this binary)")
	cmd.Flags().StringVar(&options.Plot, "svg", "", "file for a plot of the offers, as SVG")
	command.Documents(cmd, demo.Documents()...)
	cmd.RunE = s.Unlimited(func(ctx context.Context, _ []string) error {
		kind, err := chain.Kind()
		if err != nil {
			return err
		}
		options.Out, options.Progress = s.Stdout, s.Stderr
		options.JSON, options.Colour, options.Chain = s.JSON, s.Colourful(), kind
		return demo.Run(ctx, options)
	})
	return cmd
}

// RunAgent runs an example agent and exits if the arguments are those of a process of the demonstration:
// "demo buyer ..." or "demo seller ...". Otherwise it returns.
func RunAgent(arguments []string) {
	if len(arguments) < 2 || arguments[0] != "demo" {
		return
	}
	switch arguments[1] {
	case "buyer":
		buyer.Main(arguments[2:])
	case "seller":
		seller.Main(arguments[2:])
	}
}
