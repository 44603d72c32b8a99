package transaction_test

import (
	"context"
	"errors"
	"log"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// A read fails with ErrBehind while no node reached a slot that any node returned before.
func Example_nodes() {
	var (
		ctx         context.Context
		negotiation solana.PublicKey
	)
	client, err := haggle.NewClient(haggle.Config{
		Endpoint:  "https://api.mainnet-beta.solana.com",
		Fallbacks: []string{"https://rpc.example.org"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	snapshot, err := client.Negotiation(negotiation).Snapshot(ctx)
	switch {
	case errors.Is(err, transaction.ErrBehind):
		log.Println("read again later:", err)
	case err != nil:
		log.Fatal(err)
	default:
		log.Println(snapshot.Status)
	}
}
