package localnet

import (
	"context"
	"errors"
	"fmt"

	bin "github.com/gagliardetto/binary"
	"github.com/gagliardetto/solana-go"
	associatedtokenaccount "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/programs/token"
	"github.com/gagliardetto/solana-go/rpc"
)

// All methods in this file support both token programs: they use the program owning the mint or token
// account.

// tokenAccountLength is the base length of token accounts in bytes, for both programs.
const tokenAccountLength = 165

// Holding is a wallet's endowment.
type Holding struct {
	Owner solana.PublicKey
	// Lamports are added to the owner's account.
	Lamports uint64
	// Tokens, in the mint's base units, are added to the owner's associated account.
	Tokens uint64
}

// holdingsPerTransaction keeps a transaction with three instructions for each holding below 1,232 bytes and
// 200,000 compute units per instruction.
const holdingsPerTransaction = 5

// Endow gives lamports and tokens to owners, and creates missing associated accounts. If a holding has tokens,
// the faucet must be the mint authority. Each transaction has five holdings; the earlier ones are kept if a
// later transaction fails.
func (c *Chain) Endow(ctx context.Context, mint solana.PublicKey, holdings ...Holding) error {
	info, err := c.mintInfo(ctx, mint)
	if err != nil {
		return err
	}
	for len(holdings) > 0 {
		batch := holdings[:min(len(holdings), holdingsPerTransaction)]
		holdings = holdings[len(batch):]
		var instructions []solana.Instruction
		for _, holding := range batch {
			given, err := c.endowment(mint, info, holding)
			if err != nil {
				return err
			}
			instructions = append(instructions, given...)
		}
		if _, err := c.Send(ctx, nil, instructions...); err != nil {
			return fmt.Errorf("endow %d holders of %s: %w", len(batch), mint, err)
		}
	}
	return nil
}

func (c *Chain) endowment(mint solana.PublicKey, info mintInfo,
	holding Holding) ([]solana.Instruction, error) {
	account, _, err := solana.FindAssociatedTokenAddressWithProgram(holding.Owner, mint, info.program)
	if err != nil {
		return nil, err
	}
	faucet := c.Faucet()
	instructions := []solana.Instruction{
		associatedtokenaccount.NewCreateIdempotentInstructionWithTokenProgram(
			faucet, holding.Owner, mint, info.program).Build(),
	}
	if holding.Lamports > 0 {
		instructions = append(instructions, c.gift(holding.Owner, holding.Lamports))
	}
	if holding.Tokens > 0 {
		instructions = append(instructions, c.minting(mint, info, account, holding.Tokens))
	}
	return instructions, nil
}

func (c *Chain) minting(mint solana.PublicKey, info mintInfo, account solana.PublicKey,
	amount uint64) solana.Instruction {
	return under(info.program,
		token.NewMintToCheckedInstruction(amount, info.decimals, mint, account, c.Faucet(), nil).Build())
}

// CreateTokenAccount creates a token account at a random address, in addition to the associated account.
func (c *Chain) CreateTokenAccount(ctx context.Context, mint,
	owner solana.PublicKey) (solana.PublicKey, error) {
	key, err := solana.NewRandomPrivateKey()
	if err != nil {
		return solana.PublicKey{}, err
	}
	return key.PublicKey(), c.CreateTokenAccountAt(ctx, mint, owner, key)
}

// CreateTokenAccountAt creates a token account at a key's public key. A closed account's key can be used
// again.
func (c *Chain) CreateTokenAccountAt(ctx context.Context, mint, owner solana.PublicKey,
	key solana.PrivateKey) error {
	info, err := c.mintInfo(ctx, mint)
	if err != nil {
		return err
	}
	account, err := c.newAccountOf(ctx, info.program, key.PublicKey(), tokenAccountLength)
	if err != nil {
		return err
	}
	_, err = c.Send(ctx, []solana.PrivateKey{key},
		account,
		under(info.program, token.NewInitializeAccount3Instruction(owner, key.PublicKey(), mint).Build()))
	if err != nil {
		return fmt.Errorf("create a token account: %w", err)
	}
	return nil
}

