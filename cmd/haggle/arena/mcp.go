package arena

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/arena/tools"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
)

const mcpHelp = `Lets a language model trade in a market. The owner configures the command as a server of the model's program,
which starts it. It speaks the Model Context Protocol over stdin and stdout, and listens on no port.

  arena_inbox     shows the market, and what waits for a decision; can wait
  arena_decide    talks, offers, agrees or leaves in a side chat; enters one; finalizes or cancels
  arena_interest  states an interest
  arena_say       speaks on the floor
  arena_invite    begins a side chat

The model cannot exceed the flags: a move beyond them is not made. At least one of the prices is
required. --risk is the most money in all agreements together. If the model does not decide in time, the
agent leaves the side chat.

Names and messages of others are in fields named "untrusted" only.`

// mcpOptions holds the flags of haggle arena mcp.
type mcpOptions struct {
	joinOptions
	most   uint64
	prices [4]string
}

// priceFlags holds the limit flags, ordered like mcpOptions.prices.
var priceFlags = [4]struct{ name, usage string }{
	{"yes-buy", "highest price of a purchase of YES"}, {"yes-sell", "lowest price of a sale of YES"},
	{"no-buy", "highest price of a purchase of NO"}, {"no-sell", "lowest price of a sale of NO"},
}

func mcpCommand(s *session.Session, version string) *cobra.Command {
	o := &mcpOptions{joinOptions: joinOptions{Session: s}}
	cmd := &cobra.Command{
		Use: "mcp URL", Short: "Let a language model trade, by MCP", Long: mcpHelp,
		Example: "  haggle arena mcp wss://arena.example/arena/likes --operator ADDRESS --name ada --yes-buy 0.60 --yes-sell 0.70",
	}
	flags := cmd.Flags()
	o.registerConnection(flags)
	flags.Uint64Var(&o.most, "most", 100, "most tokens of each kind to hold")
	for i, f := range priceFlags {
		flags.StringVar(&o.prices[i], f.name, "", f.usage+", such as 0.60 (default: none)")
	}
	command.Required(cmd, "operator", "name")
	cmd.RunE = s.Unlimited(func(ctx context.Context, arguments []string) error {
		return o.serveTools(ctx, arguments[0], version)
	})
	return cmd
}

// limits returns the limits of the flags.
func (o *mcpOptions) limits(grant arena.Money) (limits trader.Limits, err error) {
	risk, err := arena.ParseMoney(o.risk)
	if err != nil {
		return limits, exitcode.Usagef("--risk: %w", err)
	}
	limits = trader.Limits{Keep: grant - min(grant, risk), Split: true}
	limits.Yes.Most, limits.No.Most = arena.Quantity(o.most), arena.Quantity(o.most)
	targets := [4]*arena.Price{&limits.Yes.Buy, &limits.Yes.Sell, &limits.No.Buy, &limits.No.Sell}
	for i, written := range o.prices {
		if written == "" {
			continue
		}
		if *targets[i], err = arena.ParsePrice(written); err != nil {
			return limits, exitcode.Usagef("--%s: %w", priceFlags[i].name, err)
		}
	}
	return limits, nil
}

// serveTools serves the tools until the model's program closes the connection, or the market ends.
func (o *mcpOptions) serveTools(ctx context.Context, url, version string) error {
	config, grant, err := o.trader(ctx, url)
	if err != nil {
		return err
	}
	config.Observe, config.Acted = nil, nil // stdout carries the protocol
	config.Logger = o.Logger(slog.LevelInfo)
	if config.Limits, err = o.limits(grant); err != nil {
		return err
	}
	desk := tools.NewDesk()
	t, err := trader.New(desk.Trader(config))
	if err != nil {
		return exitcode.Usagef("%w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := t.Run(ctx)
		if err == nil {
			err = errors.New("the market is resolved")
		}
		cancel(err)
	}()
	err = desk.Server(version).Run(ctx, &mcp.StdioTransport{})
	stopped := ctx.Err() != nil
	cancel(nil)
	<-ended // the trader has left the market
	if stopped {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("connection to the model: %w", err)
	}
	return nil
}
