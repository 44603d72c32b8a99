// Strategy registers a new strategy by name, and plays it in a simulation, in a tournament and on chain:
//
//	go run ./examples/strategy
//	go run ./examples/strategy --buyer halfway:part=0.3 --seller tft:kindness=0.1
//
// A registered strategy is used like the strategies in package strategy, parameters included.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/gagliardetto/solana-go"
	"golang.org/x/sync/errgroup"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func init() {
	strategy.Register(strategy.Entry{
		Name: "halfway", Summary: "goes a part of the way from its last offer to the other side's", HasOpening: true,
		Parameters: []strategy.Parameter{{
			Name: "part", Summary: "part of the way", Default: fixed.One / 2, Max: fixed.One,
		}},
		New: func(values []fixed.Number) bargain.Strategy {
			return bargain.BOA{Bidding: halfway{values[0]}, Acceptance: acceptance.Next{}}
		},
	})
}

// halfway moves, with each offer, a given part of the distance to the opponent's last offer.
type halfway struct{ part fixed.Number }

// Bidder implements [bargain.Bidding].
func (h halfway) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder { return &bidder{h, seat} }

type bidder struct {
	halfway
	seat bargain.Seat
}

// Next returns the next offer.
func (b *bidder) Next(state *bargain.State) bargain.Outcome {
	p := b.seat.Preferences
	least, target, ok := b.seat.Range()
	if !ok {
		return bargain.NoOutcome
	}
	theirs, received := state.Others(b.seat.Self, 0)
	if own, made := state.Own(b.seat.Self, 0); made && received {
		last := p.Of(own.Outcome)
		target = last - (last - p.Of(theirs.Outcome)).Mul(b.part)
	}
	_, most, _ := p.Range()
	return p.Inverse().AtLeast(target.Clamp(least, most))
}

// Sent returns the reason of the offer, for records.
func (*bidder) Sent(bargain.Outcome) string { return "part of the way to the other side's offer" }

func main() {
	log.SetFlags(0)
	buyer := flag.String("buyer", "halfway:part=0.3", "`STRATEGY` of the buyer")
	seller := flag.String("seller", "boulware:e=6", "`STRATEGY` of the seller")
	flag.Parse()
	if err := run(context.Background(), *buyer, *seller); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, buyer, seller string) error {
	var sides [2]strategy.Entry
	for side, text := range []string{buyer, seller} {
		var err error
		if sides[side], err = strategy.Parse(text); err != nil {
			return err
		}
	}
	if err := simulate(sides); err != nil {
		return err
	}
	if err := compare(ctx, sides); err != nil {
		return err
	}
	return settle(ctx, sides)
}

// simulate plays one session over a price, with alternating offers.
func simulate(sides [2]strategy.Entry) error {
	domain, err := bargain.NewDomain(bargain.Price("price", 100, 200, 1))
	if err != nil {
		return err
	}
	var parties []mechanism.Party
	for side, entry := range sides {
		line, err := utility.PriceLine(domain, side == 1)
		if err != nil {
			return err
		}
		preferences, err := bargain.NewPreferences(domain, line, 0)
		if err != nil {
			return err
		}
		parties = append(parties, mechanism.Party{Strategy: entry.Strategy, Preferences: preferences})
	}
	result, err := mechanism.Alternating{Steps: 20}.Run(1, parties...)
	if err != nil {
		return err
	}
	text := "no price"
	if result.Agreement != bargain.NoOutcome {
		text = domain.Text(result.Agreement)
	}
	fmt.Printf("simulation: %s and %s: %s at %s\n", sides[0], sides[1], result.Ending, text)
	return nil
}

// compare plays a tournament by Haggle's rules between both strategies and several others.
func compare(ctx context.Context, sides [2]strategy.Entry) error {
	plan := &tournament.Plan{Seed: 1, Scenarios: tournament.Haggle{Seed: 1, Count: 20}}
	for _, text := range []string{sides[0].String(), sides[1].String(), "halfway:part=0.7", "linear"} {
		entry, err := strategy.Parse(text)
		if err != nil {
			return err
		}
		plan.Entrants = append(plan.Entrants, tournament.Entrant{Name: entry.String(), Strategy: entry.Strategy})
	}
	stats := plan.NewStats()
	err := plan.Run(ctx, 0, 0, func(block *tournament.Block) error {
		stats.Add(block)
		return nil
	})
	if err != nil {
		return err
	}
	for _, score := range stats.Scores() {
		fmt.Printf("tournament: %s: %.3f\n", score.Name, score.Advantage.Float())
	}
	return nil
}

// settle lets both strategies bargain on a local chain, each as a separate agent.
func settle(ctx context.Context, sides [2]strategy.Entry) (err error) {
	net, err := localnet.Start(ctx, localnet.Options{
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	service := protocol.ServiceHash("Summarise a paper")
	created, err := net.Client.CreateNegotiation(haggle.CreateRequest{
		Buyer: net.Buyer.PublicKey(), Seller: net.Seller.PublicKey(), Mint: net.Mint, Decimals: localnet.Decimals,
		ServiceHash: service, EscrowAmount: 5e6, Key: "order 1",
	}).Build(ctx)
	if err != nil {
		return err
	}
	if _, err = created.Do(ctx, net.Buyer); err != nil {
		return err
	}
	agents := []struct {
		key    haggle.Signer
		player agent.Player
		limits agent.Limits
	}{
		{net.Buyer, agent.Player{Opening: 2e6, Reservation: 3.5e6}, agent.Limits{MaxTotal: 4.5e6}},
		{net.Seller, agent.Player{Opening: 4.5e6, Reservation: 3e6}, agent.Limits{MinPrice: 3e6, SingleSourceUpTo: 5e6}},
	}
	results := make([]*agent.Result, len(agents))
	both, ctx := errgroup.WithContext(ctx)
	for side, a := range agents {
		a.player.Strategy, a.player.Name = sides[side].Strategy, sides[side].String()
		a.player.Decided = func(record agent.Record) error {
			_, err := fmt.Printf("chain: round %d: %s: %s %d (%s)\n", record.Round, record.Strategy, record.Move,
				record.Price, record.Reason)
			return err
		}
		a.limits.Decimals = localnet.Decimals
		runtime, err := agent.New(net.Client, a.key, agent.Config{
			Decide: a.player.Decide, Mints: map[solana.PublicKey]agent.Limits{net.Mint: a.limits},
			Services: [][32]byte{service},
		})
		if err != nil {
			return err
		}
		both.Go(func() (err error) {
			results[side], err = runtime.RunOne(ctx, created.Negotiation)
			return err
		})
	}
	if err := both.Wait(); err != nil {
		return err
	}
	fmt.Printf("chain: %s at %d after %d offers\n", results[0].Status, results[0].Price, results[0].Rounds)
	return nil
}
