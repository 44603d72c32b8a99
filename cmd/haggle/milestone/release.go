package milestone

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newReleaseCommand(s *session.Session) *cobra.Command {
	return newIndexCommand(s, "release", "Release a claimed milestone (buyer; after its review anyone)",
		`Pays the milestone under review. The buyer can release it at any time, any wallet after the review window.`,
		"  haggle milestone release NEGOTIATION 0",
		func(ctx context.Context, t onchain.Step, index uint8) (*haggle.Action, error) {
			return t.Client.At(t.Snapshot).ReleaseMilestone(t.Key.PublicKey(), index).Build(ctx)
		},
		func(_ onchain.Step, index uint8, receipt *haggle.Receipt) string {
			return fmt.Sprintf("milestone released: %d%s", index, settledNow(receipt))
		})
}
