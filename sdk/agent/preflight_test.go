package agent_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// scriptedMint is the mint of the agents with scripted nodes.
var scriptedMint = solana.PublicKey{31: 9}

// scriptedLimits returns limits that allow to sell and buy in it.
func scriptedLimits() map[solana.PublicKey]agent.Limits {
	return map[solana.PublicKey]agent.Limits{scriptedMint: {Decimals: 6, MinPrice: 1, MaxTotal: 5_000_000, SingleSourceUpTo: 5_000_000}}
}

// scriptedAccount returns the chain's clock, or an account that Run checks before starting, as JSON. It is
// empty for any other address.
func scriptedAccount(address string, wallet solana.PublicKey, now int64) string {
	config, _, _ := protocol.FindConfigAddress()
	switch address {
	case solana.SysVarClockPubkey.String():
		return agent.ClockJSON(now)
	case protocol.ProgramAddress:
		return strings.Replace(agent.AccountJSON(solana.BPFLoaderUpgradeableProgramID, nil), "false", "true", 1)
	case config.String():
		return agent.AccountJSON(protocol.ProgramID, (&protocol.ProtocolConfig{}).AppendTo(nil))
	case scriptedMint.String():
		mint := make([]byte, 82)
		mint[44], mint[45] = 6, 1
		return agent.AccountJSON(solana.TokenProgramID, mint)
	case wallet.String():
		return agent.AccountJSON(solana.SystemProgramID, nil)
	}
	return ""
}

// runFor runs a runtime for a limited time, and returns the error.
func runFor(
	t *testing.T, limit time.Duration, client *haggle.Client, me haggle.Signer, config agent.Config,
) error {
	t.Helper()
	runtime, err := agent.New(client, me, config)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errors.New("the agent is running"))
	defer cancel()
	return runtime.Run(ctx)
}

func requireStartError(t *testing.T, err error, check, text string) {
	t.Helper()
	var failed *agent.StartError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, check, failed.Check)
	require.ErrorContains(t, err, text)
}

func TestRunReturnsAnErrorAgainstADeadEndpointAndLogsIt(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	client, err := haggle.NewClient(haggle.Config{Endpoint: dead.URL})
	require.NoError(t, err)
	defer client.Close()
	me, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	runtime, err := agent.New(client, me, agent.Config{Decide: wait, Mints: scriptedLimits()})
	require.NoError(t, err)
	runtime.SetPreflightTimeout(2 * time.Second)
	requireStartError(t, runtime.Run(t.Context()), "node", "check Endpoint")
	require.Contains(t, log.String(), "no node answers", "slog.Default() without a Logger")
	require.Contains(t, log.String(), "agent not started")
}

func TestRunReturnsAnErrorIfItsClusterOrWalletCannotWork(t *testing.T) {
	f := newFixture(t)
	limit := 20 * time.Second
	buyer := func() agent.Config {
		return agent.Config{Decide: wait, Mints: map[solana.PublicKey]agent.Limits{f.Mint: {Decimals: 6, MaxTotal: 1}}}
	}
	poor, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	requireStartError(t, runFor(t, limit, f.Client, poor, buyer()), "lamports", "fund it with SOL")

	require.NoError(t, f.Chain.Fund(f.ctx, poor.PublicKey(), solana.LAMPORTS_PER_SOL))
	requireStartError(t, runFor(t, limit, f.Client, poor, buyer()), "tokens", "has no tokens")
	seller := buyer()
	seller.Mints = map[solana.PublicKey]agent.Limits{f.Mint: {Decimals: 6, MinPrice: 1, SingleSourceUpTo: 1}}
	err = runFor(t, 2*time.Second, f.Client, poor, seller)
	require.ErrorContains(t, err, "the agent is running", "a seller needs no tokens")

	elsewhere := buyer()
	elsewhere.Mints = map[solana.PublicKey]agent.Limits{solana.PublicKey{1}: {MaxTotal: 1}}
	requireStartError(t, runFor(t, limit, f.Client, f.Buyer, elsewhere), "mint", "account not found")

	otherDecimals := buyer()
	otherDecimals.Mints = map[solana.PublicKey]agent.Limits{f.Mint: {Decimals: 8, MaxTotal: 1}}
	requireStartError(t, runFor(t, limit, f.Client, f.Buyer, otherDecimals), "mint",
		"the node states 6, Config.Mints states 8")

	// The whole balance is in escrow. The buyer starts because a negotiation exists.
	f.invite(func(r *haggle.CreateRequest) { r.EscrowAmount = 100_000_000 })
	require.ErrorContains(t, runFor(t, 2*time.Second, f.Client, f.Buyer, buyer()), "the agent is running")
}

