package engine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

func Example() {
	ctx := context.Background()
	module, err := engine.Compile(ctx, "") // or a directory that keeps the compiled module
	if err != nil {
		log.Fatal(err)
	}
	defer module.Close()
	chain, err := module.New(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer chain.Close()

	payer, receiver := solana.NewWallet(), solana.NewWallet().PublicKey()
	funds := engine.Account{Lamports: solana.LAMPORTS_PER_SOL, Owner: solana.SystemProgramID}
	if err := chain.SetAccount(payer.PublicKey(), funds); err != nil {
		log.Fatal(err)
	}
	transfer := system.NewTransferInstruction(1_000_000, payer.PublicKey(), receiver).Build()
	transaction, err := solana.NewTransaction([]solana.Instruction{transfer}, solana.Hash{},
		solana.TransactionPayer(payer.PublicKey()))
	if err != nil {
		log.Fatal(err)
	}
	transaction.Signatures = make([]solana.Signature, 1) // the engine checks no signatures
	wire, err := transaction.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	result, err := chain.Execute(wire)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.ComputeUnits, "compute units,", result.Fee, "lamports")
	// Output: 150 compute units, 5000 lamports
}
