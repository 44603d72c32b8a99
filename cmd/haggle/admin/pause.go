package admin

import (
	"context"

	sdkadmin "github.com/haggle-protocol/haggle/sdk/admin"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newPauseCommand(s *session.Session, paused bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pause", Short: "Stop the creation of negotiations", Long: `Stops the creation of negotiations. Existing ones continue, end and pay.`,
		Example: "  haggle admin pause",
	}
	effect := "paused: no new negotiations"
	if !paused {
		cmd.Use, cmd.Short, cmd.Long = "resume", "Allow the creation of negotiations again", "Allows the creation of negotiations again."
		cmd.Example, effect = "  haggle admin resume", "resumed: negotiations can be created"
	}
	return administer(s, cmd, func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
		return sdkadmin.SetPaused(client, sdkadmin.SetPausedRequest{Authority: key.PublicKey(), Paused: paused})
	}, func() string { return effect })
}
