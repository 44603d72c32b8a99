package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// mintsKept is the number of mints that a client keeps.
const mintsKept = 1024

// GetMint reads a mint. A mint in which escrow can be held cannot be closed or changed, so it is read once.
//
// It fails with an [*protocol.AccountError] that wraps [protocol.ErrAccountNotFound],
// [protocol.ErrWrongOwner] together with [protocol.ErrAccountOwnedByWrongProgram] for an account of neither
// token program, or a [*protocol.DecodeError] together with [protocol.ErrUnsupportedMint] for an account that
// is not a mint.
func (c *Client) GetMint(ctx context.Context, mint solana.PublicKey) (*token.Mint, error) {
	if known, ok := c.mints.Get(mint); ok {
		return &known, nil
	}
	accounts, _, err := c.accounts(ctx, mint)
	if err != nil {
		return nil, err
	}
	if accounts[0] == nil {
		return nil, &protocol.AccountError{Address: mint, Err: protocol.ErrAccountNotFound}
	}
	read, err := token.DecodeMint(mint, accounts[0])
	if err != nil {
		return nil, &protocol.AccountError{Address: mint, Err: err}
	}
	if read.IsSupported() {
		c.mints.Put(mint, *read)
	}
	return read, nil
}

// GetTokenAccount reads an account of SPL Token or Token-2022. Its errors are those of
// [Negotiation.Snapshot].
func (c *Client) GetTokenAccount(ctx context.Context, address solana.PublicKey) (*token.Account, error) {
	accounts, slot, err := c.accounts(ctx, address)
	if err != nil {
		return nil, err
	}
	if accounts[0] == nil {
		return nil, &protocol.AccountError{Address: address, Err: protocol.ErrAccountNotFound}
	}
	return token.DecodeAccount(address, accounts[0], slot)
}

// createAssociated returns an address with the instruction that creates a wallet's associated token account
// there.
func createAssociated(
	mint *token.Mint, payer, wallet, address solana.PublicKey,
) (solana.PublicKey, []solana.Instruction, error) {
	creation, err := token.CreateAssociated(payer, wallet, mint.Address, mint.TokenProgram)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	return address, []solana.Instruction{creation}, nil
}