// MintTo mints an amount, in the mint's base units, to an account. The faucet must be the mint authority.
func (c *Chain) MintTo(ctx context.Context, mint, account solana.PublicKey, amount uint64) error {
	info, err := c.mintInfo(ctx, mint)
	if err != nil {
		return err
	}
	_, err = c.Send(ctx, nil, c.minting(mint, info, account, amount))
	return err
}

// Transfer transfers an amount, in the mint's base units, between accounts of the same mint. The owner owns the
// source account.
func (c *Chain) Transfer(ctx context.Context, mint, from, to solana.PublicKey, owner solana.PrivateKey,
	amount uint64) error {
	info, err := c.mintInfo(ctx, mint)
	if err != nil {
		return err
	}
	_, err = c.Send(ctx, []solana.PrivateKey{owner},
		under(info.program, token.NewTransferCheckedInstruction(
			amount, info.decimals, from, mint, to, owner.PublicKey(), nil).Build()))
	return err
}

// Freeze freezes a token account: it can neither send nor receive tokens. The faucet must be the mint's
// freeze authority.
func (c *Chain) Freeze(ctx context.Context, mint, account solana.PublicKey) error {
	return c.sendTo(ctx, account, nil,
		token.NewFreezeAccountInstruction(account, mint, c.Faucet(), nil).Build())
}

// Thaw undoes Freeze.
func (c *Chain) Thaw(ctx context.Context, mint, account solana.PublicKey) error {
	return c.sendTo(ctx, account, nil,
		token.NewThawAccountInstruction(account, mint, c.Faucet(), nil).Build())
}

// CloseTokenAccount closes an empty token account. The rent goes to the owner.
func (c *Chain) CloseTokenAccount(ctx context.Context, account solana.PublicKey,
	owner solana.PrivateKey) error {
	return c.sendTo(ctx, account, []solana.PrivateKey{owner},
		token.NewCloseAccountInstruction(account, owner.PublicKey(), owner.PublicKey(), nil).Build())
}

// sendTo sends an instruction to the token program owning the account.
func (c *Chain) sendTo(ctx context.Context, account solana.PublicKey, signers []solana.PrivateKey,
	instruction *token.Instruction) error {
	stored, err := c.tokenProgramAccount(ctx, account)
	if err != nil {
		return err
	}
	_, err = c.Send(ctx, signers, under(stored.Owner, instruction))
	return err
}

// TokenAccount returns the fields common to both programs. It returns rpc.ErrNotFound if the account does not
// exist.
func (c *Chain) TokenAccount(ctx context.Context, account solana.PublicKey) (*token.Account, error) {
	stored := new(token.Account)
	_, err := c.read(ctx, account, stored)
	return stored, err
}

// Tokens returns an account's tokens in the mint's base units, or 0 if the account does not exist.
func (c *Chain) Tokens(ctx context.Context, account solana.PublicKey) (uint64, error) {
	stored, err := c.TokenAccount(ctx, account)
	if errors.Is(err, rpc.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return stored.Amount, nil
}

// read decodes the mint or token account fields common to both programs, and returns the account's owner.
func (c *Chain) read(ctx context.Context, address solana.PublicKey, into any) (
	program solana.PublicKey, err error) {
	account, err := c.tokenProgramAccount(ctx, address)
	if err != nil {
		return solana.PublicKey{}, err
	}
	return account.Owner, bin.NewBinDecoder(account.Data.GetBinary()).Decode(into)
}

func (c *Chain) tokenProgramAccount(ctx context.Context, address solana.PublicKey) (*rpc.Account, error) {
	answer, err := c.client.GetAccountInfoWithOpts(ctx, address,
		&rpc.GetAccountInfoOpts{Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return nil, err
	}
	if owner := answer.Value.Owner; owner != solana.TokenProgramID && owner != solana.Token2022ProgramID {
		return nil, fmt.Errorf("account %s: its owner %s is not a token program", address, owner)
	}
	return answer.Value, nil
}
