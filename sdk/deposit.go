package haggle

import (
	"context"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/token"
)

// UnwrapSOL returns a copy of the action that also turns the owner's wrapped SOL into lamports in the same
// transaction: the whole balance of the owner's associated token account at that time, not just the amount
// that the action pays. The owner signs as well. The transaction closes the account; later payments to it are
// recorded in the negotiation until they are claimed, so this is for the last payment that the owner expects.
// It must be called before the action is built.
//
// Building the action fails with [token.ErrNotWrappedSOL] if it does not pay to that account.
func (a *Action) UnwrapSOL(owner solana.PublicKey) *Action {
	changed := *a
	changed.unwrap = owner
	if a.isBuilt() {
		changed.err = fmt.Errorf("haggle: %s: UnwrapSOL after the action was built", a.Name)
	}
	return &changed
}

// unwrapping returns the instruction that unwraps SOL after the action's own instructions.
func (a *Action) unwrapping(own []solana.Instruction) (solana.Instruction, error) {
	for _, mint := range []solana.PublicKey{solana.WrappedSol, token.WrappedSOL2022} {
		account, _, err := token.WrappedSOLAccount(a.unwrap, mint)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(own, func(i solana.Instruction) bool { return takes(i, account) }) {
			return token.UnwrapSOL(a.unwrap, mint)
		}
	}
	return nil, fmt.Errorf("%w: %s pays no such account of %s", token.ErrNotWrappedSOL, a.Name, a.unwrap)
}

func takes(instruction solana.Instruction, account solana.PublicKey) bool {
	return slices.ContainsFunc(instruction.Accounts(),
		func(meta *solana.AccountMeta) bool { return meta.PublicKey == account })
}

// depositOf returns the token account for the deposit, and the instructions that fill it: none, or
// instructions that wrap the whole amount. The simulation checks whether the owner's lamports suffice.
func (c *Client) depositOf(
	ctx context.Context, from Deposit, owner solana.PublicKey, mint *token.Mint, amount uint64,
) (solana.PublicKey, []solana.Instruction, error) {
	if !from.WrapSOL {
		account, err := c.depositAccount(ctx, from.TokenAccount, owner, mint, amount)
		return account, nil, err
	}
	account, _, err := token.WrappedSOLAccount(owner, mint.Address)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	if !from.TokenAccount.IsZero() && from.TokenAccount != account {
		return solana.PublicKey{}, nil, token.ErrNotWrappedSOL
	}
	wrapping, err := token.WrapSOL(owner, mint.Address, amount)
	return account, wrapping, err
}
