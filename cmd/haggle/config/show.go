package config

import (
	"context"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

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
	// Pending is the proposed authority; zero if there is none.
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
