package negotiation

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newCloseCommand(s *session.Session) *cobra.Command {
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "close NEGOTIATION", Short: "Close an ended negotiation: fees to the treasury, rent to the buyer (anyone)",
		Long: `Closes the accounts of a negotiation that is settled, rejected or expired. Fee and decay go to the
protocol's treasury, the rent of both accounts to the buyer. Any wallet can close it. Afterwards only
its events remain, which "negotiation watch" prints.`,
		Example: "  haggle negotiation close NEGOTIATION",
	}
	unwrap.register(cmd)
	return onchain.Command(s, cmd, onchain.OnNegotiation(s,
		func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
			if t.Snapshot.IsAgreed() {
				return nil, exitcode.WithHint(fmt.Errorf("%w: it has not ended, but is %s", haggle.ErrNotAsExpected, t.Snapshot.Status),
					fmt.Sprintf("%s; from %s anyone can settle the undecided milestones: haggle milestone settle-deadline %s", t.Snapshot.Describe(), format.When(t.Snapshot.SettleDueAt(), t.Snapshot.Time), t.Snapshot.Address))
			}
			if !t.Snapshot.IsOver() {
				return nil, exitcode.WithHint(fmt.Errorf("%w: it has not ended, but is %s", haggle.ErrNotAsExpected, t.Snapshot.Status),
					"end it first: accept-offer, reject, or expire after "+format.When(t.Snapshot.TurnDeadline, t.Snapshot.Time))
			}
			return unwrap.of(t.Key, t.Client.At(t.Snapshot).Close(t.Key.PublicKey())).Build(ctx)
		},
		func(t onchain.Step, _ *haggle.Receipt) string {
			return fmt.Sprintf("closed: the rent is back with the buyer, %s", t.Snapshot.Buyer)
		}))
}
