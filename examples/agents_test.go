package examples

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// agents holds the built examples, and a chain with wallet files.
type agents struct {
	t   *testing.T
	net *localnet.Net
	// folder contains the binaries, wallets the key files.
	folder, wallets string
}

func newAgents(t *testing.T) *agents {
	t.Helper()
	folder := t.TempDir()
	a := &agents{t: t, folder: folder, wallets: folder}
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", a.folder+"/", "./...").CombinedOutput()
	require.NoError(t, err, string(output))
	a.start()
	return a
}

// start starts the chain and writes the wallets.
func (a *agents) start() {
	a.t.Helper()
	net, err := localnet.Start(a.t.Context(), localnet.Options{})
	require.NoError(a.t, err)
	a.net = net
	a.t.Cleanup(func() { require.NoError(a.t, net.Close()) })
	require.NoError(a.t, net.Buyer.Save(filepath.Join(a.wallets, "buyer.json")))
	require.NoError(a.t, net.Seller.Save(filepath.Join(a.wallets, "seller.json")))
}

// command returns an example that runs in the folder of the key files, on the chain.
func (a *agents) command(example string, arguments ...string) *exec.Cmd {
	arguments = append([]string{
		"--rpc", a.net.Chain.RPCURL(), "--ws", a.net.Chain.WSURL(), "--mint", a.net.Mint.String(),
	}, arguments...)
	command := exec.CommandContext(a.t.Context(), filepath.Join(a.folder, example), arguments...)
	command.Dir, command.Env = a.folder, append(os.Environ(), localnet.EnvRPCURL+"=")
	return command
}

// deposits returns the number of negotiations ever created, open or closed, all with a deposit.
func (a *agents) deposits() uint64 {
	a.t.Helper()
	config, err := a.net.Client.GetConfig(a.t.Context())
	require.NoError(a.t, err)
	deposits := config.TotalNegotiations
	for _, err := range a.net.Client.FindNegotiations(a.t.Context(), haggle.Filter{}) {
		require.NoError(a.t, err)
		deposits++
	}
	return deposits
}

// killAfterDeposit starts a buyer, and kills it as soon as the negotiation exists.
func (a *agents) killAfterDeposit(buyer *exec.Cmd) {
	a.t.Helper()
	before := a.deposits()
	var output strings.Builder
	buyer.Stdout, buyer.Stderr = &output, &output
	require.NoError(a.t, buyer.Start())
	require.Eventually(a.t, func() bool { return a.deposits() > before }, time.Minute, 50*time.Millisecond, &output)
	require.NoError(a.t, buyer.Process.Kill())
	_ = buyer.Wait() // it was killed
}

// settle runs both agents to completion. Their outputs must contain the texts.
func settle(t *testing.T, seller, buyer *exec.Cmd, sold, bought []string) {
	t.Helper()
	var both sync.WaitGroup
	for _, agent := range []struct {
		command *exec.Cmd
		texts   []string
	}{{seller, sold}, {buyer, bought}} {
		both.Go(func() {
			output, err := agent.command.CombinedOutput()
			assert.NoError(t, err, string(output))
			for _, text := range agent.texts {
				assert.Contains(t, string(output), text)
			}
		})
	}
	both.Wait()
}

// thinking is how long the model takes for the opening turn.
const thinking = 20 * time.Second

// slowly returns a model's response. It accepts if it may, and otherwise concedes as far as it may.
func slowly(request llmtest.Request) string {
	var facts llm.Facts
	if json.Unmarshal([]byte(request.Input), &facts) != nil || len(facts.Moves) == 0 {
		return `{"reason":"a fair price is possible","answer":"accept"}`
	}
	if facts.Round == 1 {
		time.Sleep(thinking)
	}
	if slices.Contains(facts.Moves, "accept") {
		return `{"reason":"enough","move":"accept","candidate":0,"price":""}`
	}
	return fmt.Sprintf(`{"reason":"quickly","move":"offer","candidate":0,"price":%q}`, facts.Band.LowestPrice)
}

func TestAgentsSettle(t *testing.T) {
	a := newAgents(t)
	seller := a.net.Seller.PublicKey().String()
	buyer := func(example string, arguments ...string) *exec.Cmd {
		return a.command(example, append(arguments, "--seller", seller)...)
	}
	t.Run("buyer and seller", func(t *testing.T) {
		before := a.deposits()
		defer func() { require.Equal(t, before+1, a.deposits(), "a killed buyer deposits once") }()
		a.killAfterDeposit(buyer("buyer"))
		settle(t, a.command("seller"), buyer("buyer"),
			[]string{seller + " waits for an invitation", "Settled: price 3500000, fee 17500, after 7 offers"},
			[]string{"Settled: price 3500000 after 7 offers"})
	})
	t.Run("policy", func(t *testing.T) {
		before := a.deposits()
		settle(t, a.command("seller", "--state", "second.db"), buyer("policy", "--order", "3"),
			[]string{"Settled: price 3340628"}, // 4 less the decay of seven offers
			[]string{"not signed: limit per transaction: 10000000 requested, limit 5000000", "Settled: price 3340628"})
		again, err := buyer("policy", "--order", "3").CombinedOutput()
		require.NoError(t, err, string(again))
		require.Contains(t, string(again), "order 3: an earlier run has made the deposit")
		require.Equal(t, before+1, a.deposits())
	})
	t.Run("language-model", func(t *testing.T) {
		model, err := llmtest.Start(llmtest.Config{Script: slowly})
		require.NoError(t, err)
		defer model.Close()
		adviser := a.command("language-model", "--model", "test", "--url", model.URL())
		adviser.Env = append(adviser.Environ(), "OPENAI_API_KEY="+model.Key())
		begun := time.Now()
		settle(t, adviser, buyer("buyer", "--order", "2"), []string{"round 1: offer \n", "Settled: price 3"},
			[]string{"Settled: price 3"})
		require.Greater(t, time.Since(begun), thinking)
		require.Greater(t, model.Totals().Requests, 2, "an invitation and several turns")
	})
	t.Run("milestones", func(t *testing.T) {
		arbiter, err := wallet.NewKeypair(solana.NewWallet().PrivateKey)
		require.NoError(t, err)
		output, err := a.command("milestones", "--order", "4", "--arbiter", arbiter.PublicKey().String()).CombinedOutput()
		require.NoError(t, err, string(output))
		for _, text := range []string{
			"Seller: claim_milestone", "Buyer: release_milestone",
			"Seller: Settled, price 3000000, fee 15000", "Buyer: Settled, price 3000000, fee 15000",
		} {
			require.Contains(t, string(output), text)
		}
	})
}
