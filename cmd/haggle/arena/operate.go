package arena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
)

const operateHelp = `The market's operator, whose key --key is, does so by a signed message. It is part of the log.`

// officialOptions holds the flags for operator and resolver commands.
type officialOptions struct {
	*session.Session
	key, operator string
}

func (o *officialOptions) register(cmd *cobra.Command, whose string) {
	cmd.Flags().StringVar(&o.key, "key", "", "PEM file of the "+whose+" key (default: the operator's in the state folder)")
	command.Documents(cmd, actionView{})
}

// act sends an action to a market.
func (o *officialOptions) act(ctx context.Context, url string, action arena.Action) error {
	own, err := key(o.key, operatorKey)
	if err != nil {
		return err
	}
	operator := o.operator
	if operator == "" {
		operator = arena.AddressOf(own)
	}
	c, err := client.Dial(ctx, client.Config{URL: url, Key: own, Operator: operator})
	if err != nil {
		return exitcode.WithHint(err, "URL is the market's WebSocket, such as ws://127.0.0.1:3020/arena/MARKET")
	}
	defer c.Close()
	receipt, err := c.Do(ctx, action)
	if errors.Is(err, client.ErrUnknown) {
		return exitcode.WithHint(err, "haggle arena export shows whether the log has it")
	}
	if err != nil {
		return err
	}
	content, err := json.Marshal(action)
	if err != nil {
		return err
	}
	return o.Print(actionView{receipt.At, receipt.Sequence, action.Kind(), content},
		fmt.Sprintf("%s  %s", receipt.At.Local().Format(time.TimeOnly), action.Kind()))
}

func depositCommand(s *session.Session) *cobra.Command {
	return transferCommand(s, "deposit", "Add money to an agent's balance",
		func(agent string, amount arena.Money) arena.Action {
			return arena.Deposit{Agent: agent, Amount: amount}
		})
}

func withdrawCommand(s *session.Session) *cobra.Command {
	return transferCommand(s, "withdraw", "Take money from an agent's balance",
		func(agent string, amount arena.Money) arena.Action {
			return arena.Withdraw{Agent: agent, Amount: amount}
		})
}

func transferCommand(
	s *session.Session, name, short string, action func(agent string, amount arena.Money) arena.Action,
) *cobra.Command {
	o := &officialOptions{Session: s}
	cmd := &cobra.Command{
		Use: name + " URL AGENT AMOUNT", Short: short, Long: short + " in a market.\n\n" + operateHelp,
		Example: fmt.Sprintf("  haggle arena %s wss://arena.example/arena/likes AGENT 50.00", name),
	}
	o.register(cmd, "operator's")
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		amount, err := arena.ParseMoney(arguments[2])
		if err != nil {
			return exitcode.Usagef("AMOUNT: %w", err)
		}
		return o.act(ctx, arguments[0], action(arguments[1], amount))
	})
	return cmd
}

func resolveCommand(s *session.Session) *cobra.Command {
	o := &officialOptions{Session: s}
	cmd := &cobra.Command{
		Use: "resolve URL OUTCOME", Short: "Decide the outcome of a market: YES, NO or VOID",
		Long: `Decides the outcome of a market after its closing. A token of the outcome pays 1.00; after VOID each pays
0.50. The market's resolver, whose key --key is, does so once, by a signed message.`,
		Example: "  haggle arena resolve wss://arena.example/arena/likes YES",
	}
	o.register(cmd, "resolver's")
	cmd.Flags().StringVar(&o.operator, "operator", "", "address of the operator, who signs the receipt (default: the resolver's)")
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		return o.act(ctx, arguments[0], arena.Resolve{Outcome: arena.Outcome(strings.ToUpper(arguments[1]))})
	})
	return cmd
}
