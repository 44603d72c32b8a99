package admin

import (
	"context"

	sdkadmin "github.com/haggle-protocol/haggle/sdk/admin"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newAcceptAuthorityCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept-authority", Short: "Become the authority (the proposed one)", Long: `Makes the keypair the configuration's authority. The present authority has to propose it before.`,
		Example: "  haggle admin accept-authority --keypair successor.json",
	}
	return administer(s, cmd, func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
		return sdkadmin.AcceptAuthority(client, sdkadmin.AcceptAuthorityRequest{Authority: key.PublicKey()})
	}, func() string { return "authority accepted: the keypair is the authority now" })
}
