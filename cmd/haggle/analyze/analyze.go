// Package analyze has "haggle analyze", which describes how a negotiation was conducted.
package analyze

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/cmd/haggle/index"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/indexer"
	"github.com/haggle-protocol/haggle/internal/indexer/recorded"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const analyzeHelp = `Analyses the offers of a negotiation, open, ended or closed: each side's steps and
concessions, the strategy that fits its offers best, and which side conceded more; what a deal has cost the
buyer, price and decay together, and which side can make the last offer. It reads the events from the chain,
or with --db from an index (haggle index --help). Needs no keypair. All figures follow from the prices alone:
offers with terms beside the price are compared by their prices.

With both reservation prices it also compares the result with the Nash solution and with the equilibrium of
the game that the rules define. They are known after both sides revealed them; otherwise set --buyer-value
and --seller-cost, the least amount that the seller must get after the fee. docs/RESEARCH.md explains all
figures.

--declarations names a file with signed declarations of agents, as JSON. The latest one of each side before
the creation is printed beside the fits: its strategy, model and prompt hash.

With --by it compares groups of agents over all negotiations of an index: those that declared the same
strategy, model or prompt (haggle index declare --help), as buyers and as sellers. Shares and means have
confidence intervals of 95 %, with the negotiations as independent observations. Negotiations that are open
count in "negotiations" only.`

// Command returns "haggle analyze".
func Command(s *session.Session) *cobra.Command {
	a := &analyzer{Session: s}
	cmd := &cobra.Command{
		Use: "analyze [NEGOTIATION]", Short: "Analyse a negotiation's offers, or compare groups of agents",
		Long: analyzeHelp,
		Example: `  haggle analyze NEGOTIATION
  haggle analyze NEGOTIATION --buyer-value 4 --seller-cost 2.5
  haggle analyze NEGOTIATION --db sqlite:haggle.db --json | jq .seller.fits
  haggle analyze --by strategy --db sqlite:haggle.db
  haggle analyze --by model --csv models.csv`,
		ValidArgsFunction: onchain.CompleteNegotiations(s),
	}
	cmd.Flags().StringVar(&a.database, "db", "",
		"index to read: sqlite:PATH or postgres://HOST/NAME (default: the chain; with --by the index of haggle index)")
	cmd.Flags().StringVar(&a.by, "by", "", "compare groups of agents: strategy, model or prompt")
	cmd.Flags().StringVar(&a.csv, "csv", "", "with --by: file for the groups as CSV; - for stdout")
	cmd.Flags().StringVar(&a.declarations, "declarations", "", "file with declarations of agents, as JSON")
	cmd.Flags().Var(&a.value, "buyer-value", "value of the service to the buyer")
	cmd.Flags().Var(&a.cost, "seller-cost", "cost of the service to the seller")
	cmd.MarkFlagsRequiredTogether("buyer-value", "seller-cost")
	command.Choices(cmd, "by", characteristicNames...)
	command.Documents(cmd, view{}, groupsView{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		switch by := cmd.Flags().Changed("by"); {
		case by && (len(arguments) > 0 || a.declarations != "" || cmd.Flags().Changed("buyer-value")):
			return exitcode.Usagef("--by compares all negotiations of an index: leave out NEGOTIATION, " +
				"--declarations, --buyer-value and --seller-cost")
		case by:
			return a.compare(ctx)
		case a.csv != "":
			return exitcode.Requires("--csv", "--by", "")
		case len(arguments) == 0:
			return exitcode.Usagef("NEGOTIATION not set: name one, or compare groups with --by")
		}
		address, err := connection.ParseAddress(arguments[0])
		if err != nil {
			return exitcode.Usagef("NEGOTIATION: %w", err)
		}
		a.assumed = cmd.Flags().Changed("buyer-value")
		return a.run(ctx, address)
	})
	return cmd
}

type analyzer struct {
	*session.Session
	database     string
	declarations string
	by, csv      string
	value, cost  amount.Text
	assumed      bool
}

func (a *analyzer) run(ctx context.Context, address solana.PublicKey) error {
	events, complete, err := a.events(ctx, address)
	if err != nil {
		return err
	}
	n := recorded.Of(events)
	prices, err := n.Prices()
	if err != nil {
		return &exitcode.Error{Kind: exitcode.NotFound, Err: fmt.Errorf("%s: %w", address, err),
			Hint: "use an endpoint with a longer history: --url, or an index: --db"}
	}
	record, err := prices.Record()
	if err != nil {
		return err
	}
	result, err := analysis.Analyze(record)
	if err != nil {
		return err
	}
	tokens, err := a.TokensOf(ctx, n.Created.TokenMint)
	if err != nil {
		return err
	}
	v := newView(address, &n, result, complete, tokens)
	if err := a.declare(&v, n.Created.Timestamp); err != nil {
		return err
	}
	h, known := n.Game()
	if a.assumed {
		if known {
			return exitcode.Usagef("--buyer-value, --seller-cost: both prices have been revealed; leave these out")
		}
		h, known = game.Haggle{Rules: n.Rules()}, true
		if h.Value, err = a.Units(ctx, n.Created.TokenMint, "--buyer-value", a.value); err != nil {
			return err
		}
		if h.Cost, err = a.Units(ctx, n.Created.TokenMint, "--seller-cost", a.cost); err != nil {
			return err
		}
		if h.Value <= h.Cost {
			return exitcode.Usagef("--buyer-value must be higher than --seller-cost: otherwise there is no surplus")
		}
	}
	if known {
		v.Benchmark = newBenchmark(h, n.Result(), a.assumed, tokens)
	}
	return a.Print(v, v.text())
}

// declare adds the declarations that held at the creation.
func (a *analyzer) declare(v *view, created int64) error {
	if a.declarations == "" {
		return nil
	}
	file, err := os.Open(a.declarations)
	if err != nil {
		return exitcode.Usagef("--declarations: %w", err)
	}
	defer file.Close()
	declarations, err := identity.ReadDeclarations(file)
	if err != nil {
		return &exitcode.Error{Kind: exitcode.Refused, Err: fmt.Errorf("%s: %w", a.declarations, err)}
	}
	for _, party := range []*partyView{&v.Buyer, &v.Seller} {
		if d, ok := identity.DeclarationAt(declarations, party.Agent, created); ok {
			party.Declared = &declaredView{
				Strategy: d.Strategy, Model: d.Model, PromptHash: d.PromptHash, DeclaredAt: d.DeclaredAt,
			}
		}
	}
	return nil
}

// events reads the events from the index of --db, or from the chain.
func (a *analyzer) events(
	ctx context.Context, address solana.PublicKey,
) (events []protocol.Event, complete bool, err error) {
	if a.database != "" {
		database, err := indexer.OpenExisting(ctx, a.database)
		if err != nil {
			return nil, false, index.Failure(err)
		}
		events, complete, err = database.Events(ctx, address.String())
		return events, complete, index.Failure(errors.Join(err, database.Close()))
	}
	client, err := a.Client()
	if err != nil {
		return nil, false, err
	}
	complete = true
	for envelope, err := range client.History(ctx, address) {
		if err != nil {
			return nil, false, err
		}
		if envelope.Truncated {
			complete = false
			continue
		}
		events = append(events, envelope.Event)
	}
	if len(events) == 0 {
		// The history of any address can be read: another account is not a negotiation with a short history.
		_, err := onchain.Read(ctx, client, address)
		return nil, complete, session.NotFound(err, "it has no account and no event on this cluster; "+
			"if it is closed, use an endpoint with a longer history: --url, or an index: --db")
	}
	return events, complete, nil
}
