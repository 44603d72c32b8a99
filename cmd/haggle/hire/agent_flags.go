package hire

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/languagemodel"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/hiring"
)

// assetFlag names the tokens of prices.
type assetFlag struct{ written []string }

func (f *assetFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.written, "asset", nil,
		"token of prices, SYMBOL=MINT; can be repeated (default: the well-known ones of --url)")
}

// assets returns the tokens. On a local chain, tokens must be named: otherwise a node that chose the cluster
// would choose the mint as well.
func (f *assetFlag) assets(ctx context.Context, s *session.Session) ([]hire.Asset, error) {
	if len(f.written) == 0 {
		settings, err := s.Connection.Settle()
		if err != nil {
			return nil, err
		}
		for _, cluster := range []rpc.Cluster{rpc.MainNetBeta, rpc.DevNet} {
			if settings.Endpoint == cluster.RPC {
				return escrow.Assets(cluster.Name), nil
			}
		}
		return nil, exitcode.Usagef("--asset not set: name the tokens of prices, such as --asset USDC=MINT")
	}
	var assets []hire.Asset
	for _, written := range f.written {
		symbol, address, found := strings.Cut(written, "=")
		if !found || symbol == "" {
			return nil, exitcode.Usagef("--asset: %q is not SYMBOL=MINT", written)
		}
		mint, err := connection.ParseAddress(address)
		if err != nil {
			return nil, exitcode.Usagef("--asset: %w", err)
		}
		read, err := s.PinnedMint(ctx, mint)
		if err != nil {
			return nil, fmt.Errorf("--asset %s: %w", symbol, err)
		}
		assets = append(assets, hire.Asset{Symbol: symbol, Mint: hire.Base58(mint.String()), Decimals: read.Decimals})
	}
	return assets, nil
}

// agentFlags holds the flags for an agent that bargains about prices.
type agentFlags struct {
	*session.Session
	assetFlag
	strategy, opening string
	seed              uint64
	rounds            uint8
	arbiters          []string
	shortest, longest duration.Flag
	local             bool
	llm               languagemodel.Flags
}

func (f *agentFlags) register(cmd *cobra.Command, arbiterHelp string) {
	f.registerLimits(cmd, arbiterHelp)
	flags := cmd.Flags()
	flags.StringVar(&f.strategy, "strategy", "linear", player.StrategyUsage(strategy.Names()))
	flags.StringVar(&f.opening, "opening", "", `first price, such as "4 USDC"`)
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the strategy's random numbers")
	flags.Uint8Var(&f.rounds, "rounds", party.DefaultRounds, "most offers of both sides in a deal")
	f.llm.Register(flags)
	command.Choices(cmd, "strategy", strategy.Names()...)
}

// registerLimits adds the flags for an agent's limits and connections.
func (f *agentFlags) registerLimits(cmd *cobra.Command, arbiterHelp string) {
	f.shortest, f.longest = duration.Flag(time.Minute), duration.Flag(30*24*time.Hour)
	flags := cmd.Flags()
	f.assetFlag.register(cmd)
	flags.StringArrayVar(&f.arbiters, "arbiter", nil, arbiterHelp)
	flags.Var(&f.shortest, "shortest", "least time from the agreement to the deadline of the delivery")
	flags.Var(&f.longest, "longest", "most time from the agreement to the deadline of the delivery")
	flags.BoolVar(&f.local, "local", false, "also connect to agents at private addresses: for tests, and for agents of one network")
}

// price returns a price's amount in base units and the asset.
func price(flag, written string, assets []hire.Asset) (hire.Asset, uint64, error) {
	asset, units, err := hire.Price(written).Units(assets)
	if err != nil {
		known := make([]string, len(assets))
		for i, asset := range assets {
			known[i] = asset.Symbol
		}
		return asset, 0, exitcode.Usagef("--%s: %q: %w (tokens: %s)", flag, written, err, strings.Join(known, ", "))
	}
	return asset, units, nil
}

// bargaining is what the flags say about prices.
type bargaining struct {
	assets []hire.Asset
	asset  hire.Asset
	// worst is the price limit in base units.
	worst  uint64
	player party.Player
	// strategy is the player strategy in canonical form.
	strategy string
	limits   party.Limits
	// decided prints the decisions made by language models; models is nil if none is used. The caller sets
	// decided.
	decided func(llm.Record)
	models  *llm.Player
}

