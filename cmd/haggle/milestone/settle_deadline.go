package milestone

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/result"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func newSettleDeadlineCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "settle-deadline NEGOTIATION", Short: "Decide the undecided milestones after their deadline (anyone)",
		Long: `Settles a negotiation whose milestones' deadline has passed, or, while a dispute is open, the arbiter's
time: claimed and undisputed milestones are paid, disputed ones halved, the others go back to the buyer.
Anyone can send it; the keypair pays the transaction's fee.`,
		Example: "  haggle milestone settle-deadline NEGOTIATION",
	}
	return onchain.Command(s, cmd, onchain.OnNegotiation(s,
		func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
			if t.Snapshot.IsAgreed() && t.Snapshot.Time < t.Snapshot.SettleDueAt() {
				return nil, exitcode.WithHint(fmt.Errorf("%w: the deadline has not passed", haggle.ErrNotAsExpected),
					"it can be settled from "+format.When(t.Snapshot.SettleDueAt(), t.Snapshot.Time))
			}
			return t.Client.At(t.Snapshot).SettleDeadline(t.Key.PublicKey()).Build(ctx)
		},
		func(t onchain.Step, receipt *haggle.Receipt) string {
			for _, event := range receipt.Events {
				if settled, ok := event.(*protocol.NegotiationSettled); ok {
					return fmt.Sprintf("settled at the deadline: %s of the price of %s paid, the rest back to the buyer",
						t.Tokens(settled.SettledAmount), t.Tokens(t.Snapshot.SettledAmount))
				}
			}
			return result.Of("settle_deadline")
		}))
}