// A node can return anything as a list of token accounts.
func TestBuyerWithoutTokensDoesNotStart(t *testing.T) {
	me, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	held := func(size int, units uint64) string {
		data := make([]byte, size)
		if size > 0 {
			binary.LittleEndian.PutUint64(data[64:], units)
		}
		account := agent.AccountJSON(solana.TokenProgramID, data)
		return fmt.Sprintf(`{"pubkey":%q,"account":%s}`, solana.PublicKey{4}, account)
	}
	const classic, extended = 165, 170
	for name, c := range map[string]struct{ list, check, text string }{
		"tokens":                {held(classic, 1), "", "the agent is running"},
		"tokens and extensions": {held(classic, 0) + "," + held(extended, 1), "", "the agent is running"},
		"no tokens":             {held(classic, 0) + "," + held(extended, 0), "tokens", "has no tokens"},
		"no account":            {"", "tokens", "has no tokens"},
		"a short account":       {held(0, 0) + "," + held(classic-1, 1), "tokens", "has no tokens"},
		"missing data": {
			`null,{"pubkey":"` + protocol.ProgramAddress + `","account":{}}`, "tokens", "has no tokens",
		},
		"no list": {"no list", "node", "check Endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			node := agent.ServeRPC(t, func(_ context.Context, method string, params []json.RawMessage) string {
				switch {
				case method == "getMultipleAccounts":
					return agent.AccountsJSON(params, func(address string) string {
						return scriptedAccount(address, me.PublicKey(), idleNow)
					})
				case method == "getTokenAccountsByOwner" && c.list == "no list":
					return "null"
				case method == "getTokenAccountsByOwner":
					return `{"context":{"slot":1},"value":[` + c.list + `]}`
				case method == "getProgramAccounts":
					return `{"context":{"slot":1},"value":[]}`
				}
				return "[]"
			})
			client, err := haggle.NewClient(haggle.Config{Endpoint: node})
			require.NoError(t, err)
			defer client.Close()
			runtime, err := agent.New(client, me, agent.Config{
				Decide: wait, Mints: map[solana.PublicKey]agent.Limits{scriptedMint: {Decimals: 6, MaxTotal: 1}},
			})
			require.NoError(t, err)
			runtime.SetPreflightTimeout(time.Second)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, errors.New("the agent is running"))
			defer cancel()
			err = runtime.Run(ctx)
			require.ErrorContains(t, err, c.text)
			if c.check != "" {
				requireStartError(t, err, c.check, c.text)
			}
		})
	}
}

func TestRunReturnsAnErrorOnAClusterWithoutTheProgram(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), scenarioTimeout)
	defer cancel()
	// The SDK expects a different program address.
	chain, err := localnet.StartChain(ctx, localnet.Options{ProgramID: solana.PublicKey{5}})
	require.NoError(t, err)
	defer chain.Close()
	client, err := haggle.NewClient(chain.ClientConfig())
	require.NoError(t, err)
	defer client.Close()
	me, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	err = runFor(t, 20*time.Second, client, me, agent.Config{Decide: wait, Mints: scriptedLimits()})
	requireStartError(t, err, "program", "is not deployed on this cluster")
}

func TestConfigurationWithoutLimitsOnMoneyIsRefused(t *testing.T) {
	client, err := haggle.NewClient(haggle.Config{Endpoint: "http://localhost"})
	require.NoError(t, err)
	defer client.Close()
	me, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	limits := func(l agent.Limits) map[solana.PublicKey]agent.Limits {
		return map[solana.PublicKey]agent.Limits{scriptedMint: l}
	}
	delivers := func(context.Context, agent.Turn) (agent.MilestoneMove, error) { return agent.Wait{}, nil }
	for text, config := range map[string]agent.Config{
		"Decide not set":           {Mints: scriptedLimits()},
		"Mints not set":            {Decide: wait},
		"no limits for mint":       {Decide: wait, Mints: limits(agent.Limits{})},
		"MaxBond without MinPrice": {Decide: wait, Mints: limits(agent.Limits{MaxTotal: 1, MaxBond: 1})},
		"only one node confirms it; configure nodes of several operators with Endpoint, or set SingleSourceUpTo": {
			Decide: wait, Mints: limits(agent.Limits{MinPrice: 2, SingleSourceUpTo: 1}),
		},
		"Arbiters not set":              {Decide: wait, Mints: scriptedLimits(), OnMilestone: delivers},
		"MaxFeeBps must be at most 500": {Decide: wait, Mints: scriptedLimits(), MaxFeeBps: new(uint16(501))},
		"MaxDecayBps must be at most 1000": {
			Decide: wait, Mints: scriptedLimits(), MaxDecayBps: new(uint16(1001)),
		},
		"MaxRounds must be at most 20": {Decide: wait, Mints: scriptedLimits(), MaxRounds: 21},
		"MinResponseWindow and twice Margin must be at most 1h": {
			Decide: wait, Mints: scriptedLimits(), Margin: 31 * time.Minute,
		},
		"MinResponseWindow must be at least twice Margin": {
			Decide: wait, Mints: scriptedLimits(), Margin: time.Minute, MinResponseWindow: 119 * time.Second,
		},
	} {
		_, err := agent.New(client, me, config)
		require.ErrorContains(t, err, text)
	}
}
