package token_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/token"
)

// A wallet's associated token account depends on the mint and the mint's token program.
func ExampleAssociatedAddress() {
	wallet := solana.MustPublicKeyFromBase58("4pXssUVLhmmxGQifWJybizi2rwVDxQDaSafDc4uLpTVu")
	usdc := solana.MustPublicKeyFromBase58("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	account, err := token.AssociatedAddress(wallet, usdc, solana.TokenProgramID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(account)
	// Output: AAP1WWTjDjkCrnvx4UgVwD6t78uLaWhkWtqLYYAxGx9D
}

// Some Token-2022 extensions could take or withhold paid tokens: no escrow is held in such mints.
func ExampleMint_Check() {
	var (
		address solana.PublicKey
		account *rpc.Account // of getAccountInfo
	)
	mint, err := token.DecodeMint(address, account)
	if err != nil {
		log.Fatal(err)
	}
	var unsupported *token.UnsupportedMint
	if errors.As(mint.Check(), &unsupported) {
		fmt.Println("no escrow in this mint:", unsupported)
	}
}

// SOL is paid as wrapped SOL. The instructions create the wallet's associated account, transfer the lamports
// to it, and count them as tokens.
func ExampleWrapSOL() {
	wallet := solana.MustPublicKeyFromBase58("4pXssUVLhmmxGQifWJybizi2rwVDxQDaSafDc4uLpTVu")
	instructions, err := token.WrapSOL(wallet, solana.WrappedSol, 250_000_000)
	if err != nil {
		log.Fatal(err)
	}
	for _, instruction := range instructions {
		fmt.Println(instruction.ProgramID())
	}
	// Output:
	// ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL
	// 11111111111111111111111111111111
	// TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA
}
