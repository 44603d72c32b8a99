package history_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/history"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// An index stores the last transaction of each page, and continues from there after a restart.
func ExamplePages() {
	var (
		ctx    context.Context
		client *haggle.Client
		stored history.Transaction
	)
	query := history.Query{Address: protocol.ProgramID, Before: stored, Commitment: rpc.CommitmentFinalized}
	for page, err := range history.Pages(ctx, client.RPC(), query) {
		if err != nil {
			log.Fatal(err)
		}
		for _, tx := range page {
			fmt.Println(tx.Slot, tx.Signature, tx.Failed)
		}
		stored = page[len(page)-1]
	}
}
