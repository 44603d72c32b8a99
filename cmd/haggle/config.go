package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func newConfigCommand(s *session) *cobra.Command {
	return newGroupCommand("config", "Initialize and show the protocol's configuration",
		"The configuration is one account for the whole protocol: its treasury, its fee, and the defaults of\nnew negotiations. (The configuration of the Solana tools is another thing: see --config.)",
		newConfigInitCommand(s), newConfigShowCommand(s))
}

const configInitHelp = `Writes the protocol's configuration, once. The keypair has to be the program's upgrade authority, so
that nobody can be faster than its deployer.`

func newConfigInitCommand(s *session) *cobra.Command {
	var treasury connection.Address
	window := duration.Flag(time.Duration(protocol.DefaultResponseWindow) * time.Second)
	decay, fee, rounds := protocol.DefaultDecayRateBps, protocol.DefaultProtocolFeeBps, protocol.DefaultMaxRounds
	cmd := &cobra.Command{
		Use: "init", Short: "Initialize the protocol (the program's upgrade authority)", Long: configInitHelp,
		Example: "  haggle config init --treasury ADDRESS --fee-bps 50 --keypair upgrade-authority.json",
		Args:    exactly(0),
	}
	flags := cmd.Flags()
	flags.Var(&treasury, "treasury", "wallet whose token accounts receive fees and decay (default: the keypair's)")
	flags.Uint16Var(&fee, "fee-bps", fee, "fee in basis points of what is paid, 0 to 500")
	flags.Uint16Var(&decay, "decay-bps", decay, "default decay per round, in basis points, 0 to 1000")
	flags.Var(&window, "window", "default time to answer, 60s to 1h")
	flags.Uint8Var(&rounds, "rounds", rounds, "default number of offers, 1 to 20")
	cmd.RunE = s.limited(func(ctx context.Context, _ []string) error {
		client, key, err := s.clientAndKey(ctx)
		if err != nil {
			return err
		}
		request := haggle.InitializeConfigRequest{
			Authority: key.PublicKey(), Treasury: treasury.Key(), DecayRateBps: &decay, ProtocolFeeBps: &fee,
			ResponseWindow: time.Duration(window), MaxRounds: rounds,
		}
		if request.Treasury.IsZero() {
			request.Treasury = key.PublicKey()
		}
		action, err := client.InitializeConfig(ctx, request)
		if err != nil {
			return err
		}
		receipt, err := s.act(ctx, client, action, key)
		if errors.Is(err, protocol.ErrAccountOwnedByWrongProgram) {
			return exitcode.WithHint(err, "it is initialized already: haggle config show; what can be changed is changed with: haggle admin update")
		}
		if err != nil {
			return err
		}
		v := struct {
			Action string `json:"action"`
			receiptView
		}{action.Name, viewReceipt(receipt)}
		return s.print(v, "initialized; the treasury is "+request.Treasury.String(), v.text())
	})
	return cmd
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
	// Pending is who may take the authority over; zero for nobody.
	Pending solana.PublicKey `json:"pending_authority"`

	Negotiations string `json:"total_negotiations"`
	Volume       string `json:"total_settled_volume"`
	Fees         string `json:"total_fees_collected"`
}

func newConfigShowCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "Show fee, treasury, defaults and totals",
		Long: `Shows the protocol's configuration. The totals count negotiations that have been closed; volume and fees
add up base units of all mints.`,
		Example: "  haggle config show --url devnet\n  haggle config show --json | jq .protocol_fee_bps",
		Args:    exactly(0),
	}
	cmd.RunE = s.limited(func(ctx context.Context, _ []string) error {
		client, err := s.client()
		if err != nil {
			return err
		}
		config, err := client.GetConfig(ctx)
		if err != nil {
			return notFound(err, "nobody has initialized the protocol here: haggle config init, or another --url")
		}
		v := configView{
			protocol.ProgramID, config.Address, config.Authority, config.Treasury, config.DefaultProtocolFeeBps, config.DefaultDecayRateBps,
			config.DefaultResponseWindow, config.DefaultMaxRounds, config.IsPaused, config.PendingAuthority,
			fmt.Sprint(config.TotalNegotiations), fmt.Sprint(config.TotalSettledVolume), fmt.Sprint(config.TotalFeesCollected),
		}
		return s.print(v, v.text())
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
		pending = v.Pending.String() + ", who has not accepted yet"
	}
	return columns(
		row{"program", v.Program.String()},
		row{"authority", v.Authority.String()},
		row{"successor", pending},
		row{"treasury", v.Treasury.String()},
		row{"fee", percent(v.ProtocolFeeBps) + " of what is paid"},
		row{"decay", percent(v.DecayRateBps) + " per round, unless a negotiation says otherwise"},
		row{"window", duration.Format(time.Duration(v.ResponseWindow) * time.Second)},
		row{"rounds", fmt.Sprint(v.MaxRounds)},
		row{"state", state},
		row{"closed", fmt.Sprintf("%s negotiations, %s base units paid, %s in fees", v.Negotiations, v.Volume, v.Fees)},
	)
}
