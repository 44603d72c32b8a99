// Package wallet has the commands of "haggle wallet".
package wallet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

const walletHelp = `A wallet signs and pays. --keypair or the Solana tools' configuration names it:

  FILE                          a keypair file of the Solana tools
  age:FILE                      the same, encrypted with a passphrase (haggle wallet new --encrypted)
  env:NAME                      the environment variable NAME: base 58, or a keypair file's content
  https://HOST/PATH#ADDRESS     a wallet service that keeps the key; the optional #ADDRESS is the account that
                                it must sign for

A passphrase is read from the terminal, or from the first line of the file that ` + connection.PassphraseFileVariable + `
names (/dev/fd/3 is an open descriptor). The API key of a wallet service is in ` + connection.WalletAPIKeyVariable + `.
Neither is ever part of a command line or printed.

To limit the transactions that a wallet signs: haggle policy --help`

// Command returns "haggle wallet".
func Command(s *session.Session) *cobra.Command {
	return command.Group("wallet", "Create wallets; the values of --keypair", walletHelp, newWalletNewCommand(s),
		newWalletDeclareCommand(s))
}

func newWalletNewCommand(s *session.Session) *cobra.Command {
	var encrypted bool
	cmd := &cobra.Command{
		Use: "new [FILE]", Short: "Create a keypair file, plain or encrypted",
		Long: `Creates a keypair and writes it in the Solana tools' format, readable by its owner alone; without FILE to
~/.config/solana/id.json. With --encrypted the file is encrypted with a passphrase; "age --decrypt" opens
it too. An existing file is never overwritten. The loss of a key or its passphrase is the loss of its funds.`,
		Example: "  haggle wallet new buyer.json\n  haggle wallet new --encrypted buyer.age && haggle address --keypair age:buyer.age",
	}
	cmd.Flags().BoolVar(&encrypted, "encrypted", false, "encrypt the file with a passphrase, which is asked for twice")
	command.Documents(cmd, addressView{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		if len(arguments) == 1 {
			return newWallet(ctx, s, arguments[0], encrypted)
		}
		if encrypted {
			return exitcode.Usagef("--encrypted: file not set: haggle wallet new --encrypted FILE")
		}
		return newWallet(ctx, s, solanaconfig.DefaultKeypairPath(), false)
	})
	return cmd
}

func newWallet(ctx context.Context, s *session.Session, path string, encrypted bool) error {
	exists := &exitcode.Error{Kind: exitcode.Usage, Hint: "choose another file: an existing one is never overwritten", Err: fmt.Errorf("%s exists", path)}
	if _, err := os.Lstat(path); err == nil {
		return exists // before the passphrase is asked for
	}
	key, err := wallet.GenerateKeypair()
	if err != nil {
		return err
	}
	name, save := path, func() error { return key.Save(path) }
	if encrypted {
		passphrase, err := s.Connection.NewPassphrase(ctx, "passphrase for "+path)
		if err != nil {
			return err
		}
		name, save = "age:"+path, func() error { return wallet.CreateEncrypted(path, passphrase, key) }
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	switch err := save(); {
	case errors.Is(err, fs.ErrExist):
		return exists
	case errors.Is(err, wallet.ErrWeakPassphrase):
		return exitcode.Usagef("passphrase: must have at least 8 characters")
	case err != nil:
		return err
	}
	return s.Print(addressView{key.PublicKey(), name}, key.PublicKey().String())
}

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
