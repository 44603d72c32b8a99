package token

import (
	"encoding/binary"
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// WrappedSOL2022 is the Token-2022 mint for wrapped SOL. The far more common SPL Token mint is
// solana.WrappedSol.
var WrappedSOL2022 = solana.MustPublicKeyFromBase58("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP")

// WrappedSOLProgram returns a wrapped SOL mint's token program. The second result is false for other mints.
func WrappedSOLProgram(mint solana.PublicKey) (tokenProgram solana.PublicKey, ok bool) {
	switch mint {
	case solana.WrappedSol:
		return solana.TokenProgramID, true
	case WrappedSOL2022:
		return solana.Token2022ProgramID, true
	}
	return solana.PublicKey{}, false
}

// ErrNotWrappedSOL: the mint is not wrapped SOL, or the account is not the associated token account.
var ErrNotWrappedSOL = transaction.WithOutcome(errors.New(
	"haggle: SOL is wrapped only in its owner's associated token account for a mint of wrapped SOL"),
	transaction.NotSent)

// Token instructions used here.
const (
	tokenCloseAccount = 9
	tokenSyncNative   = 17
)

// WrapSOL returns the instructions that turn an owner's lamports into wrapped SOL in the owner's associated
// token account, creating it if it is missing. The owner pays and signs; when creating the account, the rent
// comes on top of the lamports. It fails with [ErrNotWrappedSOL].
func WrapSOL(owner, mint solana.PublicKey, lamports uint64) ([]solana.Instruction, error) {
	account, program, err := WrappedSOLAccount(owner, mint)
	if err != nil {
		return nil, err
	}
	creation, err := CreateAssociated(owner, owner, mint, program)
	if err != nil {
		return nil, err
	}
	transfer := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, systemTransfer),
		lamports)
	return []solana.Instruction{
		creation,
		solana.NewInstruction(solana.SystemProgramID, solana.AccountMetaSlice{
			solana.Meta(owner).WRITE().SIGNER(), solana.Meta(account).WRITE(),
		}, transfer),
		solana.NewInstruction(program, solana.AccountMetaSlice{solana.Meta(account).WRITE()},
			[]byte{tokenSyncNative}),
	}, nil
}

// systemTransfer is the system program's instruction, as four bytes.
const systemTransfer = 2

// UnwrapSOL returns the instruction that closes an owner's associated token account for a wrapped SOL mint:
// the whole balance and the rent become the owner's lamports. The owner signs. It fails with
// [ErrNotWrappedSOL].
func UnwrapSOL(owner, mint solana.PublicKey) (solana.Instruction, error) {
	account, program, err := WrappedSOLAccount(owner, mint)
	if err != nil {
		return nil, err
	}
	return solana.NewInstruction(program, solana.AccountMetaSlice{
		solana.Meta(account).WRITE(), solana.Meta(owner).WRITE(), solana.Meta(owner).SIGNER(),
	}, []byte{tokenCloseAccount}), nil
}

// WrappedSOLAccount returns an owner's associated token account for a wrapped SOL mint, and the mint's token
// program. For other mints it returns [ErrNotWrappedSOL].
func WrappedSOLAccount(owner, mint solana.PublicKey) (account, program solana.PublicKey, err error) {
	program, ok := WrappedSOLProgram(mint)
	if !ok {
		return account, program, ErrNotWrappedSOL
	}
	account, err = AssociatedAddress(owner, mint, program)
	return account, program, err
}
