package milestone

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newDisputeCommand(s *session.Session) *cobra.Command {
	var evidence evidenceFlag
	cmd := newIndexCommand(s, "dispute", "Dispute a claimed milestone (buyer)",
		`Disputes the milestone under review. The arbiter of the terms then divides it.`,
		"  haggle milestone dispute NEGOTIATION 0\n  haggle milestone dispute NEGOTIATION 0 --evidence complaint.txt",
		func(ctx context.Context, t onchain.Step, index uint8) (*haggle.Action, error) {
			hash, err := evidence.hash()
			if err != nil {
				return nil, err
			}
			return t.Client.At(t.Snapshot).DisputeMilestone(t.Key.PublicKey(), index, hash).Build(ctx)
		},
		func(t onchain.Step, index uint8, _ *haggle.Receipt) string {
			return fmt.Sprintf("milestone disputed: %d; %s decides until %s", index, t.Snapshot.Arbiter,
				format.When(t.Snapshot.ArbitrationDeadline(), t.Snapshot.Time))
		})
	evidence.register(cmd, "complaint")
	return cmd
}
