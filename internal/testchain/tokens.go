package testchain

import (
	"context"
	"errors"
	"fmt"

	bin "github.com/gagliardetto/binary"
	"github.com/gagliardetto/solana-go"
	associatedtokenaccount "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"
	"github.com/gagliardetto/solana-go/rpc"
)

// Bytes of SPL Token's accounts.
const (
	mintLength         = 82
	tokenAccountLength = 165
)

// Holding is what somebody has to begin with.
type Holding struct {
	Owner solana.PublicKey
	// Lamports are added to the owner's account. Zero adds none.
	Lamports uint64
	// Tokens are base units of the mint, added to the owner's associated token account, which is created if need be.
	Tokens uint64
}

// holdingsPerTransaction keeps a transaction of three instructions per holding below 1,232 bytes and 200,000 compute units
// per instruction.
const holdingsPerTransaction = 5

// CreateMint creates an SPL Token mint. The faucet is its mint authority and its freeze authority.
func (c *Chain) CreateMint(ctx context.Context, decimals uint8) (solana.PublicKey, error) {
	key, err := solana.NewRandomPrivateKey()
	if err != nil {
		return solana.PublicKey{}, err
	}
	mint, faucet := key.PublicKey(), c.faucet.PublicKey()
	account, err := c.newTokenProgramAccount(ctx, mint, mintLength)
	if err != nil {
		return solana.PublicKey{}, err
	}
	_, err = c.Send(ctx, []solana.PrivateKey{key},
		account,
		token.NewInitializeMint2Instruction(decimals, faucet, faucet, mint).Build())
	if err != nil {
		return solana.PublicKey{}, fmt.Errorf("create a mint: %w", err)
	}
	return mint, nil
}

