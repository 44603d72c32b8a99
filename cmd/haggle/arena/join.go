package arena

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/languagemodel"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
	"github.com/haggle-protocol/haggle/sdk/arena/player"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/trading"
)

const joinHelp = `Joins a market with a player, and trades until the market is resolved or Ctrl-C. --estimate is your
probability of YES: the player buys below and sells above it, by the strategy of its --personality.

--risk is the most money that the player can lose, whatever happens: the rest of the market's grant is never
part of an agreement. On Ctrl-C the player cancels its tentative agreements and leaves the market, for good.

The agent's key is in a file in the state folder, created at the first start; another player on this machine
needs another --key. --operator is the address that signs the arena's receipts, from a source that you trust.
--receipts appends them to a file: they prove what the arena has accepted.

Names and messages of others are written by strangers. They are printed as quoted text.

` + languagemodel.Help + `
It also writes the player's messages, from the player's phrases and public facts. What others have written
reaches it as quoted data.`

// joinOptions holds the flags of haggle arena join.
type joinOptions struct {
	*session.Session
	operator, key, name, personality, estimate, risk, receipts string
	seed                                                       uint64
	llm                                                        languagemodel.Flags
	changed                                                    func(flag string) bool
	// lock protects the output: decisions run in goroutines of their own.
	lock sync.Mutex
}

// modelMove is a decision with language models.
type modelMove struct{ llm.Record }

func joinCommand(s *session.Session) *cobra.Command {
	o := &joinOptions{Session: s}
	cmd := &cobra.Command{
		Use: "join URL", Short: "Join a market with a player", Long: joinHelp + "\n\n" + personalitiesHelp(),
		Example: "  haggle arena join wss://arena.example/arena/likes --operator ADDRESS --name ada --estimate 0.60",
	}
	flags := cmd.Flags()
	o.registerConnection(flags)
	flags.StringVar(&o.personality, "personality", "scholar", "how the player trades")
	flags.StringVar(&o.estimate, "estimate", "", "your probability of YES, such as 0.60")
	flags.StringVar(&o.receipts, "receipts", "", "file to which the operator's receipts are appended, one a line")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of the player's random choices")
	o.llm.Register(flags)
	o.changed = flags.Changed
	command.Required(cmd, "operator", "estimate")
	var names []string
	for _, p := range player.Personalities() {
		names = append(names, p.Name)
	}
	command.Choices(cmd, "personality", names...)
	command.Documents(cmd, factView{}, actionView{}, modelMove{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, arguments []string) error { return o.join(ctx, arguments[0]) })
	return cmd
}

// registerConnection adds the flags for an agent's connection and risk limits.
func (o *joinOptions) registerConnection(flags *pflag.FlagSet) {
	flags.StringVar(&o.operator, "operator", "", "address of the market's operator")
	flags.StringVar(&o.key, "key", "", "PEM file of the agent's key (default: one in the state folder, created at the first start)")
	flags.StringVar(&o.name, "name", "", "name that others see (join: by default the personality's)")
	flags.StringVar(&o.risk, "risk", "50.00", "most money to risk")
}

func personalitiesHelp() string {
	text := "Personalities:\n"
	for _, p := range player.Personalities() {
		text += fmt.Sprintf("\n  %-11s %s (%s)", p.Name, p.About, p.Strategy)
	}
	return text
}

// actionView is an action of the player that the arena has accepted.
type actionView struct {
	At time.Time `json:"at"`
	// Sequence numbers the agent's messages in the market.
	Sequence uint64 `json:"sequence"`
	// Kind is the action's name, and Action the content: docs/schemas/arena/message.json.
	Kind   string          `json:"action"`
	Action json.RawMessage `json:"content"`
}

