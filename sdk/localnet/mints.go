package localnet

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"
	token2022 "github.com/gagliardetto/solana-go/programs/token-2022"
	"github.com/gagliardetto/solana-go/rpc"
)

// CreateMint creates an SPL Token mint. The faucet is both mint authority and freeze authority.
func (c *Chain) CreateMint(ctx context.Context, decimals uint8) (solana.PublicKey, error) {
	return c.createMint(ctx, nil, solana.TokenProgramID, decimals)
}

// MintExtension is a Token-2022 mint extension.
type MintExtension struct {
	// Type determines the extension's length.
	Type token2022.ExtensionType
	// Initialize returns the data of the instruction that initializes the extension. It is sent before the
	// mint is initialized. The issuer is the faucet.
	Initialize func(mint, issuer solana.PublicKey) []byte
}

// CreateToken2022Mint creates a mint in Token-2022 with the given extensions. The faucet is both mint
// authority and freeze authority.
func (c *Chain) CreateToken2022Mint(ctx context.Context, decimals uint8,
	extensions ...MintExtension) (solana.PublicKey, error) {
	return c.createMint(ctx, nil, solana.Token2022ProgramID, decimals, extensions...)
}

// createMint creates a mint at a key's address. If the key is nil, a random key is used.
func (c *Chain) createMint(ctx context.Context, key solana.PrivateKey, program solana.PublicKey,
	decimals uint8, extensions ...MintExtension) (_ solana.PublicKey, err error) {
	if key == nil {
		if key, err = solana.NewRandomPrivateKey(); err != nil {
			return solana.PublicKey{}, err
		}
	}
	mint, faucet := key.PublicKey(), c.Faucet()
	var types []token2022.ExtensionType
	var initializations []solana.Instruction
	for _, extension := range extensions {
		types = append(types, extension.Type)
		initializations = append(initializations, solana.NewInstruction(program,
			solana.AccountMetaSlice{solana.Meta(mint).WRITE()}, extension.Initialize(mint, faucet)))
	}
	length, err := token2022.CalculateMintLen(types)
	if err != nil {
		return solana.PublicKey{}, err
	}
	account, err := c.newAccountOf(ctx, program, mint, uint64(length))
	if err != nil {
		return solana.PublicKey{}, err
	}
	instructions := append([]solana.Instruction{account}, initializations...)
	instructions = append(instructions,
		under(program, token.NewInitializeMint2Instruction(decimals, faucet, faucet, mint).Build()))
	if _, err := c.Send(ctx, []solana.PrivateKey{key}, instructions...); err != nil {
		return solana.PublicKey{}, fmt.Errorf("create a mint: %w", err)
	}
	return mint, nil
}

// newAccountOf returns the instruction that creates a token program's account. The faucet pays for it.
func (c *Chain) newAccountOf(ctx context.Context, program, account solana.PublicKey,
	length uint64) (solana.Instruction, error) {
	rent, err := c.client.GetMinimumBalanceForRentExemption(ctx, length, rpc.CommitmentConfirmed)
	if err != nil {
		return nil, err
	}
	return system.NewCreateAccountInstruction(rent, length, program, c.Faucet(), account).Build(), nil
}

// under sets the program called by an SPL Token instruction. Token-2022 accepts the same instructions.
func under(program solana.PublicKey, instruction *token.Instruction) solana.Instruction {
	return instruction.SetProgramID(program)
}

// nativeMints maps token programs to wrapped SOL mints.
var nativeMints = map[solana.PublicKey]solana.PublicKey{
	solana.TokenProgramID:     solana.WrappedSol,
	solana.Token2022ProgramID: solana.MustPublicKeyFromBase58("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP"),
}

// NativeMint returns the wrapped SOL mint for a token program, creating it if it does not exist.
func (c *Chain) NativeMint(ctx context.Context, program solana.PublicKey) (solana.PublicKey, error) {
	c.wrapping.Lock()
	defer c.wrapping.Unlock()
	mint := nativeMints[program]
	balance, err := c.Balance(ctx, mint)
	if err != nil || balance > 0 {
		return mint, err
	}
	_, err = c.Send(ctx, nil, token2022.NewCreateNativeMintInstruction(c.faucet.PublicKey(), mint).Build())
	return mint, err
}

// mintInfo holds the mint properties used in token instructions.
type mintInfo struct {
	program  solana.PublicKey
	decimals uint8
}

func (c *Chain) mintInfo(ctx context.Context, mint solana.PublicKey) (mintInfo, error) {
	var stored token.Mint
	program, err := c.read(ctx, mint, &stored)
	if err != nil {
		return mintInfo{}, fmt.Errorf("mint %s: %w", mint, err)
	}
	return mintInfo{program, stored.Decimals}, nil
}
