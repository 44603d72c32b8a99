// Seller sells a service to the first buyer that invites it on acceptable terms:
//
//	go run ./examples/seller --rpc URL --key seller.json --mint ADDRESS
//
// It bargains with equal steps from 4.5 tokens of 6 decimals towards the lowest price. "haggle localnet"
// starts a chain and prints the values of the flags. Start this program before ./examples/buyer. If it
// crashes, start it again with the same journal: it continues the open negotiation.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// service is the service hash that both agents bargain about.
var service = protocol.ServiceHash("Summarise a paper")

func main() {
	rpc := flag.String("rpc", "http://127.0.0.1:8899", "JSON-RPC `URL`")
	ws := flag.String("ws", "", "WebSocket `URL`, if not derived from --rpc")
	keyFile := flag.String("key", "seller.json", "keypair `FILE` of the Solana tools")
	mint := flag.String("mint", "", "`ADDRESS` of the mint of the payment")
	stateFile := flag.String("state", "journal.db", "SQLite `FILE` that records transactions before they are sent")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config := haggle.Config{Endpoint: *rpc, WSEndpoint: *ws}
	if err := run(ctx, config, *keyFile, *mint, *stateFile); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, config haggle.Config, keyFile, mint, stateFile string) (err error) {
	payment, err := solana.PublicKeyFromBase58(mint)
	if err != nil {
		return fmt.Errorf("--mint: %w", err)
	}
	key, err := wallet.LoadKeypairFile(keyFile)
	if err != nil {
		return fmt.Errorf("--key: %w", err)
	}
	state, err := sqlite.Open(ctx, stateFile)
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	config.Journal = state
	client, err := haggle.NewClient(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()

	runtime, err := agent.New(client, key, seller(payment))
	if err != nil {
		return err
	}
	log.Printf("%s waits for an invitation", key.PublicKey())
	deal, err := runtime.RunOne(ctx, solana.PublicKey{})
	if deal != nil {
		log.Printf("%s: price %d, fee %d, after %d offers", deal.Status, deal.Price, deal.Fee, deal.Rounds)
	}
	return err
}

// seller asks for 4.5 tokens at first and 0.4 less each time. It sells for at least 3 after the fee.
func seller(mint solana.PublicKey) agent.Config {
	return agent.Config{
		Mints:    map[solana.PublicKey]agent.Limits{mint: {Decimals: 6, MinPrice: 3e6, SingleSourceUpTo: 4.5e6}},
		Services: [][32]byte{service},
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			ask := max(4_500_000-400_000*uint64(turn.Negotiation.CurrentRound/2), 3_050_000)
			if turn.Standing() >= ask {
				return agent.Accept{}, nil
			}
			price, err := turn.InRange(ask)
			return agent.Offer{Amount: price}, err
		},
	}
}
