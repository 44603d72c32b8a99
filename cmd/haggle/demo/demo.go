package demo

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/flags"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/demo"
)

const demoHelp = `Starts a local chain with the program, a mint, and two agents who have money; runs the binaries "seller"
and "buyer" as two processes that know each other by nothing but their addresses; and prints what they do
on chain until they have settled and closed.

In the end the chain is asked where everything has gone. The exit code is 0 only if the escrow was conserved
to the unit, both accounts are gone and all rent is back.`

func Command(s *session.Session) *cobra.Command {
	options := demo.Options{}
	var chain flags.Chain
	cmd := &cobra.Command{
		Use: "demo", Short: "Watch two agents bargain on a local chain", Long: demoHelp,
		Example: "  haggle demo\n  haggle demo --chain validator --svg offers.svg",
		Args:    command.Exactly(0),
	}
	chain.Register(cmd)
	cmd.Flags().StringVar(&options.Programs, "bin", "", "folder with the binaries buyer and seller (default: beside this one, otherwise they are built)")
	cmd.Flags().StringVar(&options.Plot, "svg", "", "file for a drawing of the offers")
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
