package license

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/license"
)

const buyHelp = `Buys one license from each publisher. It bargains with a strategy until a deal, a refusal or a limit, and
reports each round on stderr.

The strategy concedes towards --max-price, from the publisher's published floor, or from a tenth of the
limit if there is no floor. The default strategy saves the largest share of the limit on average in a
simulation with all styles of publishers.

No proposal exceeds --max-price, and all licenses together cost at most --budget: each publisher has the same
share of it, and a license costs its price times --fetches. Amounts are of the publisher's currency, such as
0.002; a publisher with another --currency is refused.

The purchase has an ID, which is printed first. After a crash or an error, the same command with --id
continues the purchase: it opens no second negotiation. Without a deal, and after Ctrl-C, the buyer leaves the
open negotiation, so that its place with the publisher is free. --dry-run prints the first proposals and sends
none.

The exit code is 0 if every publisher agreed, 8 if one did not, 9 if an agreement awaits its publisher's
approval (haggle license show prints the license after it), and 3 if the gateway refused a request, for
example because of its limits; the message has the time to wait.`

// micros is the number of decimals in gateway amounts.
const micros = 6

type buyCommand struct {
	*connection
	request             license.Request
	purposes            []string
	maxPrice, budget    amount.Text
	strategy            string
	dryRun              bool
	leastTTL, leastRate uint32
}

