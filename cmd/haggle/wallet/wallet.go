package wallet

import (
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/session"
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

func Command(s *session.Session) *cobra.Command {
	return command.Group("wallet", "Make wallets; what --keypair can name", walletHelp, newWalletNewCommand(s))
}
