package admin

import (
	"context"

	sdkadmin "github.com/haggle-protocol/haggle/sdk/admin"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newProposeAuthorityCommand(s *session.Session) *cobra.Command {
	var successor connection.Address
	var withdraw bool
	cmd := &cobra.Command{
		Use: "propose-authority", Short: "Propose another authority", Long: `Proposes another authority, which takes effect when that wallet accepts it. A mistyped address therefore
locks no one out.`,
		Example: "  haggle admin propose-authority --authority ADDRESS\n  haggle admin propose-authority --withdraw",
	}
	cmd.Flags().Var(&successor, "authority", "address that can accept")
	cmd.Flags().BoolVar(&withdraw, "withdraw", false, "withdraw the proposal")
	cmd.MarkFlagsOneRequired("authority", "withdraw")
	cmd.MarkFlagsMutuallyExclusive("authority", "withdraw")
	return administer(s, cmd, func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
		if !withdraw && successor.Key().IsZero() {
			return nil, exitcode.Usagef("--authority must not be zero; to withdraw a proposal: --withdraw")
		}
		return sdkadmin.ProposeAuthority(client, sdkadmin.ProposeAuthorityRequest{Authority: key.PublicKey(), NewAuthority: successor.Key()})
	}, func() string {
		if withdraw {
			return "authority proposal withdrawn"
		}
		return "authority proposed: " + successor.String() + " can accept it with: haggle admin accept-authority"
	})
}
