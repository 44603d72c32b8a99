package milestone

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func newClaimMilestoneCommand(s *session.Session) *cobra.Command {
	var evidence evidenceFlag
	cmd := newIndexCommand(s, "claim", "Claim a milestone (seller)",
		`Claims a milestone. The order is free, but only one can be under review. The buyer can release or dispute
it within the review window; afterwards any wallet can release it.`,
		"  haggle milestone claim NEGOTIATION 0\n  haggle milestone claim NEGOTIATION 0 --evidence report.pdf",
		func(ctx context.Context, t onchain.Step, index uint8) (*haggle.Action, error) {
			hash, err := evidence.hash()
			if err != nil {
				return nil, err
			}
			return t.Client.At(t.Snapshot).ClaimMilestone(t.Key.PublicKey(), index, hash).Build(ctx)
		},
		func(_ onchain.Step, index uint8, receipt *haggle.Receipt) string {
			for _, event := range receipt.Events {
				if claimed, ok := event.(*protocol.MilestoneClaimed); ok {
					return fmt.Sprintf("milestone claimed: %d; the buyer can dispute it until %s", index,
						format.When(claimed.ReviewDeadline, claimed.Timestamp))
				}
			}
			return fmt.Sprintf("milestone claimed: %d", index)
		})
	evidence.register(cmd, "delivery")
	return cmd
}
