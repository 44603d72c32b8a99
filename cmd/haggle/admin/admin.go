// Package admin has the commands of "haggle admin".
package admin

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

const adminHelp = `The actions of the configuration's authority. They do not affect existing negotiations, which keep the fee
and the terms of their creation; a pause stops only new ones.`

// Command returns "haggle admin".
func Command(s *session.Session) *cobra.Command {
	group := command.Group("admin", "Change the protocol's configuration (its authority)", adminHelp,
		newUpdateConfigCommand(s), newPauseCommand(s, true), newPauseCommand(s, false),
		newProposeAuthorityCommand(s), newAcceptAuthorityCommand(s))
	onchain.RegisterDryRun(s, group.PersistentFlags())
	return group
}

// administer makes a command carry out an action on the configuration.
func administer(
	s *session.Session, cmd *cobra.Command,
	build func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error),
	effect func() string,
) *cobra.Command {
	return onchain.Command(s, cmd, func(ctx context.Context, _ []string) error {
		client, key, err := s.ClientAndKey(ctx)
		if err != nil {
			return err
		}
		action, err := build(ctx, client, key)
		if err != nil {
			return err
		}
		receipt, err := onchain.Do(ctx, s, client, action, key)
		if err != nil {
			return err
		}
		return onchain.Print(s, action, receipt, effect())
	})
}
