package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
)

const rootHelp = `Haggle lets two agents bargain over a price on Solana and settles the result from escrow.

The buyer escrows the most that it could pay and invites a seller; offers alternate, and each
costs the escrow a share; an offer that the other side takes is paid at once.

Amounts are tokens ("3.5") or base units of the mint ("3500000u"). Durations are "90s", "30m",
"1h30m" or "2d". Cluster and wallet come from the Solana tools' configuration unless flags
name others. With --json every command prints one JSON document per line, errors included.`

const rootExample = `  haggle localnet --dir chain                 # leave it running, go on in another terminal
  haggle -C chain/buyer.yml negotiation create --seller ADDRESS --mint ADDRESS --escrow 5 --service "Summarise a paper"
  haggle -C chain/seller.yml negotiation accept NEGOTIATION
  haggle -C chain/buyer.yml negotiation offer NEGOTIATION 2
  haggle -C chain/seller.yml negotiation take NEGOTIATION --expect 2`

// usualTimeout is long enough for a transaction to land or to expire.
const usualTimeout = 2 * time.Minute

// suggestionDistance is how many letters may be wrong in a command for another one to be suggested.
const suggestionDistance = 2

func newRootCommand(s *session) *cobra.Command {
	root := &cobra.Command{
		Use:           "haggle",
		Short:         "Negotiate on Solana",
		Long:          rootHelp,
		Example:       rootExample,
		Version:       version(),
		SilenceErrors: true,

		SuggestionsMinimumDistance: suggestionDistance,
		SilenceUsage:               true,
		Args:                       knownCommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.stdin)
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("haggle {{.Version}}\n")
	s.timeout = duration.Flag(usualTimeout)
	flags := root.PersistentFlags()
	s.connection.Register(flags)
	flags.BoolVar(&s.json, "json", false, "print JSON, one document per line")
	flags.Var(&s.timeout, "timeout", "give up after this long (0s: never); what goes on until Ctrl-C does so unless you say")

	root.AddCommand(
		newNegotiationCommand(s), newZopaCommand(s), newMilestoneCommand(s),
		newConfigCommand(s), newAdminCommand(s), newProgramCommand(s),
		newLocalnetCommand(s), newDemoCommand(s),
		newIndexerCommand(s), newKeeperCommand(s),
		newWalletCommand(s), newPolicyCommand(s), newAddressCommand(s), newAirdropCommand(s), newBalanceCommand(s),
		newVersionCommand(s), newExitCodesTopic())
	completeFlags(root)
	root.SetHelpCommand(newHelpCommand(root))
	return root
}

func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about a command", Long: "Prints the help of a command.",
		Example: "  haggle help negotiation create",
		RunE: func(_ *cobra.Command, arguments []string) error {
			cmd, rest, err := root.Find(arguments)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return knownCommand(cmd, rest)
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// negativeNumber is what a flag that begins with a digit was meant as.
var negativeNumber = regexp.MustCompile(`^unknown shorthand flag: '[0-9]' in (-.*)$`)

// flagError says better than the parser what is wrong with an amount below zero.
func flagError(_ *cobra.Command, err error) error {
	if found := negativeNumber.FindStringSubmatch(err.Error()); found != nil {
		return fmt.Errorf("%s: a negative amount is not possible", found[1])
	}
	return err
}

// newGroupCommand holds subcommands and does nothing itself.
func newGroupCommand(use, short, long string, members ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use: use, Short: short, Long: long, SuggestionsMinimumDistance: suggestionDistance,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(members...)
	return group
}

func knownCommand(cmd *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help"
	if similar := cmd.SuggestionsFor(arguments[0]); len(similar) > 0 {
		hint = "did you mean " + strings.Join(similar, " or ") + "?"
	}
	return &exitcode.Error{Kind: exitcode.Usage, Hint: hint, Err: fmt.Errorf("%s has no command %q", cmd.CommandPath(), arguments[0])}
}

// exactly wants so many arguments, named in the usage line.
func exactly(count int) cobra.PositionalArgs { return between(count, count) }

func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, arguments []string) error {
		if len(arguments) < least || len(arguments) > most {
			return fmt.Errorf("%d arguments given; the usage is: %s", len(arguments), cmd.UseLine())
		}
		return nil
	}
}

// limited runs a command that ends by itself, within --timeout.
func (s *session) limited(act func(ctx context.Context, arguments []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, arguments []string) error {
		ctx, cancel := s.withTimeout(cmd.Context())
		defer cancel()
		s.started = true
		return act(ctx, arguments)
	}
}

// unlimited runs a command that goes on until it is stopped, or until a --timeout that is given.
func (s *session) unlimited(act func(ctx context.Context, arguments []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, arguments []string) error {
		s.started = true
		if !cmd.Flags().Changed("timeout") {
			return act(cmd.Context(), arguments)
		}
		return s.limited(act)(cmd, arguments)
	}
}

func (s *session) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(s.timeout))
}

// required marks flags that a command cannot do without.
func required(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

// completeFlags tells the shell what the persistent flags can be.
func completeFlags(root *cobra.Command) {
	choices := map[string][]string{
		"url":        {"localhost", "devnet", "testnet", "mainnet-beta"},
		"commitment": {"confirmed", "finalized"},
	}
	root.PersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if words, found := choices[flag.Name]; found {
			_ = root.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	})
}
