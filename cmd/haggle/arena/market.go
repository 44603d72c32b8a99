package arena

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

const openHelp = `Adds a market to the database. Running servers take it within seconds. The market's operator is the key of
--key, the resolver decides the outcome after the closing: the operator, unless --resolver is set.`

// marketFlags describe a market.
type marketFlags struct {
	key, database, resolver, grant       string
	lasts, tentative, chatTurn, chatTime duration.Flag
}

func (f *marketFlags) register(flags *pflag.FlagSet) {
	f.lasts = duration.Flag(24 * time.Hour)
	f.tentative, f.chatTurn = duration.Flag(30*time.Second), duration.Flag(30*time.Second)
	f.chatTime = duration.Flag(2 * time.Minute)
	flags.StringVar(&f.key, "key", "", "PEM file of the operator's key (default: one in the state folder, created at the first start)")
	flags.StringVar(&f.database, "db", "", "database: FILE or postgres://HOST/NAME (default: a file in the state folder)")
	flags.StringVar(&f.resolver, "resolver", "", "address that decides the outcome (default: the operator's)")
	flags.StringVar(&f.grant, "grant", "100.00", "play money that each agent gets when it joins")
	flags.Var(&f.lasts, "lasts", "time from the opening to the closing")
	flags.Var(&f.tentative, "tentative", "lifetime of a tentative agreement")
	flags.Var(&f.chatTurn, "chat-turn", "time to use a turn in a side chat; language models may need longer")
	flags.Var(&f.chatTime, "chat-time", "longest duration of a side chat")
}

// marketView is an added market.
type marketView struct {
	Market   string    `json:"market"`
	Operator string    `json:"operator"`
	Resolver string    `json:"resolver"`
	Closes   time.Time `json:"closes"`
	// SeedHash commits the operator to the speaker order.
	SeedHash string `json:"seed_hash"`
}

// add adds a market.
func (f *marketFlags) add(ctx context.Context, opened *store.Store, operator, id, question string) (marketView, error) {
	grant, err := arena.ParseMoney(f.grant)
	if err != nil {
		return marketView{}, exitcode.Usagef("--grant: %w", err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	milliseconds := func(d duration.Flag) arena.Duration { return arena.NewDuration(time.Duration(d)) }
	config := arena.Config{
		Market: id, Question: question, Opens: now, Closes: now.Add(time.Duration(f.lasts)), Operator: operator,
		Resolver: operator, Grant: grant, Tentative: milliseconds(f.tentative), ChatTurn: milliseconds(f.chatTurn),
		ChatTime: milliseconds(f.chatTime),
	}
	if f.resolver != "" {
		if _, err := arena.KeyOf(f.resolver); err != nil {
			return marketView{}, exitcode.Usagef("--resolver: not a Solana address")
		}
		config.Resolver = f.resolver
	}
	_, _ = rand.Read(config.Seed[:]) // it never returns an error
	if err := opened.Create(ctx, config, now); err != nil {
		refusal := new(arena.Refusal)
		if errors.Is(err, store.ErrExists) || errors.As(err, &refusal) {
			return marketView{}, exitcode.Usagef("%w", err)
		}
		return marketView{}, err
	}
	return marketView{id, operator, config.Resolver, config.Closes, config.SeedHash()}, nil
}

// open opens the database.
func (f *marketFlags) open(ctx context.Context) (*store.Store, error) {
	path, err := file(f.database, database)
	if err != nil {
		return nil, err
	}
	opened, err := store.Open(ctx, path)
	return opened, exitcode.WithHint(err, "set --db to a file or to postgres://USER@HOST/NAME")
}

func openCommand(s *session.Session) *cobra.Command {
	var f marketFlags
	cmd := &cobra.Command{
		Use: "open MARKET QUESTION", Short: "Add a market to an arena", Long: openHelp,
		Example: `  haggle arena open likes "Does the post get 50,000 likes by Friday?" --lasts 2d`,
	}
	f.register(cmd.Flags())
	command.Documents(cmd, marketView{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) (err error) {
		opened, err := f.open(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, opened.Close()) }()
		operator, err := key(f.key, operatorKey)
		if err != nil {
			return err
		}
		view, err := f.add(ctx, opened, arena.AddressOf(operator), arguments[0], arguments[1])
		if err != nil {
			return err
		}
		return s.Print(view, "market    "+view.Market, "operator  "+view.Operator,
			fmt.Sprintf("closes    %s", view.Closes.Format(time.RFC3339)))
	})
	return cmd
}
