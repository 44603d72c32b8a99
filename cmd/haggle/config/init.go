package config

import (
	"context"
	"errors"
	"time"

	"github.com/haggle-protocol/haggle/sdk/admin"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const configInitHelp = `Initializes the protocol's configuration, once. The keypair must be the program's upgrade authority, so that
no other wallet can initialize it first.`

func newConfigInitCommand(s *session.Session) *cobra.Command {
	var treasury connection.Address
	window := duration.Flag(time.Duration(protocol.DefaultResponseWindow) * time.Second)
	decay, fee, rounds := protocol.DefaultDecayRateBps, protocol.DefaultProtocolFeeBps, protocol.DefaultMaxRounds
	cmd := &cobra.Command{
		Use: "init", Short: "Initialize the protocol (the program's upgrade authority)", Long: configInitHelp,
		Example: "  haggle config init --treasury ADDRESS --fee-bps 50 --keypair upgrade-authority.json",
	}
	flags := cmd.Flags()
	flags.Var(&treasury, "treasury", "wallet whose token accounts receive fees and decay (default: the keypair's)")
	flags.Uint16Var(&fee, "fee-bps", fee, "fee in basis points of the price, 0 to 500")
	flags.Uint16Var(&decay, "decay-bps", decay, "default decay per round, in basis points, 0 to 1000")
	flags.Var(&window, "window", "default response window, 60s to 1h")
	flags.Uint8Var(&rounds, "rounds", rounds, "default number of offers, 1 to 20")
	onchain.RegisterDryRun(s, flags)
	return onchain.Command(s, cmd, func(ctx context.Context, _ []string) error {
		client, key, err := s.ClientAndKey(ctx)
		if err != nil {
			return err
		}
		request := admin.InitializeConfigRequest{
			Authority: key.PublicKey(), Treasury: treasury.Key(), DecayRateBps: &decay, ProtocolFeeBps: &fee,
			ResponseWindow: time.Duration(window), MaxRounds: rounds,
		}
		if request.Treasury.IsZero() {
			request.Treasury = key.PublicKey()
		}
		action, err := admin.InitializeConfig(client, request)
		if err != nil {
			return err
		}
		receipt, err := onchain.Do(ctx, s, client, action, key)
		if errors.Is(err, protocol.ErrAccountOwnedByWrongProgram) {
			return exitcode.WithHint(err, "already initialized: haggle config show; to change it: haggle admin update")
		}
		if err != nil {
			return err
		}
		return onchain.Print(s, action, receipt, "configuration initialized; the treasury is "+request.Treasury.String())
	})
}
