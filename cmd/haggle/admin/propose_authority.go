package admin

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newProposeAuthorityCommand(s *session.Session) *cobra.Command {
	var successor connection.Address
	var withdraw bool
	cmd := &cobra.Command{
		Use: "propose", Short: "Name who may become the authority", Long: `Names a successor, who becomes the authority by accepting. Until then nothing changes, so a mistyped
address locks nobody out.`,
		Example: "  haggle admin propose --authority ADDRESS\n  haggle admin propose --withdraw",
		Args:    command.Exactly(0),
	}
	cmd.Flags().Var(&successor, "authority", "who may accept")
	cmd.Flags().BoolVar(&withdraw, "withdraw", false, "take the proposal back")
	cmd.MarkFlagsOneRequired("authority", "withdraw")
	cmd.MarkFlagsMutuallyExclusive("authority", "withdraw")
	cmd.RunE = administer(s, func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
		if !withdraw && successor.Key().IsZero() {
			return nil, exitcode.Usagef("--authority: nobody can sign for zeros; to take a proposal back: --withdraw")
		}
		return client.ProposeAuthority(ctx, haggle.ProposeAuthorityRequest{Authority: key.PublicKey(), NewAuthority: successor.Key()})
	}, func() string {
		if withdraw {
			return "withdrawn: nobody but the authority is named"
		}
		return successor.String() + " may take over with: haggle admin accept"
	})
	return cmd
}
