package policy_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
)

func TestTotalsOfRecords(t *testing.T) {
	s := newStage(t)
	require.NoError(t, s.sign(s.create(friend, 1, 4_000_000)))
	require.NoError(t, s.sign(s.create(friend, 2, 1_000_000)))

	records, _ := s.records()
	totals, err := policy.TotalsOf(records, s.now)
	require.NoError(t, err)
	require.Equal(t, s.wallet(), totals.Wallet)
	require.Equal(t, 2, totals.Open)
	require.Equal(t, s.now.UTC().Truncate(24*time.Hour), totals.Day)
	require.Contains(t, totals.Today, policy.Total{Mint: mint, Amount: 5_000_000})
	require.Contains(t, totals.Today, policy.Total{Amount: s.policy.Used(solana.PublicKey{})})
	require.Contains(t, totals.Negotiations, policy.Total{Account: s.negotiation(s.wallet(), friend, 1), Mint: mint, Amount: 4_000_000})
	require.Contains(t, totals.Negotiations, policy.Total{Account: s.negotiation(s.wallet(), friend, 2), Mint: mint, Amount: 1_000_000})
	require.Contains(t, totals.Counterparties, policy.Total{Account: friend, Mint: mint, Amount: 5_000_000})

	// The next day begins at zero; the amount spent on a negotiation stays.
	totals, err = policy.TotalsOf(records, s.now.Add(24*time.Hour))
	require.NoError(t, err)
	require.Empty(t, totals.Today)
	require.NotEmpty(t, totals.Negotiations)
	totals, err = policy.TotalsOf(records, s.now.Add(-48*time.Hour))
	require.NoError(t, err)
	require.NotEmpty(t, totals.Today, "a clock that is set back does not bring a day back")
}

func TestTotalsOfNothing(t *testing.T) {
	totals, err := policy.TotalsOf(nil, time.Now())
	require.NoError(t, err)
	require.Zero(t, totals.Open)
	require.Empty(t, totals.Today)
	_, err = policy.TotalsOf([]policy.Record{{Kind: policy.RecordSigned}}, time.Now())
	require.ErrorContains(t, err, "but not counted")
}

// A relative stop file path is resolved against the policy's directory, wherever the process runs.
func TestStopFileBesideThePolicy(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "policy.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"lamports": {"perTransaction": 1, "perNegotiation": 1, "perCounterparty": 1, "perDay": 1}, "tokens": {}, "stopFile": "stop"}`), 0o600))
	config, err := policy.ReadConfig(path)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(folder, "stop"), config.StopFile)
	require.NoError(t, config.Stopped())
	require.NoError(t, os.WriteFile(config.StopFile, nil, 0o600))
	require.ErrorIs(t, config.Stopped(), policy.ErrDenied)
}
