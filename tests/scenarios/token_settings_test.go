package scenarios

import (
	"context"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/token"
	extensions "github.com/gagliardetto/solana-go/programs/token-2022"
	"github.com/gagliardetto/solana-go/rpc"
)

// sendTo sends an instruction to the token program owning the account.
func (v *venue) sendTo(ctx context.Context, account solana.PublicKey, signers []solana.PrivateKey,
	instruction *token.Instruction) error {
	stored, err := v.Client().GetAccountInfoWithOpts(ctx, account,
		&rpc.GetAccountInfoOpts{Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return err
	}
	_, err = v.Send(ctx, signers, instruction.SetProgramID(stored.Value.Owner))
	return err
}

// setMintAuthority transfers an authority over a mint from the faucet.
func (v *venue) setMintAuthority(ctx context.Context, mint solana.PublicKey, authority token.AuthorityType,
	next solana.PublicKey) error {
	return v.sendTo(ctx, mint, nil,
		token.NewSetAuthorityInstruction(authority, next, mint, v.Faucet(), nil).Build())
}

// setAuthority transfers an authority over a token account to another holder. For
// token.AuthorityAccountOwner, this changes the account's owner.
func (v *venue) setAuthority(ctx context.Context, account solana.PublicKey, authority token.AuthorityType,
	holder solana.PrivateKey, next solana.PublicKey) error {
	return v.sendTo(ctx, account, []solana.PrivateKey{holder},
		token.NewSetAuthorityInstruction(authority, next, account, holder.PublicKey(), nil).Build())
}

// approve lets a delegate transfer an amount from an account, in base units.
func (v *venue) approve(ctx context.Context, account solana.PublicKey, owner solana.PrivateKey,
	delegate solana.PublicKey, amount uint64) error {
	return v.sendTo(ctx, account, []solana.PrivateKey{owner},
		token.NewApproveInstruction(amount, account, delegate, owner.PublicKey(), nil).Build())
}

// syncNative adds lamports sent by anyone to a wrapped SOL account to the account's tokens.
func (v *venue) syncNative(ctx context.Context, account solana.PublicKey) error {
	return v.sendTo(ctx, account, nil, token.NewSyncNativeInstruction(account).Build())
}

// requireMemos makes a Token-2022 account refuse transfers lacking a memo.
func (v *venue) requireMemos(ctx context.Context, account solana.PublicKey, owner solana.PrivateKey) error {
	return v.extend(ctx, account, owner, extensions.ExtensionMemoTransfer,
		extensions.NewEnableMemoTransferInstruction(account, owner.PublicKey(), nil).Build())
}

// dropMemos undoes requireMemos.
func (v *venue) dropMemos(ctx context.Context, account solana.PublicKey, owner solana.PrivateKey) error {
	_, err := v.Send(ctx, []solana.PrivateKey{owner},
		extensions.NewDisableMemoTransferInstruction(account, owner.PublicKey(), nil).Build())
	return err
}

// guard makes a Token-2022 account refuse transfers made by another program with the owner's signature.
func (v *venue) guard(ctx context.Context, account solana.PublicKey, owner solana.PrivateKey) error {
	return v.extend(ctx, account, owner, extensions.ExtensionCpiGuard,
		extensions.NewEnableCpiGuardInstruction(account, owner.PublicKey(), nil).Build())
}

// extend makes room for an extension in a Token-2022 account and enables it.
func (v *venue) extend(ctx context.Context, account solana.PublicKey, owner solana.PrivateKey,
	extension extensions.ExtensionType, enable solana.Instruction) error {
	room := extensions.NewReallocateInstruction([]extensions.ExtensionType{extension}, account, v.Faucet(),
		owner.PublicKey(), nil)
	_, err := v.Send(ctx, []solana.PrivateKey{owner}, room.Build(), enable)
	return err
}
