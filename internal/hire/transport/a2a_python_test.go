package transport_test

import (
	"context"
	"crypto/ed25519"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/hire"
	hireparty "github.com/haggle-protocol/haggle/sdk/hire/party"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// bargain runs the home's own worker, which sells logos for at least a price in USDC, until the test ends.
func (h *home) bargain(t *testing.T, least uint64) {
	t.Helper()
	pins, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	require.NoError(t, err)
	client := &hire.Client{Local: true}
	player := hireparty.Player{Strategy: strategy.Linear(), Opening: 2 * least, Reservation: least}
	worker, err := hireparty.NewWorker(hireparty.Worker{
		Config: hireparty.Config{
			Home:     &hire.Home{Origin: h.worker.ID, Agent: h.worker.ID, Key: h.worker.Key, Client: client},
			Resolver: &hire.Resolver{Client: client, Pins: pins.HirePins()},
			Assets:   []hire.Asset{{Symbol: "USDC", Mint: hiretest.Arbiter, Decimals: 6}},
			Limits: hireparty.Limits{
				Prices:   map[string]hireparty.PriceLimits{"USDC": {Least: least}},
				Arbiters: []hire.Base58{hiretest.Arbiter}, Shortest: time.Hour, Longest: 7 * 24 * time.Hour,
			},
		},
		Quote: player.Decide, Skills: []string{"logo"},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		require.NoError(t, pins.Close())
	})
}

// python runs the example seeker and returns the output.
func python(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var progress strings.Builder
	install := exec.CommandContext(t.Context(), "../../../toolchain/example-packages", "python-a2a")
	install.Stderr = io.MultiWriter(&progress, os.Stderr)
	packages, err := install.Output()
	require.NoError(t, err, progress.String())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "python3", append([]string{"../../../examples/python-a2a/hire_seeker.py"}, arguments...)...)
	command.Env = append(os.Environ(), "PYTHONPATH="+strings.TrimSpace(string(packages)), "PYTHONDONTWRITEBYTECODE=1")
	output, err := command.CombinedOutput()
	return string(output), err
}

// The A2A Python SDK and a worker in Go agree, each signing independently.
func TestSeekerInPythonHiresAWorkerOverA2A(t *testing.T) {
	h := newHome(t, options{})
	h.bargain(t, 3e6)
	key, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "seeker.json")
	require.NoError(t, key.Save(file))
	ask := func(most string) (string, error) {
		return python(t, h.worker.ID, "--key", file, "--task", "a logo", "--opening", "2 USDC", "--most", most,
			"--arbiter", hiretest.Arbiter)
	}
	output, err := ask("5 USDC")
	require.NoError(t, err, output)
	require.Contains(t, output, "worker: counter")
	require.Contains(t, output, "agreed: ")

	page, err := h.Service.Conversations(t.Context(), selection(h.worker.ID))
	require.NoError(t, err)
	require.Len(t, page.States, 1)
	state := page.States[0]
	require.Equal(t, hire.Address(ed25519.PublicKey(key.PublicKey().Bytes())), state.Seeker)
	require.Equal(t, hire.PhaseContracted, state.Phase)
	require.NotEmpty(t, state.WorkerAccept)
	require.Contains(t, output, `"price":"`+string(state.Terms.Price)+`"`)

	output, err = ask("2.5 USDC")
	require.Error(t, err)
	require.Contains(t, output, "no agreement: ")
}
