// Package examples tests the examples with the commands that their comments state.
package examples

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// run runs an example and returns the output. The output must contain the texts.
func run(t *testing.T, example string, texts []string, arguments ...string) string {
	t.Helper()
	arguments = append([]string{"run", "./" + example}, arguments...)
	output, err := exec.CommandContext(t.Context(), "go", arguments...).CombinedOutput()
	require.NoError(t, err, string(output))
	for _, text := range texts {
		assert.Contains(t, string(output), text)
	}
	return string(output)
}

func TestExamplesRun(t *testing.T) {
	for example, texts := range map[string][]string{
		"create-and-settle": {
			"settled at 3000000: fee 15000, decay 221642", "seller   has   2985000 base units",
		},
		"strategy": {
			"simulation: halfway:part=0.3 and negmas-boulware:e=6: agreement at price=196", "tournament: halfway:part=0.7: ",
			"chain: round 2: halfway:part=0.3: offer 2749850 (part of the way to the other side's offer: concedes)",
			"chain: Settled at 3246473 after 9 offers",
		},
		"watch": {"NegotiationCreated", "round 1, ", "round 2, ", "rejects, refund 4802000"},
		"list":  {"1000000 of 1000000", "2000000 of 2000000", "3000000 of 3000000", "round 0 of"},
	} {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			run(t, example, texts)
		})
	}
}

// TestExamplesOnARunningChain runs the examples with an RPC URL and key files.
func TestExamplesOnARunningChain(t *testing.T) {
	net, err := localnet.Start(t.Context(), localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	save := func(name string, keypair *wallet.Keypair) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, keypair.Save(path))
		return path
	}
	rpc := []string{"--rpc", net.Chain.RPCURL()}
	run(t, "create-and-settle", []string{"settled at 3000000", "seller   has   2985000 base units"},
		append(rpc, "--ws", net.Chain.WSURL(), "--mint", net.Mint.String(),
			"--buyer", save("buyer.json", net.Buyer), "--seller", save("seller.json", net.Seller))...)

	created, err := net.Client.CreateNegotiation(haggle.CreateRequest{
		Buyer:        net.Buyer.PublicKey(),
		Seller:       net.Seller.PublicKey(),
		Mint:         net.Mint,
		Decimals:     localnet.Decimals,
		EscrowAmount: 700_000,
		Key:          "order 2",
	}).Build(t.Context())
	require.NoError(t, err)
	_, err = created.Do(t.Context(), net.Buyer)
	require.NoError(t, err)
	listed := run(t, "list", []string{"700000 of 700000", "invited"},
		append(rpc, net.Seller.PublicKey().String())...)
	require.Contains(t, listed, created.Negotiation.String())
}
