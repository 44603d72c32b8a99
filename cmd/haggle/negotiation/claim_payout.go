package negotiation

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newClaimCommand(s *session.Session) *cobra.Command {
	var destination connection.Address
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "claim NEGOTIATION", Short: "Fetch a payment that could not be delivered (the party it is owed to)",
		Long: `Fetches what the negotiation still owes the keypair's owner, because its token account could not
receive it: it was missing, frozen or given away. It goes to the owner's associated token account,
which is created if need be, or to another one.`,
		Example: "  haggle negotiation claim NEGOTIATION --to TOKEN-ACCOUNT",
		Args:    command.Exactly(1), ValidArgsFunction: onchain.CompleteNegotiations(s),
	}
	cmd.Flags().Var(&destination, "to", "token account that receives it (default: the associated one)")
	unwrap.register(cmd)
	cmd.RunE = s.Limited(onchain.OnNegotiation(s,
		func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
			if owed(t) == 0 {
				return nil, fmt.Errorf("%w: nothing is owed to %s", haggle.ErrNotAsExpected, t.Key.PublicKey())
			}
			return unwrap.of(t.Key)(t.Client.ClaimPayout(ctx, haggle.ClaimRequest{Party: t.Key.PublicKey(), Seen: t.Snapshot, Destination: destination.Key()}))
		},
		func(t onchain.Step, _ *haggle.Receipt) string { return fmt.Sprintf("claimed %d base units", owed(t)) }))
	return cmd
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
