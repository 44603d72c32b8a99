package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/keeper"
)

const keeperHelp = `Sends the instructions that anyone may send, for all negotiations of the program: it expires negotiations
after their deadline, releases milestones after their review, settles milestones after their deadline, and
closes negotiations that are over. It runs until Ctrl-C; with --once it carries out all due actions and stops.

The keypair pays 5,000 lamports per transaction and earns nothing; escrow, payouts and rent go to the
parties. To close a negotiation also costs about 2,000,000 lamports of rent if the treasury has no token
account for the mint. The default --max-fee does not allow that.

Closes come last, and use only --close-share-bps of --rate and --budget. While many actions are due, buyers
take turns, and every second action is for a mint of --mints.

Several keepers can run at the same time. The later one fails in simulation, pays no fee and prints nothing;
two that send at the same moment, which --jitter makes rare, cost one of them a fee. A keeper receives
events, and scans all negotiations from time to time for those that it missed. The expenses are in --state:
the wallet's keepers that use one database share --budget. With --json it prints one document per action.`

// keeperCommand holds the flags of haggle keeper.
type keeperCommand struct {
	*session.Session
	once, dryRun         bool
	every, grace, jitter duration.Flag
	rate, closeShare     uint16
	mints                []string
	maxFee, budget       uint64
	verbose              bool
}

func Command(s *session.Session) *cobra.Command {
	k := &keeperCommand{
		Session: s, every: duration.Flag(keeper.DefaultScanEvery), grace: duration.Flag(keeper.DefaultGrace),
		jitter: duration.Flag(keeper.DefaultJitter),
	}
	cmd := &cobra.Command{
		Use: "keeper", Short: "Expire, settle and close due negotiations of all parties", Long: keeperHelp,
		Example: `  haggle keeper --dry-run --once
  haggle keeper --url devnet --keypair keeper.json --budget 5000000 --json`,
	}
	flags := cmd.Flags()
	flags.BoolVar(&k.once, "once", false, "carry out all due actions, without --grace, and stop")
	flags.BoolVar(&k.dryRun, "dry-run", false, "simulate the actions, check the policy, and print the actions and their cost; sign nothing")
	flags.Var(&k.every, "every", "how often to scan all negotiations; at least every 30s while no events arrive")
	flags.Var(&k.grace, "grace", "how long the parties have to act themselves")
	flags.Var(&k.jitter, "jitter", "random additional wait, so that not all keepers act at once")
	flags.Uint16Var(&k.rate, "rate", keeper.DefaultActionsPerMinute, "most actions begun in a minute")
	flags.Uint16Var(&k.closeShare, "close-share-bps", keeper.DefaultCloseShareBps, "part of --rate and --budget for closes, in basis points, 1 to 9999")
	flags.StringSliceVar(&k.mints, "mints", nil, "mints that every second action is for, while many are due (default: SOL and USDC)")
	flags.Uint64Var(&k.maxFee, "max-fee", keeper.DefaultMaxFee, "most that one action may cost, rent of new accounts included, in lamports")
	flags.Uint64Var(&k.budget, "budget", keeper.DefaultDailyBudget, "most that all may cost within 24 hours, in lamports")
	flags.BoolVarP(&k.verbose, "verbose", "v", false, "log to stderr also the actions that others sent first")
	command.Documents(cmd, keeperAction{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, _ []string) error { return k.keep(ctx) })
	return cmd
}

