package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/gagliardetto/solana-go"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/cli/actions"
	"github.com/haggle-protocol/haggle/internal/cli/demo"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

var service = protocol.ServiceHash("Summarise a paper")

// The terms of the negotiation.
const (
	rounds = 8
	// decay is the escrow share that each round costs, in basis points.
	decay = 150
)

// party is an agent of the demonstration.
type party struct {
	demo.Stage
	name  string
	key   *wallet.Keypair
	acted func(actions.Action)
}

// play runs both agents to completion. Each bargains with a separate client.
func play(ctx context.Context, stage demo.Stage, acted func(actions.Action)) error {
	agents, ctx := errgroup.WithContext(ctx)
	agents.Go(func() error {
		return party{stage, "seller", stage.Seller, acted}.sell(ctx, stage.Buyer.PublicKey())
	})
	agents.Go(func() error {
		return party{stage, "buyer", stage.Buyer, acted}.buy(ctx, stage.Seller.PublicKey())
	})
	return agents.Wait()
}

// sell waits for the buyer's invitation, and bargains.
func (p party) sell(ctx context.Context, buyer solana.PublicKey) error {
	return p.bargain(ctx, demo.SellerPrices, solana.PublicKey{}, agent.Config{
		Concerns: func(n *haggle.Snapshot) bool { return n.Buyer == buyer },
		Services: [][32]byte{service},
		// The chain is a single trusted node.
		Mints: map[solana.PublicKey]agent.Limits{p.Mint: {
			Decimals: localnet.Decimals, MinPrice: demo.SellerPrices.Reservation,
			SingleSourceUpTo: demo.SellerPrices.Opening, FinalizedAbove: demo.SellerPrices.Opening,
		}},
	})
}

// buy deposits the escrow, invites the seller, and bargains.
func (p party) buy(ctx context.Context, seller solana.PublicKey) error {
	decayBps := uint16(decay)
	created, err := p.Client.CreateNegotiation(haggle.CreateRequest{
		Buyer: p.key.PublicKey(), Seller: seller, Mint: p.Mint, Decimals: localnet.Decimals, ServiceHash: service,
		EscrowAmount: demo.Escrow, MaxRounds: rounds, DecayRateBps: &decayBps, Key: "order 1",
	}).Build(ctx)
	if err != nil {
		return fmt.Errorf("buyer: %w", err)
	}
	receipt, err := created.Do(ctx, p.key)
	if err != nil {
		return fmt.Errorf("buyer: %w", err)
	}
	p.acted(actions.OfCreation(p.name, created, receipt, p.Tokens))
	return p.bargain(ctx, demo.BuyerPrices, created.Negotiation, agent.Config{
		Mints: map[solana.PublicKey]agent.Limits{p.Mint: {
			Decimals: localnet.Decimals, MaxTotal: demo.MaxTotal,
		}},
	})
}

// bargain concedes in equal steps from the opening price to the reservation price.
func (p party) bargain(ctx context.Context, prices demo.Prices, negotiation solana.PublicKey, config agent.Config) error {
	client, err := haggle.NewClient(p.Chain.ClientConfig())
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	defer client.Close() // nothing is buffered
	config.Decide = agent.Player{
		Strategy: strategy.Linear(), Opening: prices.Opening, Reservation: prices.Reservation,
	}.Decide
	config.Acted = func(act agent.Act) { p.acted(actions.Of(p.name, act.Name, act.Before, act.Receipt, p.Tokens)) }
	config.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	runtime, err := agent.New(client, p.key, config)
	if err == nil {
		_, err = runtime.RunOne(ctx, negotiation)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}
