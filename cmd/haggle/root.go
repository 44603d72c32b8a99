package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/cmd/haggle/analyze"
	"github.com/haggle-protocol/haggle/cmd/haggle/hire"
	"github.com/haggle-protocol/haggle/cmd/haggle/index"
	"github.com/haggle-protocol/haggle/cmd/haggle/keeper"
	"github.com/haggle-protocol/haggle/cmd/haggle/policy"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/cmd/haggle/admin"
	"github.com/haggle-protocol/haggle/cmd/haggle/advise"
	"github.com/haggle-protocol/haggle/cmd/haggle/agent"
	"github.com/haggle-protocol/haggle/cmd/haggle/arena"
	"github.com/haggle-protocol/haggle/cmd/haggle/audit"
	"github.com/haggle-protocol/haggle/cmd/haggle/config"
	"github.com/haggle-protocol/haggle/cmd/haggle/demo"
	"github.com/haggle-protocol/haggle/cmd/haggle/doctor"
	"github.com/haggle-protocol/haggle/cmd/haggle/license"
	"github.com/haggle-protocol/haggle/cmd/haggle/localnet"
	"github.com/haggle-protocol/haggle/cmd/haggle/mcp"
	"github.com/haggle-protocol/haggle/cmd/haggle/milestone"
	"github.com/haggle-protocol/haggle/cmd/haggle/negotiation"
	"github.com/haggle-protocol/haggle/cmd/haggle/program"
	"github.com/haggle-protocol/haggle/cmd/haggle/serve"
	"github.com/haggle-protocol/haggle/cmd/haggle/simulate"
	"github.com/haggle-protocol/haggle/cmd/haggle/suggest"
	"github.com/haggle-protocol/haggle/cmd/haggle/tournament"
	"github.com/haggle-protocol/haggle/cmd/haggle/verify"
	"github.com/haggle-protocol/haggle/cmd/haggle/wallet"
	"github.com/haggle-protocol/haggle/cmd/haggle/zopa"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
)

const rootHelp = `Haggle lets two agents bargain over a price on Solana and settles the result from escrow.

The buyer escrows the maximum price and invites a seller; offers alternate, and each costs the
escrow a share; an accepted offer is paid at once.

Amounts are tokens ("3.5") or base units of the mint ("3500000u"). Durations are "90s", "30m",
"1h30m" or "2d". The Solana tools' configuration has the default cluster and wallet. With --json
every command prints one JSON document per line; errors and progress go to stderr as documents.
Commands that take longer than two seconds report their progress on stderr.`

const rootExample = `  haggle localnet --dir chain                 # keep it running; use another terminal for the rest
  haggle -C chain/buyer.yml negotiation create --seller ADDRESS --mint ADDRESS --escrow 5 --service "Summarise a paper"
  haggle -C chain/seller.yml negotiation accept-invitation NEGOTIATION
  haggle -C chain/buyer.yml negotiation offer NEGOTIATION 2
  haggle -C chain/seller.yml negotiation accept-offer NEGOTIATION --price 2`

// usualTimeout is long enough for a transaction to land or to expire.
const usualTimeout = 2 * time.Minute

func newRootCommand(s *session.Session) *cobra.Command {
	root := &cobra.Command{
		Use:           "haggle",
		Short:         "Negotiate on Solana",
		Long:          rootHelp,
		Example:       rootExample,
		Version:       version(),
		SilenceErrors: true,

		SuggestionsMinimumDistance: command.SuggestionDistance,
		SilenceUsage:               true,
		Args:                       command.Known,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.Stdin)
	root.SetOut(s.Stdout)
	root.SetErr(s.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("haggle {{.Version}}\n")
	s.Timeout = duration.Flag(usualTimeout)
	flags := root.PersistentFlags()
	s.Connection.Register(flags)
	s.Connection.RegisterJournal(flags)
	flags.BoolVar(&s.JSON, "json", false, "print JSON, one document per line")
	flags.Var(&s.Timeout, "timeout", "time limit (0s: none); commands that run until Ctrl-C have none by default")

	root.AddCommand(
		negotiation.Command(s), zopa.Command(s), milestone.Command(s),
		config.Command(s), admin.Command(s), program.Command(s),
		localnet.Command(s), demo.Command(s), doctor.Command(s),
		agent.Command(s), agent.BuyCommand(s), verify.Command(s), advise.Command(s), suggest.Command(s), simulate.Command(s), tournament.Command(s),
		index.Command(s), analyze.Command(s), keeper.Command(s), mcp.Command(s, version()),
		serve.Command(s, version()), serve.GatewayCommand(s), audit.Command(s), license.Command(s), hire.Command(s, version()), arena.Command(s, version()),
		wallet.Command(s), policy.Command(s), wallet.AddressCommand(s), wallet.AirdropCommand(s), wallet.BalanceCommand(s),
		newVersionCommand(s), newExitCodesTopic())
	command.CheckArguments(root)
	command.Choices(root, "url", "localhost", "devnet", "testnet", "mainnet-beta")
	command.Choices(root, "commitment", "confirmed", "finalized")
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
				return command.Known(cmd, rest)
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// The errors returned by cobra for flags that exclude or require each other.
var (
	exclusiveFlags = regexp.MustCompile(
		`^if any flags in the group \[.*\] are set none of the others can be; \[(\S+) (.*)\] were all set$`)
	commonFlags = regexp.MustCompile(
		`^if any flags in the group \[(.*)\] are set they must all be set; missing \[(.*)\]$`)
)

// flagGroupError rewrites cobra's flag group errors in the style used by the commands.
func flagGroupError(err error) error {
	flags := func(names string) string { return "--" + strings.Join(strings.Fields(names), " and --") }
	if match := exclusiveFlags.FindStringSubmatch(err.Error()); match != nil {
		return exitcode.Excludes("--"+match[1], flags(match[2]), "")
	}
	if match := commonFlags.FindStringSubmatch(err.Error()); match != nil {
		missing := strings.Fields(match[2])
		for _, name := range strings.Fields(match[1]) {
			if !slices.Contains(missing, name) {
				return exitcode.Requires("--"+name, flags(match[2]), "")
			}
		}
	}
	return err
}

var (
	// negativeNumber matches the parser's error for a negative amount, misread as a flag.
	negativeNumber = regexp.MustCompile(`^unknown shorthand flag: '[0-9]' in (-.*)$`)
	// wrongValue matches the parser's error for a flag value, and wrongNumber the cause if it is a number.
	wrongValue  = regexp.MustCompile(`(?s)^invalid argument ".*" for "(?:-\w, )?(--[\w-]+)" flag: (.*)$`)
	wrongNumber = regexp.MustCompile(`(?s)^strconv\.Parse(Int|Uint): parsing (".*"): (.*)$`)
)

// flagError replaces the parser's errors for values.
func flagError(_ *cobra.Command, err error) error {
	if found := negativeNumber.FindStringSubmatch(err.Error()); found != nil {
		return fmt.Errorf("%s: must not be negative", found[1])
	}
	found := wrongValue.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	number := wrongNumber.FindStringSubmatch(found[2])
	switch {
	case number == nil:
		return fmt.Errorf("%s: %s", found[1], found[2])
	case strings.HasSuffix(number[3], "out of range"):
		return fmt.Errorf("%s: %s is too large", found[1], number[2])
	case number[1] == "Uint":
		return fmt.Errorf("%s: %s is not a whole number from 0", found[1], number[2])
	}
	return fmt.Errorf("%s: %s is not a whole number", found[1], number[2])
}
