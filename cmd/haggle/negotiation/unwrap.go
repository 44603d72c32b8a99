package negotiation

import (
	"github.com/spf13/cobra"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// unwrapFlag has the wallet's wrapped SOL become lamports in the transaction that is paid out.
type unwrapFlag struct{ asked bool }

func (u *unwrapFlag) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&u.asked, "unwrap-sol", false, "make lamports of all the wallet's wrapped SOL in the same transaction")
}

// of adds that to an action that pays a wallet.
func (u *unwrapFlag) of(key haggle.Signer) func(*haggle.Action, error) (*haggle.Action, error) {
	return func(action *haggle.Action, err error) (*haggle.Action, error) {
		if err != nil || !u.asked {
			return action, err
		}
		return action.UnwrapSOL(key.PublicKey())
	}
}
