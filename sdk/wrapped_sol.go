package haggle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Escrow in SOL is held as wrapped SOL, tokens whose base unit is a lamport. An agent that has lamports need not wrap them
// beforehand: WrapSOL in a [CreateRequest] or an [AcceptInvitationRequest] has the transaction that deposits them do it, and
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

// UnwrapSOL is the same action, followed by the owner's wrapped SOL becoming lamports in the same transaction: all that its
// associated token account has by then, not only what the action pays. The owner signs, too. The account is gone afterwards; what is
// paid to it later is kept in the negotiation until it is claimed, so this is for the last payment that the owner expects.
//
// It fails with [ErrNotWrappedSOL] for an action that does not pay to that account.
func (a *Action) UnwrapSOL(owner solana.PublicKey) (*Action, error) {
	for _, mint := range []solana.PublicKey{solana.WrappedSol, WrappedSOL2022} {
		account, _, err := wrappedSOLAccount(owner, mint)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(a.Instructions, func(i solana.Instruction) bool { return i.ProgramID() == protocol.ProgramID && takes(i, account) }) {
			continue
		}
		closing, err := UnwrapSOLInstruction(owner, mint)
		if err != nil {
			return nil, err
		}
		unwrapping := *a
		unwrapping.Instructions = append(slices.Clone(a.Instructions), closing)
		return &unwrapping, nil
	}
	return nil, fmt.Errorf("%w: %s pays to none of %s's", ErrNotWrappedSOL, a.Name, owner)
}

func takes(instruction solana.Instruction, account solana.PublicKey) bool {
	return slices.ContainsFunc(instruction.Accounts(), func(meta *solana.AccountMeta) bool { return meta.PublicKey == account })
}

// depositOf is the token account that an owner's deposit comes from, and what has to be done before it holds enough: nothing, or
// wrapping the whole amount. Whether the owner has that many lamports the simulation shows.
func (c *Client) depositOf(ctx context.Context, wrap bool, named, owner solana.PublicKey, mint *Mint, amount uint64) (solana.PublicKey, []solana.Instruction, error) {
	if !wrap {
		account, err := c.depositAccount(ctx, named, owner, mint, amount)
		return account, nil, err
	}
	account, _, err := wrappedSOLAccount(owner, mint.Address)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	if !named.IsZero() && named != account {
		return solana.PublicKey{}, nil, ErrNotWrappedSOL
	}
	wrapping, err := WrapSOLInstructions(owner, mint.Address, amount)
	return account, wrapping, err
}
