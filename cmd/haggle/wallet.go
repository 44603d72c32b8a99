package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
	"github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

const walletHelp = `A wallet signs and pays. --keypair, or the Solana tools' configuration, names it:

  FILE                          a keypair file of the Solana tools
  age:FILE                      the same, encrypted with a passphrase (haggle wallet new --encrypted)
  env:NAME                      the environment variable NAME: base 58, or a keypair file's content
  https://HOST/PATH#ADDRESS     a wallet service that signs without giving the key away; #ADDRESS, which may
                                be left out, is the account that it must sign for

A passphrase is asked for at the terminal, or is the first line of the file that ` + connection.PassphraseFileVariable + `
names (/dev/fd/3 is an open descriptor). A wallet service is opened by the API key in ` + connection.WalletAPIKeyVariable + `.
Neither is ever part of a command line, nor printed.

What a wallet signs can be limited: haggle policy --help`

func newWalletCommand(s *session) *cobra.Command {
	return newGroupCommand("wallet", "Make wallets; what --keypair can name", walletHelp, newWalletNewCommand(s))
}

func newWalletNewCommand(s *session) *cobra.Command {
	var encrypted bool
	cmd := &cobra.Command{
		Use: "new [FILE]", Short: "Make a keypair file, plain or encrypted",
		Long: `Makes a new keypair and writes it as the Solana tools do, readable by its owner alone; without FILE to
~/.config/solana/id.json. With --encrypted it takes a passphrase to open it, and "age --decrypt" does too.
A file that exists is never overwritten: whoever loses a key, or its passphrase, loses what it owns.`,
		Example: "  haggle wallet new buyer.json\n  haggle wallet new --encrypted buyer.age && haggle address --keypair age:buyer.age",
		Args:    between(0, 1),
	}
	cmd.Flags().BoolVar(&encrypted, "encrypted", false, "encrypt it with a passphrase, which is asked for twice")
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error {
		if len(arguments) == 1 {
			return s.newWallet(ctx, arguments[0], encrypted)
		}
		if encrypted {
			return exitcode.Usagef("--encrypted: which file? haggle wallet new --encrypted FILE")
		}
		return s.newWallet(ctx, solanaconfig.DefaultKeypairPath(), false)
	})
	return cmd
}

func (s *session) newWallet(ctx context.Context, path string, encrypted bool) error {
	exists := &exitcode.Error{Kind: exitcode.Usage, Hint: "choose another file: what is there is never overwritten", Err: fmt.Errorf("%s exists", path)}
	if _, err := os.Lstat(path); err == nil {
		return exists // before anybody has thought of a passphrase
	}
	key, err := haggle.GenerateKeypair()
	if err != nil {
		return err
	}
	name, save := path, func() error { return key.Save(path) }
	if encrypted {
		passphrase, err := s.connection.NewPassphrase(ctx, "passphrase for "+path)
		if err != nil {
			return err
		}
		name, save = "age:"+path, func() error { return wallet.CreateEncrypted(path, passphrase, key) }
	}
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return err
	}
	switch err := save(); {
	case errors.Is(err, fs.ErrExist):
		return exists
	case errors.Is(err, wallet.ErrWeakPassphrase):
		return exitcode.Usagef("the passphrase is too short: it takes at least 8 characters")
	case err != nil:
		return err
	}
	return s.print(addressView{key.PublicKey(), name}, key.PublicKey().String())
}

type addressView struct {
	Address solana.PublicKey `json:"address"`
	// Keypair is what --keypair calls the wallet.
	Keypair string `json:"keypair"`
}

func newAddressCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "address", Short: "Print the wallet's address",
		Long: `Prints the address that --keypair, or the Solana tools' configuration, stands for: what the other side
has to know.`,
		Example: "  haggle address --keypair buyer.json",
		Args:    exactly(0),
	}
	cmd.RunE = s.limited(func(ctx context.Context, _ []string) error {
		address, err := s.connection.Address(ctx)
		if err != nil {
			return err
		}
		settings, err := s.connection.Settle()
		if err != nil {
			return err
		}
		return s.print(addressView{address, connection.WalletName(settings.KeypairPath)}, address.String())
	})
	return cmd
}
