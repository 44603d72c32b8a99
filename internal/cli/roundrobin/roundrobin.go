// Package roundrobin lets strategies bargain on a local chain, pairing each as buyer and as seller with every
// other, and compares the on-chain outcomes with simulated outcomes.
package roundrobin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/cli/mint"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// Strategies lists the strategies that play if Options names none.
var Strategies = []string{
	"linear", "genius-boulware", "genius-conceder", "negmas-boulware", "negmas-conceder", "tit-for-tat",
	"nice-tit-for-tat", "random",
}

// timeout suffices for all negotiations on a slow machine.
const timeout = 5 * time.Minute

var errTimeout = fmt.Errorf("the round robin has not ended within %d minutes: the machine may be too slow",
	timeout/time.Minute)

// Common terms and prices, in base units. Time does not decide them: no deadline is near. The fee is the
// protocol's.
var (
	Terms = onchain.Rules{
		Escrow: 5_000_000, MaxRounds: 6, DecayRateBps: 150, MinOfferBps: 1_000,
		ResponseWindow: 900, Deadline: 7_200,
	}
	Buyer  = agent.Player{Opening: 2_000_000, Reservation: 3_500_000}
	Seller = agent.Player{Opening: 4_500_000, Reservation: 3_000_000}
)

var service = protocol.ServiceHash("Round robin")

// Options configures a round robin.
type Options struct {
	// Out receives the matches and the result, Progress the steps.
	Out, Progress io.Writer
	// JSON writes matches as documents.
	JSON bool
	// Chain selects the kind of chain to start. If empty, the environment decides.
	Chain localnet.Kind
	// Strategies lists texts for strategy.Parse. The default is the variable Strategies.
	Strategies []string
	// Seed selects the strategies' random numbers, in the simulation and on chain.
	Seed uint64

	// ring makes each strategy the buyer in a single match, against its successor in the list.
	ring bool
}

// Run starts a chain and plays all matches at the same time. It returns ErrDiffers if an on-chain outcome
// differs from the prediction.
func Run(ctx context.Context, options Options) (err error) {
	if len(options.Strategies) == 0 {
		options.Strategies = Strategies
	}
	report := func(line string) { fmt.Fprintln(options.Progress, line) }
	net, err := localnet.Start(ctx, localnet.Options{Kind: options.Chain, Progress: report})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	c := &contest{Options: options, net: net, report: report}
	if c.mint, err = mint.Read(ctx, net.Client, net.Mint); err != nil {
		return err
	}
	if err := c.setUp(ctx); err != nil {
		return err
	}
	if err := c.play(ctx); err != nil {
		return err
	}
	return c.compare(ctx)
}

// contest is a running round robin.
type contest struct {
	Options
	net     *localnet.Net
	mint    mint.Mint
	report  func(string)
	rules   onchain.Rules
	players []player
	matches []*match
}

// player is a strategy with a wallet.
type player struct {
	name   string
	wallet *wallet.Keypair
	// sides holds the strategy's players, buyer and seller.
	sides [2]agent.Player
}

// match is a negotiation between two players, given as indices.
type match struct {
	buyer, seller     int
	negotiation       solana.PublicKey
	predicted, actual Outcome
}

// setUp endows the wallets and predicts the outcomes, before anything happens on chain.
func (c *contest) setUp(ctx context.Context) error {
	config, err := c.net.Client.GetConfig(ctx)
	if err != nil {
		return err
	}
	c.rules = Terms
	c.rules.FeeBps = config.DefaultProtocolFeeBps
	var owners []solana.PublicKey
	for _, name := range c.Strategies {
		played, err := strategy.Parse(name)
		if err != nil {
			return err
		}
		p := player{name: played.String()}
		p.sides[protocol.OfferSideBuyer], p.sides[protocol.OfferSideSeller] = Buyer, Seller
		for side := range p.sides {
			p.sides[side].Strategy, p.sides[side].Name, p.sides[side].Seed = played.Strategy, p.name, c.Seed
		}
		if p.wallet, err = wallet.GenerateKeypair(); err != nil {
			return err
		}
		c.players, owners = append(c.players, p), append(owners, p.wallet.PublicKey())
	}
	for i := range c.players {
		for j := range c.players {
			if i == j || c.ring && j != (i+1)%len(c.players) {
				continue
			}
			m := &match{buyer: i, seller: j}
			m.predicted, err = Predict(c.rules.FeeBps, c.Seed,
				c.players[i].sides[protocol.OfferSideBuyer].Strategy,
				c.players[j].sides[protocol.OfferSideSeller].Strategy)
			if err != nil {
				return err
			}
			c.matches = append(c.matches, m)
		}
	}
	return c.net.Endow(ctx, owners...)
}

