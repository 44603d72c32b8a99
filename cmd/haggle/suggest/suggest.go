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
	"github.com/haggle-protocol/haggle/internal/recorded"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
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

// defaultStrategy earns most in the table of docs/RESEARCH.md.
const defaultStrategy = "hybrid"

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
	flags.StringVar(&a.strategy, "strategy", defaultStrategy, "strategy (haggle simulate --help describes them)")
	flags.Var(&a.opening, "opening", "price from which a strategy with a curve concedes (default: the best price)")
	flags.Var(&a.maxTotal, "max-total", "a buyer's highest total of price and decay (default: the escrow)")
	flags.Var(&a.other, "other-reservation", "the other side's reservation price, for the equilibrium")
	flags.Uint64Var(&a.seed, "seed", 0, "seed of the strategy's random numbers")
	command.Required(cmd, "role", "reservation")
	command.Choices(cmd, "role", "buyer", "seller")
	command.Choices(cmd, "strategy", strategy.Names()...)
	command.Documents(cmd, suggestion{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error { return a.run(ctx, arguments[0]) })
	return cmd
}

type suggester struct {
	*session.Session
	role, strategy                        string
	reservation, opening, maxTotal, other amount.Text
	seed                                  uint64
}

func (a *suggester) run(ctx context.Context, name string) error {
	side, known := map[string]protocol.OfferSide{"buyer": protocol.OfferSideBuyer, "seller": protocol.OfferSideSeller}[a.role]
	played, named := strategy.Named()[a.strategy]
	switch {
	case !known:
		return exitcode.Usagef("--role: %q is neither buyer nor seller", a.role)
	case !named:
		return player.UnknownStrategy(a.strategy, strategy.Names())
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
	if !n.IsBargaining() && n.Status != protocol.NegotiationStatusCreated {
		return &exitcode.Error{Kind: exitcode.Refused, Err: fmt.Errorf("%s: the bargaining is over: %s", n.Address, n.Describe())}
	}
	p := agent.Player{Strategy: played, Name: a.strategy, Seed: a.seed}
	turn := agent.Turn{Negotiation: n, Side: side, Now: n.Time, Deadline: n.TurnDeadline}
	h := game.Haggle{}
	for _, price := range []struct {
		flag string
		text amount.Text
		to   *uint64
	}{
		{"--reservation", a.reservation, &p.Reservation}, {"--opening", a.opening, &p.Opening},
		{"--max-total", a.maxTotal, &turn.Limits.MaxTotal}, {"--other-reservation", a.other, &h.Cost},
	} {
		if price.text.IsZero() {
			continue
		}
		if *price.to, err = a.Units(ctx, n.TokenMint, price.flag, price.text); err != nil {
			return err
		}
	}
	h.Value = p.Reservation
	if side == protocol.OfferSideSeller {
		h.Value, h.Cost = h.Cost, h.Value
	}
	past, err := history(ctx, client, n, &turn)
	if err != nil {
		return err
	}
	tokens, err := a.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	v, err := suggest(p, turn, past, tokens)
	if err != nil {
		return err
	}
	if !a.other.IsZero() {
		v.Equilibrium = equilibriumOf(h, n, tokens)
	}
	return a.Print(v, v.lines()...)
}

// history reads the offers into a turn.
func history(ctx context.Context, client *haggle.Client, n *haggle.Snapshot, turn *agent.Turn) (past recorded.Negotiation, err error) {
	var events []protocol.Event
	for envelope, err := range client.History(ctx, n.Address) {
		if err != nil {
			return past, err
		}
		if !envelope.Truncated {
			events = append(events, envelope.Event)
		}
	}
	past = recorded.Of(events)
	if past.Created == nil || past.Created.Timestamp != n.CreatedAt || len(past.Offers) < int(n.CurrentRound) {
		return past, &exitcode.Error{Kind: exitcode.NotFound, Err: fmt.Errorf("%s: %w", n.Address, recorded.ErrIncomplete),
			Hint: "use an endpoint with a longer history: --url"}
	}
	past.Offers = past.Offers[:n.CurrentRound] // later ones are not in the snapshot
	for _, offer := range past.Offers {
		turn.History = append(turn.History, agent.PastOffer{
			Round: offer.Round, Side: protocol.OfferSide((offer.Round + 1) % 2), Amount: offer.Amount, Escrow: offer.EffectiveEscrow,
		})
	}
	return past, nil
}
