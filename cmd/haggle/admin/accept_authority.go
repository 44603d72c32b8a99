package admin

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newAcceptAuthorityCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept", Short: "Become the authority, having been named", Long: `Makes the keypair's owner, whom the authority has named, the authority.`,
		Example: "  haggle admin accept --keypair successor.json", Args: command.Exactly(0),
	}
	cmd.RunE = administer(s, func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
		return client.AcceptAuthority(ctx, haggle.AcceptAuthorityRequest{Authority: key.PublicKey()})
	}, func() string { return "accepted: the keypair's owner is the authority now" })
	return cmd
}
