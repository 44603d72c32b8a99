package license

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/license"
)

const suggestHelp = `Suggests the next move in an open negotiation of the client, as "haggle license buy" would make it, and sends
none. The suggestion follows from your own limit, which the gateway does not receive, from the negotiation's
history, and from the public facts of the publisher's strategy. Purposes and fetches are those of your first
proposal. Amounts are of the publisher's currency.`

func newSuggestCommand(c *connection) *cobra.Command {
	var maxPrice amount.Text
	var name string
	var r license.Request
	cmd := &cobra.Command{
		Use: "suggest NEGOTIATION", Short: "Suggest the next move of an open negotiation", Long: suggestHelp,
		Example: "  haggle license suggest NEGOTIATION --max-price 0.002\n" +
			"  haggle license suggest NEGOTIATION --max-price 0.002 --strategy negmas-boulware --json | jq .move",
	}
	names, flags := strategy.Names(), cmd.Flags()
	flags.Var(&maxPrice, "max-price", "highest price of a fetch")
	flags.StringVar(&r.Currency, "currency", license.DefaultCurrency, "currency of the limit")
	flags.StringVar(&name, "strategy", license.DefaultStrategy, "strategy, with parameters: see haggle license buy --help")
	flags.IntVar(&r.Rounds, "rounds", license.DefaultRounds, "number of proposals, 1 to 100")
	flags.StringVar(&r.ID, "id", "", "ID of the purchase, for strategies with random numbers (default: the negotiation's)")
	command.Required(cmd, "max-price")
	command.Choices(cmd, "strategy", names...)
	command.Documents(cmd, license.Suggestion{})
	cmd.RunE = c.Limited(func(ctx context.Context, arguments []string) (err error) {
		if r.MaxPriceMicro, err = maxPrice.In(micros); err != nil {
			return exitcode.Usagef("--max-price: %w", err)
		}
		played, err := strategy.Parse(name)
		if err != nil {
			return player.StrategyError("strategy", err)
		}
		r.Strategy = played.Strategy
		client, end, err := c.open(ctx)
		if err != nil {
			return err
		}
		defer end()
		found, err := client.Suggest(ctx, arguments[0], r)
		if err != nil {
			return failure(err)
		}
		return c.Print(found, suggestionLines(found)...)
	})
	return cmd
}

func suggestionLines(s license.Suggestion) []string {
	move := string(s.Move)
	if s.Terms != nil {
		move += " " + decimal(s.Terms.PriceMicro)
	}
	lines := []string{fmt.Sprintf("%s (%s)", move, s.Why)}
	if s.OfferMicro > 0 {
		lines = append(lines, "the publisher's offer is "+decimal(s.OfferMicro))
	}
	return append(lines, "your limit is "+decimal(s.LimitMicro))
}