func (o *joinOptions) join(ctx context.Context, url string) (err error) {
	config, grant, err := o.trader(ctx, url)
	if err != nil {
		return err
	}
	if o.receipts != "" {
		opened, err := os.OpenFile(o.receipts, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return exitcode.Usagef("--receipts: %w", err)
		}
		defer func() { err = errors.Join(err, opened.Close()) }()
		lines := json.NewEncoder(opened)
		print := config.Acted
		config.Acted = func(action arena.Action, receipt arena.Receipt) {
			if err := lines.Encode(receipt); err != nil {
				o.Logger(slog.LevelError).Error("receipt not written", "error", err)
			}
			print(action, receipt)
		}
	}
	p, err := o.player()
	if err != nil {
		return err
	}
	t, err := trader.New(p.Trader(config, grant))
	if err != nil {
		return exitcode.Usagef("%w", err)
	}
	err = t.Run(ctx)
	if errors.Is(err, trader.ErrLeft) {
		return exitcode.WithHint(err, "an agent that has left cannot return: use another --key")
	}
	return err
}

// trader returns the configuration of the connection, and the market's grant.
func (o *joinOptions) trader(ctx context.Context, url string) (trader.Config, arena.Money, error) {
	own, err := key(o.key, agentKey)
	if err != nil {
		return trader.Config{}, 0, err
	}
	if _, err := arena.KeyOf(o.operator); err != nil {
		return trader.Config{}, 0, exitcode.Usagef("--operator: not a Solana address")
	}
	c, err := client.Dial(ctx, client.Config{URL: url})
	if err != nil {
		return trader.Config{}, 0, exitcode.WithHint(err, "URL is the market's WebSocket, such as ws://127.0.0.1:3020/arena/MARKET")
	}
	view := c.Standing().View
	if err := c.Close(); err != nil {
		return trader.Config{}, 0, err
	}
	if view.Config.Operator != o.operator {
		return trader.Config{}, 0, exitcode.Usagef("--operator: the market's operator is another address, %s", view.Config.Operator)
	}
	printer := &watchOptions{Session: o.Session}
	return trader.Config{
		URL: url, Operator: o.operator, Key: own, Name: cmp.Or(o.name, o.personality), Logger: o.Logger(slog.LevelWarn),
		Observe: func(event arena.Shown) {
			o.lock.Lock()
			defer o.lock.Unlock()
			view.Observe(event.At, event.Fact)
			_ = printer.printFact(&view, event)
		},
		Acted: func(action arena.Action, receipt arena.Receipt) {
			o.lock.Lock()
			defer o.lock.Unlock()
			o.printAction(action, receipt)
		},
	}, view.Config.Grant, nil
}

// printAction prints actions as documents. In line output, the resulting events are printed instead.
func (o *joinOptions) printAction(action arena.Action, receipt arena.Receipt) {
	content, err := json.Marshal(action)
	if err == nil && o.JSON {
		_ = o.Print(actionView{receipt.At, receipt.Sequence, action.Kind(), content})
	}
}

func (o *joinOptions) player() (*player.Player, error) {
	personality, known := player.PersonalityNamed(o.personality)
	if !known {
		return nil, exitcode.Usagef("--personality: %q is not known", o.personality)
	}
	estimate, err := arena.ParsePrice(o.estimate)
	if err != nil {
		return nil, exitcode.Usagef("--estimate: %w", err)
	}
	risk, err := arena.ParseMoney(o.risk)
	if err != nil {
		return nil, exitcode.Usagef("--risk: %w", err)
	}
	options := player.Options{Estimate: estimate, Risk: risk, Seed: o.seed}
	if err := o.advise(&options, personality.Strategy); err != nil {
		return nil, err
	}
	p, err := player.New(personality, options)
	if err != nil {
		return nil, exitcode.Usagef("%w", err)
	}
	return p, nil
}

// advise lets the language models of the flags choose the moves and write the messages.
func (o *joinOptions) advise(options *player.Options, strategy string) error {
	if !o.llm.IsSet() {
		return o.llm.Check(o.changed)
	}
	level := slog.LevelWarn
	if o.llm.LogsPrompts() {
		level = slog.LevelInfo
	}
	models, err := o.llm.Player(llm.Options{
		Name: strategy, Logger: o.Logger(level), Reserve: time.Second,
		Decided: func(record llm.Record) error {
			if !o.JSON {
				return nil
			}
			o.lock.Lock()
			defer o.lock.Unlock()
			return o.Print(modelMove{record})
		},
	})
	if err != nil {
		return err
	}
	options.Choose, options.Say = trading.Choose(models.Chooser()), trading.Say(models.Chooser())
	return nil
}
