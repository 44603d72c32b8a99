package negotiation

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newClaimPayoutCommand(s *session.Session) *cobra.Command {
	var destination connection.Address
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "claim-payout NEGOTIATION", Short: "Claim a payment that could not be delivered (its recipient)",
		Long: `Claims a payment that the keypair's token account could not receive because it was missing, frozen or
controlled by another owner. The payment goes to the owner's associated token account, which is created
if it does not exist, or to the account of --to.`,
		Example: "  haggle negotiation claim-payout NEGOTIATION --to TOKEN-ACCOUNT",
	}
	cmd.Flags().Var(&destination, "to", "token account that receives the payment (default: the associated one)")
	unwrap.register(cmd)
	return onchain.Command(s, cmd, onchain.OnNegotiation(s,
		func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
			if owed(t) == 0 {
				return nil, fmt.Errorf("%w: no payout is recorded for %s", haggle.ErrNotAsExpected, t.Key.PublicKey())
			}
			return unwrap.of(t.Key, t.Client.At(t.Snapshot).ClaimPayout(t.Key.PublicKey(), destination.Key())).Build(ctx)
		},
		func(t onchain.Step, _ *haggle.Receipt) string {
			return "payout claimed: " + t.Tokens(owed(t)).String()
		}))
}

func owed(t onchain.Step) uint64 {
	switch t.Key.PublicKey() {
	case t.Snapshot.Buyer:
		return t.Snapshot.ClaimableBuyer
	case t.Snapshot.Seller:
		return t.Snapshot.ClaimableSeller
	}
	return 0
}
