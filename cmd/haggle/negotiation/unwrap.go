package negotiation

import (
	"github.com/spf13/cobra"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// unwrapFlag unwraps the wallet's SOL in the transaction that pays it out.
type unwrapFlag struct{ set bool }

func (u *unwrapFlag) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&u.set, "unwrap-sol", false, "unwrap all the wallet's wrapped SOL in the same transaction")
}

// of adds the unwrapping to an action that pays the wallet.
func (u *unwrapFlag) of(key haggle.Signer, action *haggle.Action) *haggle.Action {
	if !u.set {
		return action
	}
	return action.UnwrapSOL(key.PublicKey())
}
