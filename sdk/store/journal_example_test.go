package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// A restarted agent first resolves the previous run's transactions.
func ExampleStore_OpenJournal() {
	var (
		ctx      context.Context
		endpoint string
		me       *wallet.Keypair
	)
	state, err := sqlite.Open(ctx, "state.db")
	if err != nil {
		log.Fatal(err)
	}
	defer state.Close()
	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: state})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	recovered, err := client.Recover(ctx, me.PublicKey())
	if errors.Is(err, haggle.ErrUnresolved) {
		log.Fatal("some outcomes are unknown: try again later: ", err)
	}
	if err != nil {
		log.Fatal(err)
	}
	for _, one := range recovered {
		fmt.Println(one.Entry.Action, "on", one.Entry.Negotiation, "is", one.Outcome)
	}
}
