package ledger_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

func Example() {
	ctx := context.Background()
	module, err := engine.Compile(ctx, "") // or a directory that keeps the compiled module
	if err != nil {
		log.Fatal(err)
	}
	defer module.Close()
	chain, err := ledger.New(ctx, ledger.Options{Module: module})
	if err != nil {
		log.Fatal(err)
	}
	defer chain.Close()

	alice := solana.NewWallet().PublicKey()
	prepared, err := chain.Snapshot()
	if err != nil {
		log.Fatal(err)
	}
	airdrop, err := chain.Airdrop(alice, solana.LAMPORTS_PER_SOL)
	if err != nil {
		log.Fatal(err)
	}
	if err := chain.AdvanceBy(time.Hour); err != nil { // closes the block
		log.Fatal(err)
	}
	status, _ := chain.Status(airdrop.Signature)
	fmt.Println(status.Commitment, chain.Account(alice, ledger.Confirmed).Lamports)
	if err := chain.Restore(ctx, prepared); err != nil {
		log.Fatal(err)
	}
	fmt.Println(chain.Account(alice, ledger.Processed) == nil)
	// Output:
	// confirmed 1000000000
	// true
}
