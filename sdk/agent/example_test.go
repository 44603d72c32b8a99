package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// A seller that starts at 4.5 tokens, concedes in steps of 0.3, and accepts at least 3.
func Example() {
	client, err := haggle.NewClient(haggle.Config{Endpoint: "https://api.devnet.solana.com"})
	if err != nil {
		log.Fatal(err)
	}
	me, err := wallet.LoadKeypairFile("seller.json")
	if err != nil {
		log.Fatal(err)
	}
	seller, err := agent.New(client, me, agent.Config{
		Mints: map[solana.PublicKey]agent.Limits{
			usdc: {Decimals: 6, MinPrice: 3_000_000, SingleSourceUpTo: 4_500_000},
		},
		Services: [][32]byte{protocol.ServiceHash("Summarise a paper")},
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			ask := max(4_500_000-300_000*uint64(turn.Negotiation.CurrentRound/2), 3_050_000)
			if turn.Standing() >= ask {
				return agent.Accept{}, nil
			}
			if !turn.CanOffer() {
				return agent.Reject{}, nil
			}
			price, err := turn.InRange(ask)
			return agent.Offer{Amount: price}, err
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(seller.Run(context.Background()))
}

// An agent for production: it writes transactions to a journal before sending, checks the counterparties, and
// stops on an interrupt.
func ExampleRuntime_Run() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	state, err := sqlite.Open(ctx, "state.db")
	if err != nil {
		log.Fatal(err)
	}
	defer state.Close()
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: "https://api.mainnet-beta.solana.com", Fallbacks: []string{"https://rpc.example.org"},
		Journal: state,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	me, err := wallet.LoadKeypairFile("buyer.json")
	if err != nil {
		log.Fatal(err)
	}
	buyer, err := agent.New(client, me, agent.Config{
		Mints: map[solana.PublicKey]agent.Limits{usdc: {Decimals: 6, MaxTotal: 4_500_000}},
		Admit: func(ctx context.Context, n *haggle.Snapshot) error {
			if !isKnown(ctx, n.Seller) {
				return agent.ErrRefused
			}
			return nil
		},
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			switch {
			case turn.CanAccept() && turn.Standing() <= 3_500_000:
				return agent.Accept{}, nil
			case turn.LastCall || !turn.CanOffer():
				return agent.Reject{}, nil
			}
			price, err := turn.InRange(2_000_000)
			return agent.Offer{Amount: price}, err
		},
		Ended: func(result agent.Result) { log.Println(result.Status, result.Price) },
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := buyer.Run(ctx); !errors.Is(err, context.Canceled) {
		log.Println(err)
	}
}

// This agent ends with its only purchase.
func ExampleRuntime_RunOne() {
	var (
		ctx         context.Context
		client      *haggle.Client
		me          *wallet.Keypair
		negotiation solana.PublicKey
	)
	buyer, err := agent.New(client, me, agent.Config{
		Mints: map[solana.PublicKey]agent.Limits{usdc: {Decimals: 6, MaxTotal: 4_500_000}},
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			if turn.CanAccept() && turn.Standing() <= 3_500_000 {
				return agent.Accept{}, nil
			}
			return agent.Reject{}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	deal, err := buyer.RunOne(ctx, negotiation)
	switch {
	case deal == nil:
		log.Fatal(err)
	case err != nil:
		log.Println("the last action failed:", err)
	}
	log.Println(deal.Status, deal.Price)
}

// InRange moves an amount into the range for the buyer's offer, and below the buyer's limit: this offer costs
// a decay of 0.1.
func ExampleTurn_InRange() {
	n := &haggle.Snapshot{}
	n.EscrowAmount, n.EffectiveEscrow, n.DecayRateBps, n.MinOfferBps = 5_000_000, 5_000_000, 200, 1_000
	turn := agent.Turn{
		Negotiation: n, Side: protocol.OfferSideBuyer, Limits: agent.Limits{MaxTotal: 3_500_000},
	}
	for _, bid := range []uint64{100, 3_000_000, 4_000_000} {
		price, err := turn.InRange(bid)
		fmt.Println(price, errors.Is(err, agent.ErrBeyondLimit))
	}
	// Output:
	// 490000 false
	// 3000000 false
	// 3400000 false
}

// usdc is Circle's mint on devnet.
var usdc = solana.MustPublicKeyFromBase58("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU")

func isKnown(context.Context, solana.PublicKey) bool { return true }
