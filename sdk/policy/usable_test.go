package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestPolicyThatSignsNothingIsReported(t *testing.T) {
	usable := func() *Config {
		return &Config{
			Lamports: Limits{PerTransaction: 1_000_000, PerDay: 1_000_000},
			Tokens:   map[solana.PublicKey]TokenLimits{},
		}
	}
	require.NoError(t, usable().CheckUsable())
	for name, c := range map[string]struct {
		change func(*Config)
		text   string
	}{
		"no limits": {func(c *Config) { *c = Config{} }, "money limits not set: lamports, tokens"},
		"fee": {func(c *Config) { c.Lamports.PerTransaction = 4_999 },
			"lamports.perTransaction: below the fee"},
		"fee of a day": {func(c *Config) { c.Lamports.PerDay = 0 }, "lamports.perDay: below the fee"},
		"compute budget": {func(c *Config) { c.Instructions = []string{"haggle.submit_offer"} },
			"compute_budget is missing"},
		"no instruction": {func(c *Config) { c.Instructions = []string{ComputeBudget} },
			"no instruction of the program"},
		"program": {func(c *Config) { c.Programs = []solana.PublicKey{solana.ComputeBudget} },
			protocol.ProgramAddress + " is missing"},
		"compute program": {func(c *Config) { c.Programs = []solana.PublicKey{protocol.ProgramID} },
			solana.ComputeBudget.String() + " is missing"},
		"stopped": {func(c *Config) {
			c.StopFile = filepath.Join(t.TempDir(), "stop")
			require.NoError(t, os.WriteFile(c.StopFile, nil, 0o600))
		}, "stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			config := usable()
			c.change(config)
			require.ErrorContains(t, config.CheckUsable(), c.text)
		})
	}
}
