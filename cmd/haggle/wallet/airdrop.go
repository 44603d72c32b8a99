package wallet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

const airdropHelp = `Requests SOL for fees and rent, which localhost, devnet and testnet give away. Tokens of a mint come from
its issuer; "haggle localnet" creates a mint and gives tokens to both agents.`

// AirdropCommand returns "haggle airdrop".
func AirdropCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "airdrop AMOUNT [ADDRESS]", Short: "Request SOL on localhost, devnet or testnet", Long: airdropHelp,
		Example: "  haggle airdrop 2\n  haggle airdrop 0.5 ADDRESS --url devnet",
	}
	command.Documents(cmd, airdropView{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		written, err := amount.Parse(arguments[0])
		if err != nil {
			return exitcode.Usagef("AMOUNT: %w", err)
		}
		lamports, err := written.In(amount.SOLDecimals)
		if err != nil {
			return exitcode.Usagef("AMOUNT: %w", err)
		}
		owner, err := ownerOf(ctx, s, arguments[1:])
		if err != nil {
			return err
		}
		return airdrop(ctx, s, owner, lamports)
	})
	return cmd
}

// airdropView is the balance following an airdrop.
type airdropView struct {
	balanceView
	Signature solana.Signature `json:"signature"`
}

func airdrop(ctx context.Context, s *session.Session, owner solana.PublicKey, lamports uint64) error {
	client, err := s.Client()
	if err != nil {
		return err
	}
	signature, err := client.RPC().RequestAirdrop(ctx, owner, lamports, rpc.CommitmentConfirmed)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return exitcode.WithHint(fmt.Errorf("airdrop: %w", err), airdropHint(err))
	}
	if err := awaitConfirmation(ctx, client, signature); err != nil {
		return err
	}
	balance, err := lamportsOf(ctx, client, owner)
	if err != nil {
		return err
	}
	v := airdropView{balanceView{Owner: owner, Balance: balance}, signature}
	return s.Print(v, fmt.Sprintf("%s has %s", owner, balance))
}

// airdropHint returns "" if no node has responded.
func airdropHint(err error) string {
	var refused *transaction.NodeError
	if !errors.As(err, &refused) {
		return ""
	}
	return "public faucets limit amounts and rates: request less, or later; mainnet-beta has none"
}

// awaitConfirmation waits for a transaction that the node itself has signed.
func awaitConfirmation(ctx context.Context, client *haggle.Client, signature solana.Signature) error {
	ticker := time.NewTicker(confirmationPolls)
	defer ticker.Stop()
	for {
		statuses, err := client.RPC().GetSignatureStatuses(ctx, false, signature)
		if err != nil && !errors.Is(err, rpc.ErrNotFound) {
			return &transaction.UnknownOutcomeError{Signature: signature, Cause: err}
		}
		if err == nil && len(statuses.Value) == 1 && statuses.Value[0] != nil {
			status := statuses.Value[0]
			if status.Err != nil {
				return fmt.Errorf("transaction %s failed: %v", signature, status.Err)
			}
			if status.ConfirmationStatus != rpc.ConfirmationStatusProcessed {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return &transaction.UnknownOutcomeError{Signature: signature, Cause: context.Cause(ctx)}
		case <-ticker.C:
		}
	}
}

const confirmationPolls = 50 * time.Millisecond
