// Slow-decision is a seller whose decision takes 20 seconds, as that of a language model can:
//
//	go run ./examples/slow-decision --rpc URL --key seller.json --mint ADDRESS --thinking 20s
//
// The runtime calls Decide as soon as it is the agent's turn and waits for it, at most DecisionTime and until
// Margin before the end of the response window. If Decide is too slow, the runtime carries out Fallback in
// time. The context ends earlier if the negotiation changes, so a model is not called for an outdated state.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

func main() {
	rpc := flag.String("rpc", "http://127.0.0.1:8899", "JSON-RPC `URL`")
	ws := flag.String("ws", "", "WebSocket `URL`, if not derived from --rpc")
	keyFile := flag.String("key", "seller.json", "keypair `FILE` of the Solana tools")
	mint := flag.String("mint", "", "`ADDRESS` of the mint of the payment")
	thinking := flag.Duration("thinking", 20*time.Second, "time of a decision")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config := haggle.Config{Endpoint: *rpc, WSEndpoint: *ws}
	if err := run(ctx, config, *keyFile, *mint, *thinking); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, config haggle.Config, keyFile, mint string, thinking time.Duration) (err error) {
	payment, err := solana.PublicKeyFromBase58(mint)
	if err != nil {
		return fmt.Errorf("--mint: %w", err)
	}
	key, err := wallet.LoadKeypairFile(keyFile)
	if err != nil {
		return fmt.Errorf("--key: %w", err)
	}
	client, err := haggle.NewClient(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	seller, err := agent.New(client, key, agent.Config{
		Mints: map[solana.PublicKey]agent.Limits{
			payment: {Decimals: 6, MinPrice: 3_000_000, SingleSourceUpTo: 4_500_000},
		},
		Services: [][32]byte{protocol.ServiceHash("Summarise a paper")},
		Decide: func(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
			log.Printf("round %d: deciding until Unix time %d", turn.Negotiation.CurrentRound, turn.Deadline)
			return think(ctx, turn, thinking)
		},
		// DecisionTime limits each call of Decide. Margin is the time that remains for the last transaction.
		DecisionTime: thinking + 10*time.Second,
		Margin:       20 * time.Second,
		Fallback:     agent.Reject{},
		Failed:       func(_ solana.PublicKey, err error) { log.Println(err) },
	})
	if err != nil {
		return err
	}
	deal, err := seller.RunOne(ctx, solana.PublicKey{})
	if deal != nil {
		log.Printf("%s: price %d after %d offers", deal.Status, deal.Price, deal.Rounds)
	}
	return err
}

// think stands for a call of a model: pass ctx to it. The limits of the configuration apply to its result.
func think(ctx context.Context, turn agent.Turn, thinking time.Duration) (agent.Decision, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(thinking):
	}
	if turn.Standing() >= 3_050_000 {
		return agent.Accept{}, nil
	}
	price, err := turn.InRange(3_500_000)
	return agent.Offer{Amount: price}, err
}
