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

func newExpireCommand(s *session.Session) *cobra.Command {
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "expire NEGOTIATION", Short: "End a negotiation whose deadline has passed (anyone)",
		Long: `Ends a negotiation whose response window or global deadline has passed. The escrow, less its decay, goes
back to the buyer. Any wallet can expire it; the keypair pays the transaction's fee.`,
		Example: "  haggle negotiation expire NEGOTIATION",
	}
	unwrap.register(cmd)
	return onchain.Command(s, cmd, onchain.OnNegotiation(s,
		func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
			if t.Snapshot.IsOpen() && !t.Snapshot.IsOverdue(t.Snapshot.Time) {
				return nil, exitcode.WithHint(fmt.Errorf("%w: the deadline has not passed", haggle.ErrNotAsExpected),
					"it can be expired from "+format.When(t.Snapshot.TurnDeadline, t.Snapshot.Time)+"; to end it before as a party: haggle negotiation reject "+t.Snapshot.Address.String())
			}
			return unwrap.of(t.Key, t.Client.At(t.Snapshot).Expire(t.Key.PublicKey())).Build(ctx)
		},
		func(t onchain.Step, _ *haggle.Receipt) string {
			return fmt.Sprintf("expired after %d offers: the rest of the escrow is back with the buyer", t.Snapshot.CurrentRound)
		}))
}
