// Buyer invites one seller and bargains with it:
//
//	go run ./examples/buyer --rpc URL --key buyer.json --mint ADDRESS --seller ADDRESS
//
// It deposits 5 tokens of 6 decimals, and raises the offers in equal steps from 2 tokens to the highest
// price. The rest of the deposit comes back. "haggle localnet" starts a chain and prints the values of the
// flags. If it crashes, start it again with the same journal and order: it continues the purchase, and
// deposits nothing again. Each purchase needs a different --order.
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
	keyFile := flag.String("key", "buyer.json", "keypair `FILE` of the Solana tools")
	mint := flag.String("mint", "", "`ADDRESS` of the mint of the payment")
	counterpart := flag.String("seller", "", "`ADDRESS` of the seller")
	order := flag.String("order", "1", "`NAME` of the purchase")
	stateFile := flag.String("state", "buyer.db", "SQLite `FILE` that records transactions before they are sent")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config := haggle.Config{Endpoint: *rpc, WSEndpoint: *ws}
	if err := run(ctx, config, *keyFile, *mint, *counterpart, *order, *stateFile); err != nil {
		log.Fatal(err)
	}
}

func run(
	ctx context.Context, config haggle.Config, keyFile, mint, seller, order, stateFile string,
) (err error) {
	payment, err := solana.PublicKeyFromBase58(mint)
	if err != nil {
		return fmt.Errorf("--mint: %w", err)
	}
	counterpart, err := solana.PublicKeyFromBase58(seller)
	if err != nil {
		return fmt.Errorf("--seller: %w", err)
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

	runtime, err := agent.New(client, key, buyer(payment))
	if err != nil {
		return err
	}
	negotiation, err := invite(ctx, client, key, payment, counterpart, order)
	var done *haggle.AlreadyDone
	if errors.As(err, &done) {
		log.Printf("order %s: an earlier run has made the deposit", order)
		negotiation, err = done.Negotiation, nil
	}
	if err != nil {
		return err
	}
	deal, err := runtime.RunOne(ctx, negotiation)
	if deal != nil {
		log.Printf("%s: price %d after %d offers", deal.Status, deal.Price, deal.Rounds)
	}
	return err
}

// invite deposits 5 tokens and invites the seller, once for each order. With nine offers the last one is the
// buyer's.
func invite(
	ctx context.Context, client *haggle.Client, key haggle.Signer, mint, seller solana.PublicKey, order string,
) (solana.PublicKey, error) {
	invitation, err := client.CreateNegotiation(haggle.CreateRequest{
		Buyer: key.PublicKey(), Seller: seller, Mint: mint, Decimals: 6,
		EscrowAmount: 5_000_000, MaxRounds: 9, ServiceHash: service, Key: order,
	}).Build(ctx)
	if err != nil {
		return solana.PublicKey{}, err
	}
	_, err = invitation.Do(ctx, key)
	return invitation.Negotiation, err
}

// buyer offers 2 tokens at first and 0.5 more each time, up to 3.5. It pays at most 4.2 in all: price and
// decay.
func buyer(mint solana.PublicKey) agent.Config {
	return agent.Config{
		Mints: map[solana.PublicKey]agent.Limits{mint: {Decimals: 6, MaxTotal: 4_200_000}},
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			raised := 500_000 * uint64(turn.Negotiation.CurrentRound/2)
			bid, err := turn.InRange(min(2_000_000+raised, 3_500_000))
			if err == nil && turn.CanAccept() && turn.Standing() <= bid {
				return agent.Accept{}, nil
			}
			return agent.Offer{Amount: bid}, err
		},
	}
}
