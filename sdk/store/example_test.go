package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

func Example() {
	directory, err := os.MkdirTemp("", "agent")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	ctx := context.Background()
	state, err := sqlite.Open(ctx, filepath.Join(directory, "state.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer state.Close()
	wallet := solana.PublicKey{1}
	records := 0
	for _, err := range state.UsageLog(wallet).Next(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		records++
	}
	fmt.Println("usage records of a new wallet:", records)
	// Output: usage records of a new wallet: 0
}