// modelMove is a decision with language models, as the commands print it.
type modelMove struct{ llm.Record }

// advise lets the language models of the flags choose the moves.
func (f *agentFlags) advise(b *bargaining, changed func(flag string) bool) error {
	if !f.llm.IsSet() {
		return f.llm.Check(changed)
	}
	level := slog.LevelWarn
	if f.llm.LogsPrompts() {
		level = slog.LevelInfo
	}
	models, err := f.llm.Player(llm.Options{
		Strategy: b.player.Strategy, Name: b.strategy, Logger: f.Logger(level),
		Decided: func(record llm.Record) error { b.decided(record); return nil },
	})
	if err != nil {
		return err
	}
	b.models, b.player.Choose = models, hiring.Choose(models.Chooser())
	return nil
}

// bargaining returns the limits and the player. limit is the worst price of the flag with this name.
func (f *agentFlags) bargaining(ctx context.Context, role hire.Role, flag, limit string) (*bargaining, error) {
	b, err := f.limits(ctx, role, flag, limit)
	if err != nil {
		return b, err
	}
	openingAsset, opening, err := price("opening", cmp.Or(f.opening, limit), b.assets)
	if err != nil {
		return b, err
	}
	played, err := strategy.Parse(f.strategy)
	switch {
	case openingAsset != b.asset:
		return b, exitcode.Usagef("--opening: must be in %s, as --%s", b.asset.Symbol, flag)
	case err != nil:
		return b, player.StrategyError("strategy", err)
	}
	b.strategy = played.String()
	b.player = party.Player{
		Strategy: played.Strategy, Opening: opening, Reservation: b.worst, Rounds: int(f.rounds), Seed: f.seed,
	}
	return b, nil
}

// limits returns the limits alone. limit is the worst price of the flag with this name.
func (f *agentFlags) limits(ctx context.Context, role hire.Role, flag, limit string) (b *bargaining, err error) {
	b = &bargaining{}
	if b.assets, err = f.assets(ctx, f.Session); err != nil {
		return b, err
	}
	if b.asset, b.worst, err = price(flag, limit, b.assets); err != nil {
		return b, err
	}
	if len(f.arbiters) == 0 {
		return b, exitcode.Usagef("--arbiter not set: name who decides about a disputed delivery")
	}
	prices := party.PriceLimits{Least: b.worst}
	if role == hire.RoleSeeker {
		prices = party.PriceLimits{Most: b.worst}
	}
	b.limits = party.Limits{
		Prices: map[string]party.PriceLimits{b.asset.Symbol: prices}, Shortest: time.Duration(f.shortest),
		Longest: time.Duration(f.longest),
	}
	for _, written := range f.arbiters {
		address, err := connection.ParseAddress(written)
		if err != nil {
			return b, exitcode.Usagef("--arbiter: %w", err)
		}
		b.limits.Arbiters = append(b.limits.Arbiters, hire.Base58(address.String()))
	}
	return b, nil
}

// keys holds the wallet and the same key for messages.
type keys struct {
	client *haggle.Client
	wallet haggle.Signer
	key    ed25519.PrivateKey
}

func (f *agentFlags) keys(ctx context.Context) (keys, error) {
	client, wallet, err := f.ClientAndKey(ctx)
	if err != nil {
		return keys{}, err
	}
	key, err := f.Connection.MessageKey(ctx)
	return keys{client, wallet, key}, err
}

// party returns an agent's configuration at a home.
func (f *agentFlags) party(ctx context.Context, k keys, home, id string, b *bargaining) (party.Config, error) {
	state, err := f.Connection.State(ctx)
	if err != nil {
		return party.Config{}, err
	}
	client := &hire.Client{Local: f.local}
	return party.Config{
		Home:     &hire.Home{Origin: home, Agent: id, Key: k.key, Client: client},
		Resolver: &hire.Resolver{Client: client, Pins: state.HirePins()}, Assets: b.assets, Limits: b.limits,
		Chain: &party.Chain{Client: k.client, Wallet: k.wallet},
	}, nil
}

// addressOf returns a key as a Solana address.
func addressOf(key ed25519.PrivateKey) solana.PublicKey {
	return solana.PublicKeyFromBytes(key.Public().(ed25519.PublicKey))
}
