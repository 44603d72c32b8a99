package negotiation

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func newRejectCommand(s *session.Session) *cobra.Command {
	var round int
	var forfeit bool
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "reject NEGOTIATION", Short: "End a negotiation without a deal (either side)",
		Long: `Ends a negotiation without a deal before its deadlines. The escrow, less its decay, goes back to the buyer
at once, and a bond to the seller. A seller that rejects after the buyer has revealed its reservation
price and before the buyer's first offer forfeits the bond to the buyer (--forfeit-bond).`,
		Example: "  haggle negotiation reject NEGOTIATION\n  haggle negotiation reject NEGOTIATION --round 4",
	}
	cmd.Flags().IntVar(&round, "round", -1, "reject only if this number of offers has been made (default: any)")
	cmd.Flags().BoolVar(&forfeit, "forfeit-bond", false, "reject even if the seller loses its bond")
	unwrap.register(cmd)
	return onchain.Command(s, cmd, onchain.OnNegotiation(s,
		func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
			if !forfeit && forfeitsBond(t) {
				instead := "let the negotiation expire"
				if t.Snapshot.ZopaStep() == protocol.ZopaStepSellerReveals {
					instead = "reveal the price: haggle zopa reveal " + t.Snapshot.Address.String()
				}
				return nil, exitcode.WithHint(fmt.Errorf("%w: a rejection now forfeits the bond", haggle.ErrNotAsExpected),
					instead+"; to reject and lose the bond: --forfeit-bond")
			}
			if round >= 0 && round != int(t.Snapshot.CurrentRound) {
				return nil, exitcode.WithHint(fmt.Errorf("%w: %d offers have been made, not %d", haggle.ErrNotAsExpected, t.Snapshot.CurrentRound, round),
					"read it again: haggle negotiation show "+t.Snapshot.Address.String())
			}
			return unwrap.of(t.Key, t.Client.At(t.Snapshot).Reject(t.Key.PublicKey())).Build(ctx)
		},
		func(t onchain.Step, _ *haggle.Receipt) string {
			if forfeitsBond(t) {
				return "rejected: the escrow and the bond are with the buyer"
			}
			return fmt.Sprintf("rejected after %d offers: the rest of the escrow is back with the buyer", t.Snapshot.CurrentRound)
		}))
}

// forfeitsBond reports whether a rejection costs the wallet its bond.
func forfeitsBond(t onchain.Step) bool {
	return t.Snapshot.Seller == t.Key.PublicKey() && t.Snapshot.RejectionForfeitsBond()
}
