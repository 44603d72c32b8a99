package scenarios

import (
	"context"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/token"
	extensions "github.com/gagliardetto/solana-go/programs/token-2022"
	"github.com/gagliardetto/solana-go/rpc"
)

// sendTo sends an instruction to the token program that owns the account.
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

// setAuthority transfers an authority over a token account from its holder. With
// token.AuthorityAccountOwner, the account changes its owner.
func (v *venue) setAuthority(ctx context.Context, account solana.PublicKey, authority token.AuthorityType,
	holder solana.PrivateKey, next solana.PublicKey) error {
	return v.sendTo(ctx, account, []solana.PrivateKey{holder},
		token.NewSetAuthorityInstruction(authority, next, account, holder.PublicKey(), nil).Build())
}

// approve lets a delegate transfer an amount in base units from an account.
func (v *venue) approve(ctx context.Context, account solana.PublicKey, owner solana.PrivateKey,
	delegate solana.PublicKey, amount uint64) error {
	return v.sendTo(ctx, account, []solana.PrivateKey{owner},
		token.NewApproveInstruction(amount, account, delegate, owner.PublicKey(), nil).Build())
}

// syncNative adds the lamports that somebody sent to a token account of wrapped SOL to its tokens.
func (v *venue) syncNative(ctx context.Context, account solana.PublicKey) error {
	return v.sendTo(ctx, account, nil, token.NewSyncNativeInstruction(account).Build())
}

// requireMemos makes a token account of Token-2022 refuse transfers without a memo.
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

// guard makes a token account of Token-2022 refuse transfers that another program makes with its
// owner's signature.
func (v *venue) guard(ctx context.Context, account solana.PublicKey, owner solana.PrivateKey) error {
	return v.extend(ctx, account, owner, extensions.ExtensionCpiGuard,
		extensions.NewEnableCpiGuardInstruction(account, owner.PublicKey(), nil).Build())
}

// extend makes room for an extension in a token account of Token-2022 and enables it.
func (v *venue) extend(ctx context.Context, account solana.PublicKey, owner solana.PrivateKey,
	extension extensions.ExtensionType, enable solana.Instruction) error {
	room := extensions.NewReallocateInstruction([]extensions.ExtensionType{extension}, account, v.Faucet(),
		owner.PublicKey(), nil)
	_, err := v.Send(ctx, []solana.PrivateKey{owner}, room.Build(), enable)
	return err
}
