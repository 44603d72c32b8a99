package admin

import (
	"context"
	"time"

	sdkadmin "github.com/haggle-protocol/haggle/sdk/admin"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

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
