// Package demo has the commands of "haggle demo".
package demo

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/agentrun/buyer"
	"github.com/haggle-protocol/haggle/internal/cli/agentrun/seller"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/demo"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/flags"
	"github.com/haggle-protocol/haggle/internal/cli/roundrobin"
	"github.com/haggle-protocol/haggle/internal/cli/session"
)

const demoHelp = `Starts a local chain with the program, a mint and two funded agents; runs an example buyer and an example
seller as two processes that know only each other's address; and prints their actions on chain until the
negotiation is settled and closed.

At the end the command checks all balances on chain. The exit code is 0 only if the escrow was conserved to
the unit, both accounts are closed and all rent was returned.

With --strategies eight strategies play instead, each as a buyer and as a seller against every other one: 56
negotiations at the same time. A simulation first predicts all offers and outcomes. The exit code is 0 only
if those on chain, and the balances of all parties, are equal to them to the unit. The strategies of the
simulation are those of the agents: this checks the program, the SDK and the agents, and not the strategies.
NegMAS, which implements five of these strategies separately, has also predicted the 20 negotiations between
them: docs/NEGMAS_DOMAINS.md lists its offers, and the reasons why it cannot predict the other 36.`

// Command returns "haggle demo".
func Command(s *session.Session) *cobra.Command {
	options := demo.Options{}
	var folder, svg string
	var chain flags.Chain
	var strategies bool
	var seed uint64
	cmd := &cobra.Command{
		Use: "demo", Short: "Watch two agents bargain on a local chain", Long: demoHelp,
		Example: "  haggle demo\n  haggle demo --chain validator --svg offers.svg\n  haggle demo --strategies",
	}
	chain.Register(cmd)
	cmd.Flags().StringVar(&folder, "bin", "", "folder with other binaries buyer and seller (default: the example agents in this binary)")
	cmd.Flags().StringVar(&svg, "svg", "", "file for a plot of the offers, as SVG")
	cmd.Flags().BoolVar(&strategies, "strategies", false, "play eight strategies against each other, and compare with a simulation")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "with --strategies: seed of the strategies' random numbers")
	cmd.MarkFlagsMutuallyExclusive("strategies", "bin")
	cmd.MarkFlagsMutuallyExclusive("strategies", "svg")
	command.Documents(cmd, append(demo.Documents(), roundrobin.Match{})...)
	cmd.RunE = s.Unlimited(func(ctx context.Context, _ []string) error {
		if cmd.Flags().Changed("seed") && !strategies {
			return exitcode.Requires("--seed", "--strategies", "")
		}
		kind, err := chain.Kind()
		if err != nil {
			return err
		}
		if strategies {
			return roundrobin.Run(ctx, roundrobin.Options{
				Out: s.Stdout, Progress: s.Stderr, JSON: s.JSON, Chain: kind, Seed: seed,
			})
		}
		options.Out, options.Progress = s.Stdout, s.Stderr
		options.JSON, options.Colour, options.Chain = s.JSON, s.Colourful(), kind
		return play(ctx, options, folder, svg)
	})
	return cmd
}

// play runs the demonstration, and draws it to the file svg. The agents are the binaries in folder; if folder
// is "", this binary's subcommands.
func play(ctx context.Context, options demo.Options, folder, svg string) (err error) {
	drawing, err := openDrawing(svg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drawing.finish()) }()
	programs, err := findPrograms(folder)
	if err != nil {
		return err
	}
	options.Agents = programs.play
	account, err := demo.Run(ctx, options)
	if err != nil {
		return err
	}
	return drawing.draw(account)
}

// RunAgent runs an example agent and exits if the arguments belong to a demonstration process: "demo buyer
// ..." or "demo seller ...". Otherwise it returns.
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