func (k *keeperCommand) keep(ctx context.Context) error {
	switch {
	case k.every <= 0:
		return exitcode.Usagef("--every must be positive")
	case k.rate == 0:
		return exitcode.Usagef("--rate must be positive")
	case k.maxFee == 0 || k.budget == 0:
		return exitcode.Usagef("--max-fee and --budget must be positive; use --dry-run to send nothing")
	case k.closeShare == 0 || k.closeShare > 9_999:
		return exitcode.Usagef("--close-share-bps must be 1 to 9999")
	}
	var mints []solana.PublicKey
	for _, written := range k.mints {
		mint, err := connection.ParseAddress(written)
		if err != nil {
			return exitcode.Usagef("--mints: %w", err)
		}
		mints = append(mints, mint)
	}
	client, key, err := k.ClientAndKey(ctx)
	if err != nil {
		return err
	}
	state, err := k.Connection.State(ctx)
	if err != nil {
		return err
	}
	var failed error
	works, err := keeper.New(client, key, keeper.Config{
		ScanEvery: time.Duration(k.every), Grace: orNone(k.grace), Jitter: orNone(k.jitter), ActionsPerMinute: int(k.rate),
		MaxFee: k.maxFee, DailyBudget: k.budget, Store: state, DryRun: k.dryRun, Logger: k.logger(),
		CloseShareBps: k.closeShare, Mints: mints,
		Check: func(ctx context.Context, run *haggle.DryRun) error {
			_, err := onchain.CheckPolicy(ctx, key, run)
			return err
		},
		Acted: func(action keeper.Action) {
			if action.Outcome == keeper.Failed {
				failed = fmt.Errorf("%s %s: %w", action.Kind, action.Negotiation, action.Err)
			}
			k.tell(action)
		},
	})
	if err != nil {
		return err
	}
	if k.once {
		// Failed actions are retried by the next run; the exit code tells whether any failed.
		return errors.Join(works.Once(ctx), failed)
	}
	err = works.Run(ctx)
	if stopped := ctx.Err(); stopped != nil && errors.Is(err, context.Canceled) {
		return nil // Ctrl-C is the usual end
	}
	return err
}

// orNone returns a duration for a configuration in which zero means the default: a zero flag means none.
func orNone(length duration.Flag) time.Duration {
	if length == 0 {
		return -1
	}
	return time.Duration(length)
}

func (k *keeperCommand) logger() *slog.Logger {
	if k.verbose {
		return k.Logger(slog.LevelDebug)
	}
	// The command prints actions, including postponed ones, even if no logger is set.
	return k.Logger(slog.LevelError)
}

// keeperAction describes an action in the output.
type keeperAction struct {
	Time        time.Time        `json:"time"`
	Action      keeper.Kind      `json:"action"`
	Negotiation solana.PublicKey `json:"negotiation"`
	Outcome     keeper.Outcome   `json:"outcome"`
	// Lamports is the cost, or the estimated cost if the action was not done.
	Lamports     uint64            `json:"lamports"`
	Signature    *solana.Signature `json:"signature,omitempty"`
	Slot         uint64            `json:"slot,omitempty"`
	ComputeUnits uint64            `json:"compute_units,omitempty"`
	Again        time.Time         `json:"again,omitzero"`
	Error        string            `json:"error,omitempty"`
	// Details holds text from other machines, which Error does not contain.
	Details *exitcode.Details `json:"details,omitempty"`
}

func (k *keeperCommand) tell(action keeper.Action) {
	told := keeperAction{
		Time: time.Now().UTC(), Action: action.Kind, Negotiation: action.Negotiation, Outcome: action.Outcome,
		Lamports: action.Cost, Again: action.Again,
	}
	line := fmt.Sprintf("%-7s  %s  %s", action.Kind, action.Negotiation, action.Outcome)
	if action.Cost > 0 {
		line += ", " + amount.SOL(action.Cost).String()
	}
	if receipt := action.Receipt; receipt != nil {
		told.Signature, told.Slot, told.ComputeUnits = &receipt.Signature, receipt.Slot, receipt.ComputeUnits
		line += fmt.Sprintf(", transaction %s", receipt.Signature)
	}
	if action.Err != nil {
		told.Error, told.Details = exitcode.Message(action.Err), exitcode.DetailsOf(action.Err)
		line += ": " + exitcode.Text(action.Err)
	}
	if k.JSON {
		_ = json.NewEncoder(k.Stdout).Encode(told)
		return
	}
	fmt.Fprintln(k.Stdout, line)
}
