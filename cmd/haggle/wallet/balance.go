package wallet

import (
	"context"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

type balanceView struct {
	Owner   solana.PublicKey  `json:"owner"`
	Mint    *solana.PublicKey `json:"mint,omitempty"`
	Balance amount.Tokens     `json:"balance"`
}

// BalanceCommand returns "haggle balance".
func BalanceCommand(s *session.Session) *cobra.Command {
	var mint connection.Address
	cmd := &cobra.Command{
		Use: "balance [ADDRESS]", Short: "Print a wallet's SOL, or its tokens of a mint",
		Long:    "Prints a wallet's SOL, or with --mint the tokens in its associated account. Without an address it is\nthe keypair's wallet.",
		Example: "  haggle balance\n  haggle balance ADDRESS --mint MINT --json | jq -r .balance.units",
	}
	cmd.Flags().Var(&mint, "mint", "tokens of this mint instead of SOL")
	command.Documents(cmd, balanceView{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		owner, err := ownerOf(ctx, s, arguments)
		if err != nil {
			return err
		}
		client, err := s.Client()
		if err != nil {
			return err
		}
		v := balanceView{Owner: owner}
		if mint.Key().IsZero() {
			v.Balance, err = lamportsOf(ctx, client, owner)
		} else {
			v.Mint = new(mint.Key())
			v.Balance, err = tokensHeld(ctx, s, client, owner, mint.Key())
		}
		if err != nil {
			return err
		}
		return s.Print(v, v.Balance.String())
	})
	return cmd
}

// ownerOf returns the only argument as an address, or the wallet's address.
func ownerOf(ctx context.Context, s *session.Session, arguments []string) (solana.PublicKey, error) {
	if len(arguments) == 0 {
		return s.Agent(ctx, connection.Address{})
	}
	address, err := connection.ParseAddress(arguments[0])
	if err != nil {
		return address, exitcode.Usagef("ADDRESS: %w", err)
	}
	return address, nil
}

func lamportsOf(ctx context.Context, client *haggle.Client, owner solana.PublicKey) (amount.Tokens, error) {
	lamports, err := onchain.Lamports(ctx, client, owner)
	return amount.SOL(lamports), err
}

func tokensHeld(ctx context.Context, s *session.Session, client *haggle.Client, owner, mint solana.PublicKey) (amount.Tokens, error) {
	tokens, err := s.TokensOf(ctx, mint)
	if err != nil {
		return amount.Tokens{}, err
	}
	held, err := onchain.TokensHeld(ctx, client, owner, mint)
	return tokens(held), err
}