// play runs the agents and creates the negotiations. It returns once both sides have ended all negotiations.
func (c *contest) play(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan agent.Result, 2*len(c.matches))
	var running sync.WaitGroup
	defer running.Wait()
	defer stop(nil)
	for _, p := range c.players {
		runtime, err := c.runtime(p, ended, stop)
		if err != nil {
			return err
		}
		running.Go(func() {
			if err := runtime.Run(ctx); ctx.Err() == nil {
				stop(fmt.Errorf("%s: %w", p.name, err))
			}
		})
	}
	if err := c.create(ctx); err != nil {
		return err
	}
	c.report(fmt.Sprintf("%d negotiations of %d agents", len(c.matches), len(c.players)))
	for count := range 2 * len(c.matches) {
		select {
		case <-ended:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d negotiations have ended: %w", count/2, len(c.matches), context.Cause(ctx))
		}
	}
	return nil
}

// runtime returns a player's agent.
func (c *contest) runtime(
	p player, ended chan<- agent.Result, stop context.CancelCauseFunc,
) (*agent.Runtime, error) {
	return agent.New(c.net.Client, p.wallet, agent.Config{
		Decide: func(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
			return p.sides[turn.Side].Decide(ctx, turn)
		},
		Mints: map[solana.PublicKey]agent.Limits{
			c.net.Mint: {
				Decimals: localnet.Decimals, MinPrice: Seller.Reservation, MaxTotal: c.rules.Escrow,
				FinalizedAbove: math.MaxUint64, SingleSourceUpTo: math.MaxUint64, // an own chain
			},
		},
		Services: [][32]byte{service}, MaxOpen: len(c.matches), MaxOpenPerCounterpart: len(c.matches),
		Ended: func(result agent.Result) { ended <- result },
		Failed: func(negotiation solana.PublicKey, err error) {
			stop(fmt.Errorf("%s on %s: %w", p.name, negotiation, err))
		},
		Logger: slog.New(slog.DiscardHandler),
	})
}

// create creates the negotiations, sequentially for each buyer.
func (c *contest) create(ctx context.Context) error {
	buyers, ctx := errgroup.WithContext(ctx)
	for index := range c.players {
		buyers.Go(func() error {
			for _, m := range c.matches {
				if m.buyer != index {
					continue
				}
				if err := c.invite(ctx, m); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return buyers.Wait()
}

func (c *contest) invite(ctx context.Context, m *match) error {
	decay, signer := c.rules.DecayRateBps, c.players[m.buyer].wallet
	created, err := c.net.Client.CreateNegotiation(haggle.CreateRequest{
		Buyer: signer.PublicKey(), Seller: c.players[m.seller].wallet.PublicKey(), Mint: c.net.Mint,
		Decimals: localnet.Decimals, ServiceHash: service, EscrowAmount: c.rules.Escrow, MaxRounds: c.rules.MaxRounds, DecayRateBps: &decay,
		ResponseWindow: time.Duration(c.rules.ResponseWindow) * time.Second,
		Deadline:       time.Duration(c.rules.Deadline) * time.Second, MinOfferBps: c.rules.MinOfferBps,
		MaxFeeBps: &c.rules.FeeBps, Key: "match", // each pair plays once
	}).Build(ctx)
	if err != nil {
		return err
	}
	m.negotiation = created.Negotiation
	_, err = created.Do(ctx, signer)
	return err
}
