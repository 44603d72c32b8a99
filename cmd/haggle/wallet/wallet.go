// Package wallet has the commands of "haggle wallet".
package wallet

import (
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/session"
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