// purchaseView is a single publisher's result.
type purchaseView struct {
	Publisher   string          `json:"publisher_hostname"`
	Outcome     license.Outcome `json:"outcome,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	Negotiation string          `json:"negotiation_id,omitempty"`
	// Left reports whether the buyer ended the negotiation.
	Left      bool           `json:"left,omitempty"`
	Terms     *license.Terms `json:"terms,omitempty"`
	CostMicro uint64         `json:"cost_micro"`
	License   *licenseView   `json:"license,omitempty"`
	Steps     []license.Step `json:"steps,omitempty"`
}

// buyView is the output of haggle license buy.
type buyView struct {
	ID string `json:"id"`
	// DryRun reports whether the requests were left out: Steps then contains the opening proposals.
	DryRun bool `json:"dry_run,omitempty"`
	// CostMicro is the cost of all agreed licenses in micro units of Currency.
	CostMicro uint64         `json:"cost_micro"`
	Currency  string         `json:"currency"`
	Purchases []purchaseView `json:"purchases"`
}

func newBuyCommand(c *connection) *cobra.Command {
	b := &buyCommand{connection: c}
	cmd := &cobra.Command{
		Use: "buy", Short: "Bargain for licenses within money limits", Long: buyHelp,
		Example: `  haggle license buy --publisher site-a.local --purpose inference --fetches 1000 --max-price 0.002 --budget 2
  haggle license buy --publisher site-a.local --publisher site-b.local --purpose inference --fetches 1000 \
    --max-price 0.004 --budget 8 --strategy negmas-boulware --dry-run`,
	}
	names := strategy.Names()
	r, flags := &b.request, cmd.Flags()
	flags.StringArrayVar(&r.Publishers, "publisher", nil, "hostname of a publisher; can be repeated")
	flags.StringArrayVar(&b.purposes, "purpose", nil, "required use, such as inference; can be repeated")
	flags.Var(&b.maxPrice, "max-price", "highest price of a fetch")
	flags.Var(&b.budget, "budget", "most that all licenses may cost")
	flags.Uint64Var(&r.Fetches, "fetches", 0, "prepaid fetches of each license")
	flags.StringVar(&r.Currency, "currency", license.DefaultCurrency, "currency of the limits")
	flags.StringVar(&b.strategy, "strategy", license.DefaultStrategy, player.StrategyUsage(names))
	flags.IntVar(&r.Rounds, "rounds", license.DefaultRounds, "number of proposals to each publisher, 1 to 100")
	flags.Uint32Var(&r.TTL.Preferred, "ttl", license.DefaultTTL.Preferred, "preferred lifetime of access tokens in seconds")
	flags.Uint32Var(&r.RPS.Preferred, "rps", license.DefaultRPS.Preferred, "preferred burst rate in requests per second")
	flags.Uint32Var(&b.leastTTL, "min-ttl", license.DefaultTTL.Least, "shortest lifetime of access tokens in seconds")
	flags.Uint32Var(&b.leastRate, "min-rps", license.DefaultRPS.Least, "lowest burst rate in requests per second")
	flags.StringVar(&r.ID, "id", "", "ID of the purchase to continue (default: a new one)")
	flags.BoolVar(&b.dryRun, "dry-run", false, "print the first proposals and send none")
	command.Required(cmd, "publisher", "purpose", "max-price", "budget", "fetches")
	command.Choices(cmd, "strategy", names...)
	command.Documents(cmd, buyView{})
	cmd.RunE = c.Unlimited(func(ctx context.Context, _ []string) error { return b.run(ctx) })
	return cmd
}

func (b *buyCommand) run(ctx context.Context) (err error) {
	if b.isAnonymous() && !b.dryRun {
		return &exitcode.Error{
			Kind: exitcode.Usage, Err: errors.New("no credentials: an anonymous client gets no license"),
			Hint: "set " + identity.EnvironmentKey + ", --key or --signing-key; --dry-run needs none",
		}
	}
	r := &b.request
	if r.MaxPriceMicro, err = b.maxPrice.In(micros); err != nil {
		return exitcode.Usagef("--max-price: %w", err)
	}
	if r.BudgetMicro, err = b.budget.In(micros); err != nil {
		return exitcode.Usagef("--budget: %w", err)
	}
	played, err := strategy.Parse(b.strategy)
	if err != nil {
		return player.StrategyError("strategy", err)
	}
	r.Strategy = played.Strategy
	r.TTL.Least, r.TTL.Most = b.leastTTL, max(license.DefaultTTL.Most, r.TTL.Preferred)
	r.RPS.Least, r.RPS.Most = b.leastRate, max(license.DefaultRPS.Most, r.RPS.Preferred)
	for _, purpose := range b.purposes {
		r.Purposes = append(r.Purposes, license.Purpose(purpose))
	}
	if r.ID == "" {
		r.ID = rand.Text()
	}
	defer b.ShowProgress("connecting to the gateway")()
	client, end, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer end()
	if b.dryRun {
		result, err := client.Plan(ctx, *r)
		if err != nil {
			return failure(err)
		}
		return b.print(result)
	}
	b.Report("purchase " + r.ID + ": to continue it after a crash or an error, add --id " + r.ID)
	r.Observe = func(publisher string, step license.Step) { b.Report(publisher + ": " + text(step)) }
	result, err := client.Buy(ctx, *r)
	if len(result.Purchases) > 0 {
		if printed := b.print(result); printed != nil {
			return printed
		}
	}
	if err != nil {
		return failure(err)
	}
	return outcome(result)
}

func (b *buyCommand) print(result license.Result) error {
	v := buyView{
		ID: result.ID, DryRun: b.dryRun, CostMicro: result.CostMicro(), Currency: b.request.Currency,
		Purchases: []purchaseView{},
	}
	var lines []string
	for _, p := range result.Purchases {
		one := purchaseView{
			Publisher: p.Publisher, Outcome: p.Outcome, Reason: p.Reason, Negotiation: p.Negotiation, Terms: p.Terms,
			CostMicro: p.CostMicro, Steps: p.Steps, Left: p.Left,
		}
		line := fmt.Sprintf("%s: %s: %s", p.Publisher, p.Outcome, p.Reason)
		switch {
		case p.License != nil:
			one.License = viewOf(*p.License)
			line = fmt.Sprintf("%s: license %d for %s a fetch, %s in all", p.Publisher, one.License.ID,
				one.License.PricePerFetch, decimal(p.CostMicro))
		case p.Outcome == "" && len(p.Steps) > 0:
			line = p.Publisher + ": first proposal, not sent: " + text(p.Steps[0])
		}
		lines, v.Purchases = append(lines, line), append(v.Purchases, one)
	}
	return b.Print(v, lines...)
}

// text formats a step as a line.
func text(step license.Step) string {
	line := fmt.Sprintf("round %d: %s", step.Round, step.Move)
	if step.Terms != nil {
		line += " " + decimal(step.Terms.PriceMicro)
	}
	line += " (" + step.Why + ")"
	if step.Answer != "" {
		line += ", answer: " + string(step.Answer)
		if step.Offer != nil {
			line += " " + decimal(step.Offer.PriceMicro)
		}
		line += " (" + step.Reason + ")"
	}
	return line
}

// decimal returns micro units as an amount of the currency.
func decimal(micro uint64) string {
	written := amount.Tokens{Units: micro, Decimals: micros}.Decimal()
	return strings.TrimRight(strings.TrimRight(written, "0"), ".")
}

// outcome returns the error for a purchase that ended with no deal.
func outcome(result license.Result) error {
	pending := false
	for _, p := range result.Purchases {
		switch p.Outcome {
		case license.Refused, license.NoDeal:
			return &exitcode.Error{Kind: exitcode.NoDeal, Err: fmt.Errorf("%s: %s", p.Publisher, p.Reason)}
		case license.Pending:
			pending = true
		}
	}
	if pending {
		return &exitcode.Error{
			Kind: exitcode.Undecided, Err: errors.New("an agreement awaits its publisher's approval"),
			Hint: "repeat the command with --id " + result.ID + ", or run haggle license show NEGOTIATION",
		}
	}
	return nil
}