// Endow hands out lamports and tokens, several holdings to a transaction. The mint must be one of CreateMint's.
func (c *Chain) Endow(ctx context.Context, mint solana.PublicKey, holdings ...Holding) error {
	decimals, err := c.decimals(ctx, mint)
	if err != nil {
		return err
	}
	for len(holdings) > 0 {
		batch := holdings[:min(len(holdings), holdingsPerTransaction)]
		holdings = holdings[len(batch):]
		var instructions []solana.Instruction
		for _, holding := range batch {
			given, err := c.endowment(mint, decimals, holding)
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

func (c *Chain) endowment(mint solana.PublicKey, decimals uint8, holding Holding) ([]solana.Instruction, error) {
	account, _, err := solana.FindAssociatedTokenAddress(holding.Owner, mint)
	if err != nil {
		return nil, err
	}
	faucet := c.faucet.PublicKey()
	instructions := []solana.Instruction{
		associatedtokenaccount.NewCreateIdempotentInstruction(faucet, holding.Owner, mint).Build(),
	}
	if holding.Lamports > 0 {
		instructions = append(instructions, c.gift(holding.Owner, holding.Lamports))
	}
	if holding.Tokens > 0 {
		instructions = append(instructions, token.NewMintToCheckedInstruction(holding.Tokens, decimals, mint, account, faucet, nil).Build())
	}
	return instructions, nil
}

// CreateTokenAccount creates a token account of the owner at a random address, beside the associated one.
func (c *Chain) CreateTokenAccount(ctx context.Context, mint, owner solana.PublicKey) (solana.PublicKey, error) {
	key, err := solana.NewRandomPrivateKey()
	if err != nil {
		return solana.PublicKey{}, err
	}
	account, err := c.newTokenProgramAccount(ctx, key.PublicKey(), tokenAccountLength)
	if err != nil {
		return solana.PublicKey{}, err
	}
	_, err = c.Send(ctx, []solana.PrivateKey{key},
		account,
		token.NewInitializeAccount3Instruction(owner, key.PublicKey(), mint).Build())
	if err != nil {
		return solana.PublicKey{}, fmt.Errorf("create a token account: %w", err)
	}
	return key.PublicKey(), nil
}

func (c *Chain) newTokenProgramAccount(ctx context.Context, account solana.PublicKey, length uint64) (solana.Instruction, error) {
	rent, err := c.client.GetMinimumBalanceForRentExemption(ctx, length, rpc.CommitmentConfirmed)
	if err != nil {
		return nil, err
	}
	return system.NewCreateAccountInstruction(rent, length, solana.TokenProgramID, c.faucet.PublicKey(), account).Build(), nil
}

// MintTo adds base units to a token account.
func (c *Chain) MintTo(ctx context.Context, mint, account solana.PublicKey, amount uint64) error {
	decimals, err := c.decimals(ctx, mint)
	if err != nil {
		return err
	}
	_, err = c.Send(ctx, nil, token.NewMintToCheckedInstruction(amount, decimals, mint, account, c.faucet.PublicKey(), nil).Build())
	return err
}

// Transfer moves base units between two token accounts of a mint. The owner of the first signs.
func (c *Chain) Transfer(ctx context.Context, mint, from, to solana.PublicKey, owner solana.PrivateKey, amount uint64) error {
	decimals, err := c.decimals(ctx, mint)
	if err != nil {
		return err
	}
	_, err = c.Send(ctx, []solana.PrivateKey{owner},
		token.NewTransferCheckedInstruction(amount, decimals, from, mint, to, owner.PublicKey(), nil).Build())
	return err
}

// Freeze freezes a token account, which can then neither pay nor be paid.
func (c *Chain) Freeze(ctx context.Context, mint, account solana.PublicKey) error {
	_, err := c.Send(ctx, nil, token.NewFreezeAccountInstruction(account, mint, c.faucet.PublicKey(), nil).Build())
	return err
}

// Thaw undoes Freeze.
func (c *Chain) Thaw(ctx context.Context, mint, account solana.PublicKey) error {
	_, err := c.Send(ctx, nil, token.NewThawAccountInstruction(account, mint, c.faucet.PublicKey(), nil).Build())
	return err
}

// CloseTokenAccount closes an empty token account of the owner, who gets its rent.
func (c *Chain) CloseTokenAccount(ctx context.Context, account solana.PublicKey, owner solana.PrivateKey) error {
	_, err := c.Send(ctx, []solana.PrivateKey{owner},
		token.NewCloseAccountInstruction(account, owner.PublicKey(), owner.PublicKey(), nil).Build())
	return err
}

// SetAuthority hands an authority over a mint or token account from its holder to another: with token.AuthorityAccountOwner a
// token account changes hands.
func (c *Chain) SetAuthority(ctx context.Context, subject solana.PublicKey, authority token.AuthorityType, holder solana.PrivateKey, next solana.PublicKey) error {
	_, err := c.Send(ctx, []solana.PrivateKey{holder},
		token.NewSetAuthorityInstruction(authority, next, subject, holder.PublicKey(), nil).Build())
	return err
}

// TokenAccount is a token account as SPL Token stores it; the error is rpc.ErrNotFound if there is none.
func (c *Chain) TokenAccount(ctx context.Context, account solana.PublicKey) (*token.Account, error) {
	stored := new(token.Account)
	return stored, c.read(ctx, account, stored)
}

// Tokens is the number of base units in a token account: zero if there is no such account.
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

func (c *Chain) decimals(ctx context.Context, mint solana.PublicKey) (uint8, error) {
	var stored token.Mint
	if err := c.read(ctx, mint, &stored); err != nil {
		return 0, fmt.Errorf("mint %s: %w", mint, err)
	}
	return stored.Decimals, nil
}

func (c *Chain) read(ctx context.Context, address solana.PublicKey, into any) error {
	account, err := c.client.GetAccountInfoWithOpts(ctx, address, &rpc.GetAccountInfoOpts{Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return err
	}
	if account.Value.Owner != solana.TokenProgramID {
		return fmt.Errorf("account %s belongs to %s and not to SPL Token", address, account.Value.Owner)
	}
	return bin.NewBinDecoder(account.GetBinary()).Decode(into)
}
