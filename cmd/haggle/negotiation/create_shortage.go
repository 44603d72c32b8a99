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

// escrowTooLow returns the error for an escrow smaller than the program's minimum.
func (f *createFlags) escrowTooLow(ctx context.Context, s *session.Session) error {
	tokens, err := s.TokensOf(ctx, f.mint.Key())
	if err != nil {
		return err
	}
	return exitcode.Usagef("--escrow %s: must be at least %s (%d base units)",
		f.escrow, tokens(protocol.MinEscrowLamports), protocol.MinEscrowLamports)
}

// explainShortage adds hints to the error if the buyer lacks tokens or a token account.
func explainShortage(
	ctx context.Context, s *session.Session, client *haggle.Client, request *haggle.CreateRequest, err error,
) error {
	// The error report formats amounts with decimals only when the mint has been read.
	if _, readErr := s.Mint(ctx, request.Mint); readErr != nil {
		return err
	}
	short, hint := err, "reduce --escrow, or pay from another account: --token-account"
	if !errors.As(err, new(*token.InsufficientFunds)) {
		if hint, short = explainMissing(ctx, client, request, err); hint == "" {
			return err
		}
	}
	if _, wraps := token.WrappedSOLProgram(request.Mint); wraps && !request.Deposit.WrapSOL {
		hint = "to pay from the wallet's SOL, add --wrap-sol"
	}
	return exitcode.WithHint(short, hint)
}

// missing is [token.InsufficientFunds] for a nonexistent account.
type missing struct {
	text  amount.Error
	cause *token.InsufficientFunds
}

func (e missing) Error() string { return e.text.Error() }

func (e missing) TextWith(write amount.Formatter) string { return e.text.TextWith(write) }

func (e missing) Unwrap() error { return e.cause }

// explainMissing returns a hint, and an error with the missing amount, if the account that should pay does not
// exist. Otherwise the hint is empty.
func explainMissing(
	ctx context.Context, client *haggle.Client, request *haggle.CreateRequest, err error,
) (hint string, described error) {
	var account *protocol.AccountError
	if !errors.As(err, &account) || !errors.Is(err, protocol.ErrAccountNotFound) {
		return "", err
	}
	paying := request.Deposit.TokenAccount
	if paying.IsZero() {
		mint, readErr := client.GetMint(ctx, request.Mint)
		if readErr != nil {
			return "", err
		}
		if paying, readErr = mint.AssociatedAddress(request.Buyer); readErr != nil {
			return "", err
		}
	}
	if account.Address != paying {
		return "", err
	}
	funds := &token.InsufficientFunds{Account: paying, Mint: request.Mint, Need: request.EscrowAmount}
	text := amount.Errorf(request.Mint, "wallet %s: has no tokens of mint %s, but --escrow needs %v",
		request.Buyer, request.Mint, amount.Units(funds.Need))
	return fmt.Sprintf("send tokens to its token account, %s; on a localnet, its buyer has some: -C FOLDER/buyer.yml",
		paying), missing{text, funds}
}
