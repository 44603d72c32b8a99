package haggle_test

import (
	"context"
	"fmt"
	"log"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// An index stores the last transaction of each page, and continues from there when it is restarted.
func ExampleListTransactions() {
	var (
		ctx    context.Context
		client *haggle.Client
		stored transaction.Listed
	)
	pages := haggle.ListTransactions(ctx, client.RPC(), haggle.ListTransactionsOptions{Before: stored})
	for page, err := range pages {
		if err != nil {
			log.Fatal(err)
		}
		for _, tx := range page {
			fmt.Println(tx.Slot, tx.Signature, tx.Failed)
		}
		stored = page[len(page)-1]
	}
}
