package agentrun

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

// Service is the default service that the example agents bargain about.
const Service = "Find the whales in 10,000 Solana transactions"

// Flags holds the flags shared by both agents.
type Flags struct {
	Connection  connection.Flags
	Trust       connection.TrustFlags
	Counterpart connection.Address
	Mint        connection.Address
	Service     string
	Opening     amount.Text
	Reservation amount.Text
	// Journal is the path of the journal; empty selects the agent's own file, and "none" no journal.
	Journal string
	JSON    bool

	// Limits holds the worst terms beside the price that the agent engages on.
	Limits player.LimitFlags

	play         player.Flags
	openingGiven func() bool
}

// Register adds the flags to a command. The counterpart is "buyer" or "seller"; the prices given are defaults
// in tokens.
func (f *Flags) Register(cmd *cobra.Command, counterpart, opening, reservation string) {
	flags := cmd.Flags()
	f.Connection.Register(flags)
	f.Trust.Register(flags)
	f.play.Register(cmd, "linear")
	f.Limits.Register(flags)
	flags.Var(&f.Counterpart, counterpart, "address of the "+counterpart)
	flags.Var(&f.Mint, "mint", "mint of the payment")
	flags.StringVar(&f.Service, "service", Service, "description of the service; both sides have to give the same")
	f.Opening, f.Reservation = mustParse(opening), mustParse(reservation)
	flags.Var(&f.Opening, "opening", "first price")
	f.openingGiven = func() bool { return flags.Changed("opening") }
	flags.Var(&f.Reservation, "reservation", "price beyond which no deal is better than a deal")
	flags.StringVar(&f.Journal, "journal", "", `SQLite file that records sent transactions, to continue after a crash; "none" for none
(default: one for each counterpart, mint and service, in ~/.local/state/haggle/journal
or beneath $XDG_STATE_HOME)`)
	flags.BoolVar(&f.JSON, "json", false, "print JSON, one document per line")
	_ = cmd.MarkFlagRequired(counterpart)
	_ = cmd.MarkFlagRequired("mint")
}

func mustParse(tokens string) amount.Text {
	text, err := amount.Parse(tokens)
	if err != nil {
		panic(err)
	}
	return text
}

// Main runs an agent's command until completion or interruption, and exits with a code usable in scripts.
func Main(cmd *cobra.Command, log *Log) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.Args = cobra.NoArgs
	run, started := cmd.RunE, false
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error {
		started = true
		return run(cmd, arguments)
	}
	err := cmd.ExecuteContext(ctx)
	if !started {
		err = exitcode.AsUsage(err, cmd.Name()+" --help")
	}
	os.Exit(exitcode.Report(os.Stderr, cmd.Name(), exitcode.WithAmounts(err, log.AmountOf), log.JSON))
}
