package keeper_test

import (
	"context"
	"log"
	"os"
	"os/signal"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/keeper"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// A keeper that spends at most 0.01 SOL a day, until Ctrl-C.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := haggle.NewClient(haggle.Config{Endpoint: "https://api.devnet.solana.com", MaxPriorityFee: 1_000})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	wallet, err := wallet.LoadKeypairFile("keeper.json")
	if err != nil {
		log.Fatal(err)
	}
	k, err := keeper.New(client, wallet, keeper.Config{
		DailyBudget: 10_000_000,
		Acted: func(action keeper.Action) {
			log.Println(action.Kind, action.Negotiation, action.Outcome, action.Cost, action.Err)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Println(k.Run(ctx))
}
