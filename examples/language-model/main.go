// Language-model is a seller whose moves a language model chooses, within a strategy's band and the agent's limits:
//
//	OPENAI_API_KEY=... go run ./examples/language-model --rpc URL --key seller.json --mint ADDRESS --model MODEL
//
// A model may take its time: the runtime calls Decide as soon as it is the agent's turn. The player asks the model
// until shortly before the end of the response window, and then makes the strategy's move.
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
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/openai"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

var service = protocol.ServiceHash("Summarise a paper")

// adviser sells for at least 3 tokens after the fee. A language model chooses the moves.
func adviser(mint solana.PublicKey, model llm.Model) (agent.Config, error) {
	limits := map[solana.PublicKey]agent.Limits{mint: {Decimals: 6, MinPrice: 3e6, SingleSourceUpTo: 4.5e6}}
	player, err := llm.NewPlayer(model, llm.Options{
		Principal: "Sell summaries of papers. A quick deal is worth more to me than the last cent.",
		Opening:   4_500_000,
		Budget:    llm.Budget{Tokens: 200_000},
		Decided: func(record llm.Record) error {
			log.Printf("round %d: %s %s", record.Round, record.Move.Move, record.Fallback)
			return nil
		},
	})
	if err != nil {
		return agent.Config{}, err
	}
	player.Mints = limits
	return agent.Config{
		Mints: limits, Services: [][32]byte{service}, Decide: player.Decide, Admit: player.Admit,
	}, nil
}

func main() {
	rpc := flag.String("rpc", "http://127.0.0.1:8899", "JSON-RPC `URL`")
	ws := flag.String("ws", "", "WebSocket `URL`, if not derived from --rpc")
	keyFile := flag.String("key", "seller.json", "keypair `FILE` of the Solana tools")
	mint := flag.String("mint", "", "`ADDRESS` of the mint of the payment")
	model := flag.String("model", "", "`NAME` of the model")
	url := flag.String("url", "", "`URL` of an endpoint that is compatible with OpenAI's, instead of OpenAI's own")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	connected, err := openai.New(openai.Config{
		Model: *model, BaseURL: *url, Key: llm.KeyFromEnvironment("OPENAI_API_KEY"),
	})
	if err == nil {
		err = run(ctx, haggle.Config{Endpoint: *rpc, WSEndpoint: *ws}, *keyFile, *mint, connected)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, config haggle.Config, keyFile, mint string, model llm.Model) (err error) {
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
	settings, err := adviser(payment, model)
	if err != nil {
		return err
	}
	seller, err := agent.New(client, key, settings)
	if err != nil {
		return err
	}
	deal, err := seller.RunOne(ctx, solana.PublicKey{})
	if deal != nil {
		log.Printf("%s: price %d after %d offers", deal.Status, deal.Price, deal.Rounds)
	}
	return err
}
