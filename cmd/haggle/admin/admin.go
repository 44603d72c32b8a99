// Package admin has the commands of "haggle admin".
package admin

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	sdkadmin "github.com/haggle-protocol/haggle/sdk/admin"
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

func newUpdateConfigCommand(s *session.Session) *cobra.Command {
	var treasury connection.Address
	var window duration.Flag
	var decay, fee uint16
	var rounds uint8
	cmd := &cobra.Command{
		Use: "update", Short: "Change treasury, fee or defaults", Long: `Changes the given values. A new fee applies to negotiations created afterwards, a new treasury to all
that are closed afterwards.`,
		Example: "  haggle admin update --fee-bps 25\n  haggle admin update --treasury ADDRESS",
	}
	flags := cmd.Flags()
	flags.Var(&treasury, "treasury", "wallet whose token accounts receive fees and decay")
	flags.Uint16Var(&fee, "fee-bps", 0, "fee in basis points of the price, 0 to 500")
	flags.Uint16Var(&decay, "decay-bps", 0, "default decay per round, in basis points, 0 to 1000")
	flags.Var(&window, "window", "default response window, 60s to 1h")
	flags.Uint8Var(&rounds, "rounds", 0, "default number of offers, 1 to 20")
	return administer(s, cmd, func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
		request := sdkadmin.UpdateConfigRequest{
			Authority: key.PublicKey(), Treasury: treasury.Key(), ResponseWindow: time.Duration(window), MaxRounds: rounds,
		}
		changed := false
		for _, name := range []string{"treasury", "fee-bps", "decay-bps", "window", "rounds"} {
			changed = changed || flags.Changed(name)
		}
		if !changed {
			return nil, exitcode.Usagef("no flag given: %s", cmd.UseLine())
		}
		if flags.Changed("window") && window == 0 || flags.Changed("rounds") && rounds == 0 {
			return nil, exitcode.Usagef("--window must be 60s to 1h, --rounds 1 to 20")
		}
		if flags.Changed("fee-bps") {
			request.ProtocolFeeBps = &fee
		}
		if flags.Changed("decay-bps") {
			request.DecayRateBps = &decay
		}
		return sdkadmin.UpdateConfig(ctx, client, request)
	}, func() string { return "configuration updated; to read it: haggle config show" })
}

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

func newAcceptAuthorityCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept-authority", Short: "Become the authority (the proposed one)", Long: `Makes the keypair the configuration's authority. The present authority has to propose it before.`,
		Example: "  haggle admin accept-authority --keypair successor.json",
	}
	return administer(s, cmd, func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
		return sdkadmin.AcceptAuthority(client, sdkadmin.AcceptAuthorityRequest{Authority: key.PublicKey()})
	}, func() string { return "authority accepted: the keypair is the authority now" })
}
