package milestone

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func newResolveCommand(s *session.Session) *cobra.Command {
	var sellerBps uint16
	var forfeit bool
	cmd := newIndexCommand(s, "resolve", "Resolve a disputed milestone (arbiter)",
		`Divides a disputed milestone between the parties. The seller gets its share less the fee, the buyer the
rest with the rounding unit. With --forfeit-bond the seller's bond goes to the buyer.`,
		"  haggle milestone resolve NEGOTIATION 0 --seller-bps 7500",
		func(ctx context.Context, t onchain.Step, index uint8) (*haggle.Action, error) {
			if uint64(sellerBps) > protocol.BpsDenominator {
				return nil, exitcode.Usagef("--seller-bps %d: must be 0 to %d", sellerBps, protocol.BpsDenominator)
			}
			return t.Client.At(t.Snapshot).ResolveDispute(t.Key.PublicKey(), index, haggle.Ruling{SellerBps: sellerBps, ForfeitBond: forfeit}).Build(ctx)
		},
		func(_ onchain.Step, index uint8, receipt *haggle.Receipt) string {
			return fmt.Sprintf("dispute resolved: milestone %d, %s of it to the seller%s", index, format.Percent(sellerBps), settledNow(receipt))
		})
	cmd.Flags().Uint16Var(&sellerBps, "seller-bps", 0, "the seller's share of the milestone, in basis points, 0 to 10000")
	cmd.Flags().BoolVar(&forfeit, "forfeit-bond", false, "give the seller's bond to the buyer")
	command.Required(cmd, "seller-bps")
	return cmd
}
