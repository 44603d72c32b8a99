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

// mintLength is a mint's length in bytes under both token programs, unless it has extensions.
const mintLength = 82

// CreateMint creates an SPL Token mint. The faucet is its mint authority and its freeze authority.
func (c *Chain) CreateMint(ctx context.Context, decimals uint8) (solana.PublicKey, error) {
	return c.createMint(ctx, solana.TokenProgramID, decimals, nil)
}

// A MintExtension is an extension of Token-2022 that a mint is created with.
type MintExtension struct {
	// Type says how much room the extension takes.
	Type token2022.ExtensionType
	// Initialize is the data of the instruction that writes it into the mint, before the mint itself is initialized. The issuer is
	// the faucet.
	Initialize func(mint, issuer solana.PublicKey) []byte
}

// CreateToken2022Mint creates a mint of Token-2022 with some extensions, or with none. The faucet is its mint authority and its
// freeze authority.
func (c *Chain) CreateToken2022Mint(ctx context.Context, decimals uint8, extensions ...MintExtension) (solana.PublicKey, error) {
	return c.createMint(ctx, solana.Token2022ProgramID, decimals, extensions)
}

func (c *Chain) createMint(ctx context.Context, program solana.PublicKey, decimals uint8, extensions []MintExtension) (solana.PublicKey, error) {
	key, err := solana.NewRandomPrivateKey()
	if err != nil {
		return solana.PublicKey{}, err
	}
	mint, faucet := key.PublicKey(), c.faucet.PublicKey()
	length := mintLength
	if len(extensions) > 0 {
		var types []token2022.ExtensionType
		for _, extension := range extensions {
			types = append(types, extension.Type)
		}
		if length, err = token2022.CalculateMintLen(types); err != nil {
			return solana.PublicKey{}, err
		}
	}
	account, err := c.newAccountOf(ctx, program, mint, uint64(length))
	if err != nil {
		return solana.PublicKey{}, err
	}
	instructions := []solana.Instruction{account}
	for _, extension := range extensions {
		instructions = append(instructions, solana.NewInstruction(program,
			solana.AccountMetaSlice{solana.Meta(mint).WRITE()}, extension.Initialize(mint, faucet)))
	}
	instructions = append(instructions, under(program, token.NewInitializeMint2Instruction(decimals, faucet, faucet, mint).Build()))
	if _, err := c.Send(ctx, []solana.PrivateKey{key}, instructions...); err != nil {
		return solana.PublicKey{}, fmt.Errorf("create a mint: %w", err)
	}
	return mint, nil
}

// newAccountOf is the instruction that creates an account of a token program's, for which the faucet pays.
func (c *Chain) newAccountOf(ctx context.Context, program, account solana.PublicKey, length uint64) (solana.Instruction, error) {
	rent, err := c.client.GetMinimumBalanceForRentExemption(ctx, length, rpc.CommitmentConfirmed)
	if err != nil {
		return nil, err
	}
	return system.NewCreateAccountInstruction(rent, length, program, c.faucet.PublicKey(), account).Build(), nil
}

// under addresses an instruction to a token program. Those that SPL Token has, Token-2022 has with the same bytes and accounts.
func under(program solana.PublicKey, instruction *token.Instruction) solana.Instruction {
	return instruction.SetProgramID(program)
}

// Where each token program has its mint of wrapped SOL.
var nativeMints = map[solana.PublicKey]solana.PublicKey{
	solana.TokenProgramID:     solana.WrappedSol,
	solana.Token2022ProgramID: solana.MustPublicKeyFromBase58("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP"),
}

// NativeMint is a token program's mint of wrapped SOL. It is created if the chain has none, by whoever asks first.
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

// mintInfo is what an instruction about tokens has to say of their mint.
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
