package admin

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newPauseCommand(s *session.Session, paused bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pause", Short: "Stop the creation of negotiations", Long: `Stops the creation of negotiations, and nothing else: those under way go on, end and pay.`,
		Example: "  haggle admin pause", Args: command.Exactly(0),
	}
	happened := "paused: no new negotiations"
	if !paused {
		cmd.Use, cmd.Short, cmd.Long = "resume", "Let negotiations be created again", "Lets negotiations be created again."
		cmd.Example, happened = "  haggle admin resume", "open: negotiations can be created"
	}
	cmd.RunE = administer(s, func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
		return client.SetPaused(ctx, haggle.SetPausedRequest{Authority: key.PublicKey(), Paused: paused})
	}, func() string { return happened })
	return cmd
}
