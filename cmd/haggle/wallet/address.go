package wallet

import (
	"context"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/session"
)

type addressView struct {
	Address solana.PublicKey `json:"address"`
	// Keypair is the value of --keypair.
	Keypair string `json:"keypair"`
}

// AddressCommand returns "haggle address".
func AddressCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "address", Short: "Print the wallet's address",
		Long:    `Prints the address of the wallet of --keypair or the Solana tools' configuration. The other side needs it.`,
		Example: "  haggle address --keypair buyer.json",
	}
	command.Documents(cmd, addressView{})
	cmd.RunE = s.Limited(func(ctx context.Context, _ []string) error {
		address, err := s.Connection.Address(ctx)
		if err != nil {
			return err
		}
		settings, err := s.Connection.Settle()
		if err != nil {
			return err
		}
		return s.Print(addressView{address, connection.WalletName(settings.KeypairPath)}, address.String())
	})
	return cmd
}
