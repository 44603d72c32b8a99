package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

type balanceView struct {
	Owner   solana.PublicKey  `json:"owner"`
	Mint    *solana.PublicKey `json:"mint,omitempty"`
	Balance amount.Tokens     `json:"balance"`
}

func newBalanceCommand(s *session) *cobra.Command {
	var mint connection.Address
	cmd := &cobra.Command{
		Use: "balance [ADDRESS]", Short: "Print a wallet's SOL, or its tokens of a mint",
		Long:    "Prints what a wallet holds: SOL, or with --mint the tokens in its associated account. Without an\naddress it is the keypair's wallet.",
		Example: "  haggle balance\n  haggle balance ADDRESS --mint MINT --json | jq -r .balance.units",
		Args:    between(0, 1),
	}
	cmd.Flags().Var(&mint, "mint", "tokens of this mint instead of SOL")
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error {
		owner, err := s.wallet(ctx, arguments)
		if err != nil {
			return err
		}
		client, err := s.client()
		if err != nil {
			return err
		}
		v := balanceView{Owner: owner}
		if mint.Key().IsZero() {
			v.Balance, err = lamportsOf(ctx, client, owner)
		} else {
			v.Mint = given(mint.Key())
			v.Balance, err = s.tokensHeld(ctx, client, owner, mint.Key())
		}
		if err != nil {
			return err
		}
		return s.print(v, v.Balance.String())
	})
	return cmd
}

// wallet is the address given as the only argument, or the keypair's.
func (s *session) wallet(ctx context.Context, arguments []string) (solana.PublicKey, error) {
	if len(arguments) == 0 {
		return s.agent(ctx, connection.Address{})
	}
	address, err := connection.ParseAddress(arguments[0])
	if err != nil {
		return address, exitcode.Usagef("ADDRESS: %w", err)
	}
	return address, nil
}

func lamportsOf(ctx context.Context, client *haggle.Client, owner solana.PublicKey) (amount.Tokens, error) {
	balance, err := client.RPC().GetBalance(ctx, owner, rpc.CommitmentConfirmed)
	if err != nil {
		return amount.Tokens{}, err
	}
	return amount.Tokens{Units: balance.Value, Decimals: amount.SOLDecimals}, nil
}

// tokensHeld is zero where there is no account.
func (s *session) tokensHeld(ctx context.Context, client *haggle.Client, owner, mint solana.PublicKey) (amount.Tokens, error) {
	tokens, err := s.tokensOf(ctx, mint)
	if err != nil {
		return amount.Tokens{}, err
	}
	known, err := client.GetMint(ctx, mint)
	if err != nil {
		return amount.Tokens{}, err
	}
	address, err := known.AssociatedTokenAddress(owner)
	if err != nil {
		return amount.Tokens{}, err
	}
	account, err := client.GetTokenAccount(ctx, address)
	if errors.Is(err, haggle.ErrAccountNotFound) {
		return tokens(0), nil
	}
	if err != nil {
		return amount.Tokens{}, err
	}
	return tokens(account.Amount), nil
}

const airdropHelp = `Asks the cluster for SOL, which localhost, devnet and testnet give away: for fees and rent. Tokens of a
mint come from its issuer; "haggle localnet" makes a mint and gives both agents some.`

func newAirdropCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "airdrop AMOUNT [ADDRESS]", Short: "Ask for SOL where it is free", Long: airdropHelp,
		Example: "  haggle airdrop 2\n  haggle airdrop 0.5 ADDRESS --url devnet",
		Args:    between(1, 2),
	}
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error {
		written, err := amount.Parse(arguments[0])
		if err != nil {
			return exitcode.Usagef("AMOUNT: %w", err)
		}
		lamports, err := written.In(amount.SOLDecimals)
		if err != nil {
			return exitcode.Usagef("AMOUNT: %w", err)
		}
		owner, err := s.wallet(ctx, arguments[1:])
		if err != nil {
			return err
		}
		return s.airdrop(ctx, owner, lamports)
	})
	return cmd
}

func (s *session) airdrop(ctx context.Context, owner solana.PublicKey, lamports uint64) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	signature, err := client.RPC().RequestAirdrop(ctx, owner, lamports, rpc.CommitmentConfirmed)
	if err != nil {
		return exitcode.WithHint(fmt.Errorf("airdrop: %w", err), "public faucets give little and seldom: ask for less, or later")
	}
	if err := awaitConfirmation(ctx, client, signature); err != nil {
		return err
	}
	balance, err := lamportsOf(ctx, client, owner)
	if err != nil {
		return err
	}
	v := struct {
		balanceView
		Signature solana.Signature `json:"signature"`
	}{balanceView{Owner: owner, Balance: balance}, signature}
	return s.print(v, fmt.Sprintf("%s has %s SOL", owner, balance))
}

// awaitConfirmation waits for a transaction that the node has signed itself.
func awaitConfirmation(ctx context.Context, client *haggle.Client, signature solana.Signature) error {
	ticker := time.NewTicker(confirmationPolls)
	defer ticker.Stop()
	for {
		statuses, err := client.RPC().GetSignatureStatuses(ctx, false, signature)
		if err != nil && !errors.Is(err, rpc.ErrNotFound) {
			return &haggle.UnknownOutcome{Signature: signature, Cause: err}
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
			return &haggle.UnknownOutcome{Signature: signature, Cause: context.Cause(ctx)}
		case <-ticker.C:
		}
	}
}

const confirmationPolls = 50 * time.Millisecond
