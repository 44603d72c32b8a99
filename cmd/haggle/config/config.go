// Package config has the commands of "haggle config".
package config

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/admin"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Command returns "haggle config".
func Command(s *session.Session) *cobra.Command {
	return command.Group("config", "Initialize and show the protocol's configuration",
		"The configuration is one account for the whole protocol: its treasury, its fee, and the terms that\nit proposes for new negotiations, which haggle does not use. (For the configuration of the Solana tools\nsee --config.)",
		newConfigInitCommand(s), newConfigShowCommand(s))
}

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

type configView struct {
	Program        solana.PublicKey `json:"program"`
	Config         solana.PublicKey `json:"config"`
	Authority      solana.PublicKey `json:"authority"`
	Treasury       solana.PublicKey `json:"treasury"`
	ProtocolFeeBps uint16           `json:"protocol_fee_bps"`
	DecayRateBps   uint16           `json:"default_decay_rate_bps"`
	ResponseWindow int64            `json:"default_response_window"`
	MaxRounds      uint8            `json:"default_max_rounds"`
	Paused         bool             `json:"is_paused"`
	// Pending is the proposed authority, if any.
	Pending solana.PublicKey `json:"pending_authority"`

	Negotiations string `json:"total_negotiations"`
	Volume       string `json:"total_settled_volume"`
	Fees         string `json:"total_fees_collected"`
}

func newConfigShowCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "Show fee, treasury, defaults and totals",
		Long: `Shows the protocol's configuration and the number of closed negotiations. --json also has their volume and
fees, which add up base units of all mints; "haggle index export totals" has them for each mint.`,
		Example: "  haggle config show --url devnet\n  haggle config show --json | jq .protocol_fee_bps",
	}
	command.Documents(cmd, configView{})
	cmd.RunE = s.Limited(func(ctx context.Context, _ []string) error {
		client, err := s.Client()
		if err != nil {
			return err
		}
		config, err := client.GetConfig(ctx)
		if err != nil {
			return session.NotFound(err, "to initialize it: haggle config init; to check the cluster: haggle doctor")
		}
		v := configView{
			protocol.ProgramID, config.Address, config.Authority, config.Treasury, config.DefaultProtocolFeeBps, config.DefaultDecayRateBps,
			config.DefaultResponseWindow, config.DefaultMaxRounds, config.IsPaused, config.PendingAuthority,
			fmt.Sprint(config.TotalNegotiations), fmt.Sprint(config.TotalSettledVolume), fmt.Sprint(config.TotalFeesCollected),
		}
		return s.Print(v, v.text())
	})
	return cmd
}

func (v configView) text() string {
	state := "open"
	if v.Paused {
		state = "paused: no new negotiations"
	}
	pending := ""
	if !v.Pending.IsZero() {
		pending = v.Pending.String() + ", not accepted yet"
	}
	return format.Rows{
		{"program", v.Program.String()},
		{"authority", v.Authority.String()},
		{"proposed authority", pending},
		{"treasury", v.Treasury.String()},
		{"fee", format.Percent(v.ProtocolFeeBps) + " of the price"},
		{"decay", format.Percent(v.DecayRateBps) + " per round by default"},
		{"window", duration.Format(time.Duration(v.ResponseWindow) * time.Second)},
		{"rounds", fmt.Sprint(v.MaxRounds)},
		{"state", state},
		{"closed", v.Negotiations + " negotiations"},
	}.String()
}
