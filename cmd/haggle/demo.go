package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/haggle-protocol/haggle/internal/demo"
	"github.com/haggle-protocol/haggle/internal/testchain"
)

const demoHelp = `Starts a local chain with the program, a mint, and two agents who have money; runs the binaries "seller"
and "buyer" as two processes that know each other by nothing but their addresses; and prints what they do
on chain until they have settled and closed.

In the end the chain is asked where everything has gone. The exit code is 0 only if the escrow was conserved
to the unit, both accounts are gone and all rent is back.`

func newDemoCommand(s *session) *cobra.Command {
	options := demo.Options{}
	var kind string
	cmd := &cobra.Command{
		Use: "demo", Short: "Watch two agents bargain on a local chain", Long: demoHelp,
		Example: "  haggle demo\n  haggle demo --chain validator --svg offers.svg",
		Args:    exactly(0),
	}
	cmd.Flags().StringVar(&kind, "chain", "", "surfpool (embedded, the default) or validator (solana-test-validator)")
	cmd.Flags().StringVar(&options.Programs, "bin", "", "folder with the binaries buyer and seller (default: beside this one, otherwise they are built)")
	cmd.Flags().StringVar(&options.Plot, "svg", "", "file for a drawing of the offers")
	_ = cmd.RegisterFlagCompletionFunc("chain", cobra.FixedCompletions([]string{"surfpool", "validator"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = s.unlimited(func(ctx context.Context, _ []string) error {
		if err := knownChain(kind); err != nil {
			return err
		}
		options.Out, options.Progress = s.stdout, s.stderr
		options.JSON, options.Colour, options.Chain = s.json, s.colourful(), testchain.Kind(kind)
		return demo.Run(ctx, options)
	})
	return cmd
}

// colourful says whether the output is a terminal whose user has not asked for plain text (https://no-color.org).
func (s *session) colourful() bool {
	file, isFile := s.stdout.(*os.File)
	return isFile && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}
