// Package suggest has the command "haggle suggest".
package suggest

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/cli/suggestion"
	"github.com/haggle-protocol/haggle/internal/indexer/recorded"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const help = `Suggests the next move of a side in an open negotiation, and sends nothing. It prints

  - the strategy's move, with its price and its reason, or the party that the negotiation waits for;
  - the band: the limit (the worst price to agree to now), the strategy's target, and the best price;
  - the decay of the next offer, the rounds left, and the side that can make the last offer;
  - with --other-reservation, the equilibrium of the game from here on;
  - the strategies that fit the other side's offers.

It plays the strategy as "haggle agent" does, from the chain alone: the same flags give the same moves. The
side is the one of --role. Needs no keypair.`

// Command returns "haggle suggest".
func Command(s *session.Session) *cobra.Command {
	a := suggester{Session: s}
	cmd := &cobra.Command{
		Use: "suggest NEGOTIATION", Short: "Suggest the next move in a negotiation", Long: help,
		Example: `  haggle suggest NEGOTIATION --role buyer --reservation 3.5 --opening 2
  haggle suggest NEGOTIATION --role seller --reservation 3 --strategy micro --json | jq .move
  haggle suggest NEGOTIATION --role buyer --reservation 3.5 --other-reservation 3`,
		ValidArgsFunction: onchain.CompleteNegotiations(s),
	}
	flags := cmd.Flags()
	flags.StringVar(&a.role, "role", "", "buyer or seller")
	flags.Var(&a.reservation, "reservation", "a buyer's highest price, or a seller's least amount after the fee")
	flags.StringVar(&a.strategy, "strategy", suggestion.DefaultStrategy, player.StrategyUsage(strategy.Names()))
	flags.Var(&a.opening, "opening", "price from which a strategy with a curve concedes (default: the best price)")
	flags.Var(&a.maxTotal, "max-total", "a buyer's highest total of price and decay (default: the escrow)")
	flags.Var(&a.other, "other-reservation", "the other side's reservation price, for the equilibrium")
	flags.Var(&a.step, "step", player.StepUsage(""))
	flags.Uint64Var(&a.seed, "seed", 0, "seed of the strategy's random numbers")
	command.Required(cmd, "role", "reservation")
	command.Choices(cmd, "role", "buyer", "seller")
	command.Choices(cmd, "strategy", strategy.Names()...)
	command.Documents(cmd, view{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error { return a.run(ctx, arguments[0]) })
	return cmd
}

type suggester struct {
	*session.Session
	role, strategy                              string
	reservation, opening, maxTotal, other, step amount.Text
	seed                                        uint64
}

func (a *suggester) run(ctx context.Context, name string) error {
	side, known := map[string]protocol.OfferSide{"buyer": protocol.OfferSideBuyer, "seller": protocol.OfferSideSeller}[a.role]
	played, err := strategy.Parse(a.strategy)
	switch {
	case !known:
		return exitcode.Usagef("--role: %q is neither buyer nor seller", a.role)
	case err != nil:
		return player.StrategyError("strategy", err)
	case !a.step.IsZero() && !played.HasStep():
		return player.StepError(played)
	case side == protocol.OfferSideSeller && !a.maxTotal.IsZero():
		return exitcode.Usagef("--max-total is a buyer's: a seller pays no decay")
	}
	client, err := a.Client()
	if err != nil {
		return err
	}
	n, err := onchain.Snapshot(ctx, client, name)
	if err != nil {
		return err
	}
	q := suggestion.Question{Side: side, Player: agent.Player{Strategy: played.Strategy, Name: played.String(), Seed: a.seed}}
	var other uint64
	for _, price := range []struct {
		flag string
		text amount.Text
		to   *uint64
	}{
		{"--reservation", a.reservation, &q.Player.Reservation}, {"--opening", a.opening, &q.Player.Opening},
		{"--max-total", a.maxTotal, &q.MaxTotal}, {"--other-reservation", a.other, &other},
		{"--step", a.step, &q.Player.Step},
	} {
		if price.text.IsZero() {
			continue
		}
		if *price.to, err = a.Units(ctx, n.TokenMint, price.flag, price.text); err != nil {
			return err
		}
	}
	if !a.other.IsZero() {
		q.Other = &other
	}
	tokens, err := a.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	found, err := suggestion.Of(ctx, client, n, q)
	if err != nil {
		return exitcode.Match(fmt.Errorf("%s: %w", n.Address, err),
			exitcode.Case{Is: suggestion.ErrOver, Kind: exitcode.Refused,
				Hint: "for its course: haggle analyze " + n.Address.String()},
			exitcode.Case{Is: recorded.ErrIncomplete, Kind: exitcode.NotFound,
				Hint: "use an endpoint with a longer history: --url"})
	}
	v := viewOf(n.Address.String(), found, tokens)
	lines := append(found.Lines(func(units uint64) string { return tokens(units).String() }), "other side:")
	for _, line := range v.Other.Lines() {
		lines = append(lines, "  "+line)
	}
	return a.Print(v, lines...)
}
