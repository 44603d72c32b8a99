package negotiation

import (
	"context"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// escrowTooLow returns the error of an escrow below the program's minimum.
func (f *createFlags) escrowTooLow(ctx context.Context, s *session.Session) error {
	tokens, err := s.TokensOf(ctx, f.mint.Key())
	if err != nil {
		return err
	}
	return exitcode.Usagef("--escrow %s: must be at least %s (%d base units)",
		f.escrow, tokens(protocol.MinEscrowLamports), protocol.MinEscrowLamports)
}

// shortage is [token.InsufficientFunds] in tokens.
type shortage struct {
	error
	cause *token.InsufficientFunds
}

func (e shortage) Unwrap() error { return e.cause }

// explainShortage returns an error in tokens if the buyer has too few of them, or no token account.
func explainShortage(
	ctx context.Context, s *session.Session, client *haggle.Client, request *haggle.CreateRequest, err error,
) error {
	var funds *token.InsufficientFunds
	tokens, readErr := s.TokensOf(ctx, request.Mint)
	if readErr != nil {
		return err
	}
	if !errors.As(err, &funds) {
		return explainMissing(ctx, client, request, tokens, err)
	}
	described := fmt.Errorf("token account %s: holds %s, but --escrow needs %s",
		funds.Account, tokens(funds.Have), tokens(funds.Need))
	return exitcode.WithHint(shortage{described, funds},
		"reduce --escrow, or pay from another account: --token-account")
}

// explainMissing returns an error in tokens if the account that should pay does not exist.
func explainMissing(
	ctx context.Context, client *haggle.Client, request *haggle.CreateRequest,
	tokens func(uint64) amount.Tokens, err error,
) error {
	var account *protocol.AccountError
	if !errors.As(err, &account) || !errors.Is(err, protocol.ErrAccountNotFound) {
		return err
	}
	paying := request.Deposit.TokenAccount
	if paying.IsZero() {
		mint, readErr := client.GetMint(ctx, request.Mint)
		if readErr != nil {
			return err
		}
		if paying, readErr = mint.AssociatedAddress(request.Buyer); readErr != nil {
			return err
		}
	}
	if account.Address != paying {
		return err
	}
	funds := &token.InsufficientFunds{Account: paying, Need: request.EscrowAmount}
	described := fmt.Errorf("wallet %s: has no tokens of mint %s, but --escrow needs %s",
		request.Buyer, request.Mint, tokens(funds.Need))
	return exitcode.WithHint(shortage{described, funds},
		fmt.Sprintf("send tokens to its token account, %s; on a localnet, its buyer has some: -C FOLDER/buyer.yml",
			paying))
}
