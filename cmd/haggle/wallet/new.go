package wallet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

func newWalletNewCommand(s *session.Session) *cobra.Command {
	var encrypted bool
	cmd := &cobra.Command{
		Use: "new [FILE]", Short: "Make a keypair file, plain or encrypted",
		Long: `Makes a new keypair and writes it as the Solana tools do, readable by its owner alone; without FILE to
~/.config/solana/id.json. With --encrypted it takes a passphrase to open it, and "age --decrypt" does too.
A file that exists is never overwritten: whoever loses a key, or its passphrase, loses what it owns.`,
		Example: "  haggle wallet new buyer.json\n  haggle wallet new --encrypted buyer.age && haggle address --keypair age:buyer.age",
		Args:    command.Between(0, 1),
	}
	cmd.Flags().BoolVar(&encrypted, "encrypted", false, "encrypt it with a passphrase, which is asked for twice")
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		if len(arguments) == 1 {
			return newWallet(ctx, s, arguments[0], encrypted)
		}
		if encrypted {
			return exitcode.Usagef("--encrypted: which file? haggle wallet new --encrypted FILE")
		}
		return newWallet(ctx, s, solanaconfig.DefaultKeypairPath(), false)
	})
	return cmd
}

func newWallet(ctx context.Context, s *session.Session, path string, encrypted bool) error {
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
		return exitcode.Usagef("the passphrase is too short: it takes at least 8 characters")
	case err != nil:
		return err
	}
	return s.Print(addressView{key.PublicKey(), name}, key.PublicKey().String())
}
