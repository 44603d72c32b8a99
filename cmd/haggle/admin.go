package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk"
)

const adminHelp = `What the configuration's authority can do. None of it touches a negotiation under way: each keeps the
fee and the terms that it was created with, and pausing stops new ones only.`

func newAdminCommand(s *session) *cobra.Command {
	return newGroupCommand("admin", "Change the protocol's configuration (its authority)", adminHelp,
		newUpdateConfigCommand(s), newPauseCommand(s, true), newPauseCommand(s, false),
		newProposeAuthorityCommand(s), newAcceptAuthorityCommand(s))
}

// administer does an action on the configuration.
func (s *session) administer(build func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error), happened func() string) func(*cobra.Command, []string) error {
	return s.limited(func(ctx context.Context, _ []string) error {
		client, key, err := s.clientAndKey(ctx)
		if err != nil {
			return err
		}
		action, err := build(ctx, client, key)
		if err != nil {
			return err
		}
		receipt, err := s.act(ctx, client, action, key)
		if err != nil {
			return err
		}
		v := struct {
			Action string `json:"action"`
			receiptView
		}{action.Name, viewReceipt(receipt)}
		return s.print(v, happened(), v.text())
	})
}

func newUpdateConfigCommand(s *session) *cobra.Command {
	var treasury connection.Address
	var window duration.Flag
	var decay, fee uint16
	var rounds uint8
	cmd := &cobra.Command{
		Use: "update", Short: "Change treasury, fee or defaults", Long: `Changes what is given and leaves the rest. A new fee counts for negotiations created from now on, a new
treasury for all that are closed from now on.`,
		Example: "  haggle admin update --fee-bps 25\n  haggle admin update --treasury ADDRESS",
		Args:    exactly(0),
	}
	flags := cmd.Flags()
	flags.Var(&treasury, "treasury", "wallet whose token accounts receive fees and decay")
	flags.Uint16Var(&fee, "fee-bps", 0, "fee in basis points of what is paid, 0 to 500")
	flags.Uint16Var(&decay, "decay-bps", 0, "default decay per round, in basis points, 0 to 1000")
	flags.Var(&window, "window", "default time to answer, 60s to 1h")
	flags.Uint8Var(&rounds, "rounds", 0, "default number of offers, 1 to 20")
	cmd.RunE = s.administer(func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
		request := haggle.UpdateConfigRequest{
			Authority: key.PublicKey(), Treasury: treasury.Key(), ResponseWindow: time.Duration(window), MaxRounds: rounds,
		}
		changed := false
		for _, name := range []string{"treasury", "fee-bps", "decay-bps", "window", "rounds"} {
			changed = changed || flags.Changed(name)
		}
		if !changed {
			return nil, exitcode.Usagef("nothing is to be changed: %s", cmd.UseLine())
		}
		if flags.Changed("window") && window == 0 || flags.Changed("rounds") && rounds == 0 {
			return nil, exitcode.Usagef("--window is 60s to 1h, --rounds 1 to 20")
		}
		if flags.Changed("fee-bps") {
			request.ProtocolFeeBps = &fee
		}
		if flags.Changed("decay-bps") {
			request.DecayRateBps = &decay
		}
		return client.UpdateConfig(ctx, request)
	}, func() string { return "updated; see: haggle config show" })
	return cmd
}

func newPauseCommand(s *session, paused bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pause", Short: "Stop the creation of negotiations", Long: `Stops the creation of negotiations, and nothing else: those under way go on, end and pay.`,
		Example: "  haggle admin pause", Args: exactly(0),
	}
	happened := "paused: no new negotiations"
	if !paused {
		cmd.Use, cmd.Short, cmd.Long = "resume", "Let negotiations be created again", "Lets negotiations be created again."
		cmd.Example, happened = "  haggle admin resume", "open: negotiations can be created"
	}
	cmd.RunE = s.administer(func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
		return client.SetPaused(ctx, haggle.SetPausedRequest{Authority: key.PublicKey(), Paused: paused})
	}, func() string { return happened })
	return cmd
}

func newProposeAuthorityCommand(s *session) *cobra.Command {
	var successor connection.Address
	var withdraw bool
	cmd := &cobra.Command{
		Use: "propose", Short: "Name who may become the authority", Long: `Names a successor, who becomes the authority by accepting. Until then nothing changes, so a mistyped
address locks nobody out.`,
		Example: "  haggle admin propose --authority ADDRESS\n  haggle admin propose --withdraw",
		Args:    exactly(0),
	}
	cmd.Flags().Var(&successor, "authority", "who may accept")
	cmd.Flags().BoolVar(&withdraw, "withdraw", false, "take the proposal back")
	cmd.MarkFlagsOneRequired("authority", "withdraw")
	cmd.MarkFlagsMutuallyExclusive("authority", "withdraw")
	cmd.RunE = s.administer(func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
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

func newAcceptAuthorityCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept", Short: "Become the authority, having been named", Long: `Makes the keypair's owner, whom the authority has named, the authority.`,
		Example: "  haggle admin accept --keypair successor.json", Args: exactly(0),
	}
	cmd.RunE = s.administer(func(ctx context.Context, client *haggle.Client, key haggle.Signer) (*haggle.Action, error) {
		return client.AcceptAuthority(ctx, haggle.AcceptAuthorityRequest{Authority: key.PublicKey()})
	}, func() string { return "accepted: the keypair's owner is the authority now" })
	return cmd
}
