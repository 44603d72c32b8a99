package haggle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
)

// Escrow in SOL is held as wrapped SOL, tokens whose base unit is a lamport. An agent that has lamports need not wrap them
// beforehand: [Deposit].WrapSOL has the transaction that deposits them do it, and
// [Action.UnwrapSOL] has the one that is paid turn all of it into lamports again.

// WrappedSOL2022 is the mint of wrapped SOL of Token-2022. SPL Token's, which nearly everybody uses, is solana.WrappedSol.
var WrappedSOL2022 = solana.MustPublicKeyFromBase58("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP")

// WrappedSOLProgram is the token program of a mint of wrapped SOL; false for any other mint.
func WrappedSOLProgram(mint solana.PublicKey) (tokenProgram solana.PublicKey, ok bool) {
	switch mint {
	case solana.WrappedSol:
		return solana.TokenProgramID, true
	case WrappedSOL2022:
		return solana.Token2022ProgramID, true
	}
	return solana.PublicKey{}, false
}

// ErrNotWrappedSOL: what was to be wrapped or unwrapped is not in a mint of wrapped SOL, or not in the associated token account.
var ErrNotWrappedSOL = errors.New("haggle: SOL is wrapped only in its owner's associated token account for a mint of wrapped SOL")

// The token programs' instructions that are used here.
const (
	tokenCloseAccount = 9
	tokenSyncNative   = 17
)

// WrapSOLInstructions are what makes an owner's lamports tokens of a mint of wrapped SOL in its associated token account, which they
// create if it is missing. The owner pays and signs; the rent of an account that is missing comes on top of the lamports. It fails
// with [ErrNotWrappedSOL].
func WrapSOLInstructions(owner, mint solana.PublicKey, lamports uint64) ([]solana.Instruction, error) {
	account, program, err := wrappedSOLAccount(owner, mint)
	if err != nil {
		return nil, err
	}
	creation, err := CreateAssociatedTokenAccount(owner, owner, mint, program)
	if err != nil {
		return nil, err
	}
	transfer := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, systemTransfer), lamports)
	return []solana.Instruction{
		creation,
		solana.NewInstruction(solana.SystemProgramID, solana.AccountMetaSlice{
			solana.Meta(owner).WRITE().SIGNER(), solana.Meta(account).WRITE(),
		}, transfer),
		solana.NewInstruction(program, solana.AccountMetaSlice{solana.Meta(account).WRITE()}, []byte{tokenSyncNative}),
	}, nil
}

// systemTransfer is the system program's instruction, as four bytes.
const systemTransfer = 2

// UnwrapSOLInstruction closes an owner's associated token account for a mint of wrapped SOL: all that is in it, and its rent, become
// the owner's lamports. The owner signs. It fails with [ErrNotWrappedSOL].
func UnwrapSOLInstruction(owner, mint solana.PublicKey) (solana.Instruction, error) {
	account, program, err := wrappedSOLAccount(owner, mint)
	if err != nil {
		return nil, err
	}
	return solana.NewInstruction(program, solana.AccountMetaSlice{
		solana.Meta(account).WRITE(), solana.Meta(owner).WRITE(), solana.Meta(owner).SIGNER(),
	}, []byte{tokenCloseAccount}), nil
}

func wrappedSOLAccount(owner, mint solana.PublicKey) (account, program solana.PublicKey, err error) {
	program, ok := WrappedSOLProgram(mint)
	if !ok {
		return account, program, ErrNotWrappedSOL
	}
	account, err = AssociatedTokenAddress(owner, mint, program)
	return account, program, err
}

// UnwrapSOL returns a copy of an action that also turns the owner's wrapped SOL into lamports in the same transaction: the
// whole balance of its associated token account by then, not only the amount that the action pays. The owner signs, too. The
// account is gone afterwards; later payments to it are recorded in the negotiation until they are claimed, so this is for
// the last payment that the owner expects. It must be called before the action is built.
//
// Building the action fails with [ErrNotWrappedSOL] if it does not pay to that account.
func (a *Action) UnwrapSOL(owner solana.PublicKey) *Action {
	changed := *a
	changed.unwrap = owner
	if a.isBuilt() {
		changed.err = fmt.Errorf("haggle: %s: UnwrapSOL after the action was built", a.Name)
	}
	return &changed
}

// unwrapping returns the instruction that unwraps SOL after the action's own instruction.
func (a *Action) unwrapping(own solana.Instruction) (solana.Instruction, error) {
	for _, mint := range []solana.PublicKey{solana.WrappedSol, WrappedSOL2022} {
		account, _, err := wrappedSOLAccount(a.unwrap, mint)
		if err != nil {
			return nil, err
		}
		if takes(own, account) {
			return UnwrapSOLInstruction(a.unwrap, mint)
		}
	}
	return nil, fmt.Errorf("%w: %s pays to none of %s's", ErrNotWrappedSOL, a.Name, a.unwrap)
}

func takes(instruction solana.Instruction, account solana.PublicKey) bool {
	return slices.ContainsFunc(instruction.Accounts(), func(meta *solana.AccountMeta) bool { return meta.PublicKey == account })
}

// depositOf is the token account that an owner's deposit comes from, and what has to be done before it holds enough: nothing, or
// wrapping the whole amount. Whether the owner has that many lamports the simulation shows.
func (c *Client) depositOf(ctx context.Context, from Deposit, owner solana.PublicKey, mint *Mint, amount uint64) (solana.PublicKey, []solana.Instruction, error) {
	if !from.WrapSOL {
		account, err := c.depositAccount(ctx, from.TokenAccount, owner, mint, amount)
		return account, nil, err
	}
	account, _, err := wrappedSOLAccount(owner, mint.Address)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	if !from.TokenAccount.IsZero() && from.TokenAccount != account {
		return solana.PublicKey{}, nil, ErrNotWrappedSOL
	}
	wrapping, err := WrapSOLInstructions(owner, mint.Address, amount)
	return account, wrapping, err
}
