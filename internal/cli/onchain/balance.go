package onchain

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Lamports returns an account's lamports; 0 if the account does not exist.
func Lamports(ctx context.Context, client *haggle.Client, account solana.PublicKey) (uint64, error) {
	balance, err := client.RPC().GetBalance(ctx, account, rpc.CommitmentConfirmed)
	if err == nil && balance == nil { // the node has returned null
		err = rpc.ErrNotFound
	}
	if err != nil {
		return 0, err
	}
	return balance.Value, nil
}

// TokensHeld returns the tokens in an owner's associated account, in the mint's base units; 0 if the account
// does not exist.
func TokensHeld(ctx context.Context, client *haggle.Client, owner, mint solana.PublicKey) (uint64, error) {
	known, err := client.GetMint(ctx, mint)
	if err != nil {
		return 0, err
	}
	address, err := known.AssociatedAddress(owner)
	if err != nil {
		return 0, err
	}
	account, err := client.GetTokenAccount(ctx, address)
	if errors.Is(err, protocol.ErrAccountNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return account.Amount, nil
}
