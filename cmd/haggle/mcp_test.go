package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	chaintools "github.com/haggle-protocol/haggle/internal/cli/mcp"
	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// mcpAgent is an agent that uses a wallet through "haggle mcp".
type mcpAgent struct {
	t       *testing.T
	session *mcp.ClientSession
	// progress receives the progress notifications.
	progress chan *mcp.ProgressNotificationParams
}

// startMCPAgent starts "haggle mcp" with a policy that allows 5 tokens in a transaction, and connects to it.
func startMCPAgent(
	t *testing.T, net *localnet.Net, key *wallet.Keypair, rpcURL string, flags ...string,
) mcpAgent {
	t.Helper()
	return startMCPAgentWithin(t, net, key, rpcURL, "", "", flags...)
}

// startMCPAgentWithin starts an agent whose policy has further mints and further members.
func startMCPAgentWithin(
	t *testing.T, net *localnet.Net, key *wallet.Keypair, rpcURL, mints, members string, flags ...string,
) mcpAgent {
	t.Helper()
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	require.NoError(t, key.Save(path("wallet.json")))
	config := solanaconfig.Config{URL: rpcURL, WebSocketURL: net.Chain.WSURL(), KeypairPath: path("wallet.json")}
	require.NoError(t, config.Write(path("config.yml")))
	limits := fmt.Sprintf(`{
		"lamports": {"perTransaction": 10000000, "perNegotiation": 10000000, "perCounterparty": "unlimited",
			"perDay": 100000000, "approveAbove": "unlimited"},
		"tokens": {%q: {"perTransaction": 5000000, "perNegotiation": 5000000, "perCounterparty": "unlimited",
			"perDay": 20000000, "approveAbove": "unlimited", "maxTotal": 3500000, "minPrice": 3000000}%s}%s}`,
		net.Mint, mints, members)
	require.NoError(t, os.WriteFile(path("policy.json"), []byte(limits), 0o600))
	command := exec.Command("haggle", append([]string{"mcp", "-C", path("config.yml"),
		"--policy", path("policy.json"), "--state", path("state.db")}, flags...)...)
	command.Stderr = t.Output()
	progress := make(chan *mcp.ProgressNotificationParams, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
			progress <- request.Params
		},
	})
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	return mcpAgent{t, session, progress}
}

// call calls a tool and requires structured content: an answer.
func (a mcpAgent) call(tool string, arguments map[string]any) chaintools.Answer {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	result, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(a.t, err)
	return a.answer(tool, result)
}

// answer decodes the structured content in a tool result.
func (a mcpAgent) answer(tool string, result *mcp.CallToolResult) chaintools.Answer {
	a.t.Helper()
	require.NotNil(a.t, result.StructuredContent, "%s: %v", tool, result.Content[0])
	content, err := json.Marshal(result.StructuredContent)
	require.NoError(a.t, err)
	var answer chaintools.Answer
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	require.NoError(a.t, decoder.Decode(&answer), string(content))
	require.Equal(a.t, answer.Error != nil, result.IsError, string(content))
	require.NotEmpty(a.t, answer.Next, "every answer names the next step: %s", content)
	return answer
}

// confirmed calls a tool and requires a confirmed transaction.
func (a mcpAgent) confirmed(tool string, arguments map[string]any) chaintools.Answer {
	a.t.Helper()
	answer := a.call(tool, arguments)
	require.Equal(a.t, chaintools.Confirmed, answer.Outcome, "%+v %+v", answer, answer.Error)
	require.NotEmpty(a.t, answer.Signature)
	return answer
}

// refused calls a tool and requires an error with this name.
func (a mcpAgent) refused(name, tool string, arguments map[string]any) chaintools.Answer {
	a.t.Helper()
	answer := a.call(tool, arguments)
	require.Equal(a.t, chaintools.Failed, answer.Outcome)
	require.Equal(a.t, name, answer.Error.Name, answer.Error.Message)
	require.Empty(a.t, answer.Signature)
	return answer
}

func with(arguments map[string]any, name string, value any) map[string]any {
	changed := map[string]any{name: value}
	for key, kept := range arguments {
		if key != name {
			changed[key] = kept
		}
	}
	return changed
}

func startNet(t *testing.T) *localnet.Net {
	t.Helper()
	t.Setenv(localnet.EnvRPCURL, "")
	net, err := localnet.Start(t.Context(), localnet.Options{Progress: func(line string) { t.Log(line) }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	return net
}

// Two agents settle a negotiation, each through a server with a separate wallet and policy. Refusals on the
// way name the reason, and a repeated call sends nothing.
func TestTwoAgentsSettleThroughMCP(t *testing.T) {
	net := startNet(t)
	buyer := startMCPAgent(t, net, net.Buyer, net.Chain.RPCURL())
	seller := startMCPAgent(t, net, net.Seller, net.Chain.RPCURL())

	const service = "Summarise a paper"
	creation := map[string]any{"seller": net.Seller.PublicKey().String(), "mint": net.Mint.String(),
		"escrow":  "5",
		"service": service, "idempotency_key": "order-17"}
	tried := buyer.call("haggle_create", with(creation, "dry_run", true))
	require.Equal(t, chaintools.DryRan, tried.Outcome)
	require.NotEmpty(t, tried.Effects.Changes)
	require.Empty(t, buyer.call("haggle_status", nil).List, "a dry run creates nothing")

	denied := buyer.refused("PolicyDenied", "haggle_create", with(creation, "escrow", "5.000001"))
	require.Equal(t, "limit per transaction", denied.Error.Rule)
	require.Equal(t, "5000000", denied.Error.Limit)
	require.Equal(t, "5000001", denied.Error.Requested)
	require.Contains(t, denied.Error.Message,
		"5.000001 tokens requested, 0.000000 tokens used, limit 5.000000 tokens")
	require.Contains(t, denied.Next, "report the rule and the limit to the owner")

	beyond := with(creation, "escrow", "5.000001")
	tried = buyer.refused("PolicyDenied", "haggle_create", with(beyond, "dry_run", true))
	require.Equal(t, "limit per transaction", tried.Error.Rule, "a dry run checks the policy")

	created := buyer.confirmed("haggle_create", creation)
	repeated := buyer.call("haggle_create", creation)
	require.Equal(t, chaintools.DoneAlready, repeated.Outcome)
	require.Nil(t, repeated.Costs, "the terms can be those of another call")
	buyer.refused("Usage", "haggle_create", with(creation, "escrow", "4"))
	require.Len(t, buyer.call("haggle_status", nil).List, 1, "the key has created one negotiation")
	at := func(arguments map[string]any) map[string]any {
		return with(arguments, "negotiation", created.Negotiation)
	}

	found := seller.call("haggle_status", nil).List
	require.Len(t, found, 1)
	require.Equal(t, created.Negotiation, found[0].Negotiation)
	require.True(t, found[0].YourTurn)
	buyer.refused("NotAsExpected", "haggle_offer", at(map[string]any{"amount": "2", "round": 1}))
	accept := at(map[string]any{"what": "invitation", "service": service})
	seller.refused("NotAsExpected", "haggle_accept", with(accept, "service", "Write a novel"))
	require.Equal(t, chaintools.DryRan, seller.call("haggle_accept", with(accept, "dry_run", true)).Outcome)
	seller.confirmed("haggle_accept", accept)
	require.Equal(t, chaintools.DoneAlready, seller.call("haggle_accept", accept).Outcome)

	first := at(map[string]any{"amount": "2", "round": 1})
	require.Equal(t, chaintools.DryRan, buyer.call("haggle_offer", with(first, "dry_run", true)).Outcome)
	buyer.confirmed("haggle_offer", first)
	require.Equal(t, chaintools.DoneAlready, buyer.call("haggle_offer", first).Outcome)
	early := buyer.refused("NotYourTurn", "haggle_offer", at(map[string]any{"amount": "2.5", "round": 2}))
	require.Contains(t, early.Next, "haggle_status with wait_seconds")

	require.True(t, seller.call("haggle_status", at(map[string]any{"wait_seconds": 20})).State.YourTurn)
	seller.refused("PolicyDenied", "haggle_accept",
		at(map[string]any{"what": "offer", "price": "2", "round": 1}))
	seller.confirmed("haggle_offer", at(map[string]any{"amount": "4", "round": 2, "idempotency_key": "second"}))
	seller.refused("Usage", "haggle_offer",
		at(map[string]any{"amount": "3.9", "round": 2, "idempotency_key": "second"}))

	buyer.refused("PolicyDenied", "haggle_accept", at(map[string]any{"what": "offer", "price": "4", "round": 2}))
	buyer.confirmed("haggle_offer", at(map[string]any{"amount": "3.2", "round": 3}))
	deal := at(map[string]any{"what": "offer", "price": "3.2", "round": 3})
	other := seller.refused("NotAsExpected", "haggle_accept", with(deal, "price", "3.3"))
	require.Contains(t, other.Error.Message,
		"the current offer is 3.200000 tokens in round 3, not 3.300000 tokens in round 3")
	seller.refused("NotAsExpected", "haggle_accept", with(deal, "round", 1))
	seller.refused("Usage", "haggle_accept", with(deal, "service", service))
	require.Equal(t, chaintools.DryRan, seller.call("haggle_accept", with(deal, "dry_run", true)).Outcome)
	settled := seller.confirmed("haggle_accept", deal)
	require.Equal(t, "settled", settled.State.Status)
	require.Equal(t, "3200000", settled.State.Settled.BaseUnits)
	require.Equal(t, chaintools.DoneAlready, seller.call("haggle_accept", deal).Outcome)
	read := buyer.call("haggle_status", at(map[string]any{"wait_seconds": 20})).State
	require.Equal(t, "settled", read.Status)
	require.Empty(t, read.History.UnknownRounds)
	require.Len(t, read.History.Offers, 3)
	for i, made := range []struct{ by, price, decay, rest string }{
		{"buyer", "2000000", "100000", "4900000"}, {"seller", "4000000", "98000", "4802000"},
		{"buyer", "3200000", "96040", "4705960"},
	} {
		past := read.History.Offers[i]
		require.EqualValues(t, i+1, past.Round)
		require.Equal(t, made.by, past.By)
		require.Equal(t, []string{made.price, made.decay, made.rest},
			[]string{past.Amount.BaseUnits, past.Decay.BaseUnits, past.EffectiveEscrow.BaseUnits})
		require.Positive(t, past.Time)
	}
	buyer.refused("NotAsExpected", "haggle_offer", at(map[string]any{"amount": "3", "round": 4}))
}

// A creation and the preceding dry run state what the negotiation costs.
func TestCostsOfACreationThroughMCP(t *testing.T) {
	net := startNet(t)
	buyer := startMCPAgent(t, net, net.Buyer, net.Chain.RPCURL())
	creation := map[string]any{"seller": net.Seller.PublicKey().String(), "mint": net.Mint.String(), "escrow": "5",
		"service": "it", "idempotency_key": "a"}
	tried := buyer.call("haggle_create", with(creation, "dry_run", true))
	require.Equal(t, chaintools.DryRan, tried.Outcome)
	require.Len(t, tried.Costs.Deals, 3)
	middle := tried.Costs.Deals[1]
	require.EqualValues(t, 5, middle.Offers)
	require.Equal(t, "2.500000", middle.Price.Tokens)
	require.Equal(t, "480396", middle.Decay.BaseUnits)
	require.Equal(t, "2980396", middle.Total.BaseUnits)
	require.Equal(t, "914636", tried.Costs.NoDeal.BaseUnits)
	require.Contains(t, tried.Costs.Warning, "with 10 offers the seller makes the last one")
	require.Contains(t, tried.Costs.Warning, "use rounds 9")
	require.Equal(t, tried.Costs, buyer.confirmed("haggle_create", creation).Costs)
	creation = with(creation, "idempotency_key", "b")
	odd := buyer.call("haggle_create", with(with(creation, "rounds", 3), "dry_run", true))
	require.Empty(t, odd.Costs.Warning)
	for _, escrow := range []string{"99999999999999999999999", "18446744073709551616u", "1e9", "-1", "0.0000001"} {
		buyer.refused("Usage", "haggle_create", with(creation, "escrow", escrow))
	}
	huge := buyer.refused("InsufficientFunds", "haggle_create", with(creation, "escrow", "18446744073709551615u"))
	require.Contains(t, huge.Error.Message, "18446744073709.551615 tokens are needed")
}

// An agent ends a negotiation, once.
func TestRejectionThroughMCP(t *testing.T) {
	net := startNet(t)
	buyer := startMCPAgent(t, net, net.Buyer, net.Chain.RPCURL())
	created := buyer.confirmed("haggle_create", map[string]any{"seller": net.Seller.PublicKey().String(),
		"mint": net.Mint.String(), "escrow": "1", "service_hash": fmt.Sprintf("%064x", 7), "idempotency_key": "a"})
	reject := map[string]any{"negotiation": created.Negotiation, "round": 0}
	buyer.refused("NotAsExpected", "haggle_reject", with(reject, "round", 1))
	require.Equal(t, chaintools.DryRan, buyer.call("haggle_reject", with(reject, "dry_run", true)).Outcome)
	rejected := buyer.confirmed("haggle_reject", reject)
	require.Equal(t, "rejected", rejected.State.Status)
	require.Equal(t, "1000000", paidTo("buyer", rejected))
	require.Equal(t, chaintools.DoneAlready, buyer.call("haggle_reject", reject).Outcome)
}

// paidTo returns an answer's amount for a role in base units.
func paidTo(role string, answer chaintools.Answer) string {
	for _, paid := range answer.Paid {
		if paid.To == role {
			return paid.BaseUnits
		}
	}
	return ""
}

// An agent recovers an overdue negotiation's escrow and a finished negotiation's rent, each once. Only
// parties send these transactions.
func TestExpiryAndClosingThroughMCP(t *testing.T) {
	net := startNet(t)
	buyer := startMCPAgent(t, net, net.Buyer, net.Chain.RPCURL())
	seller := startMCPAgent(t, net, net.Seller, net.Chain.RPCURL())
	stranger, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	require.NoError(t, net.Endow(t.Context(), stranger.PublicKey()))
	other := startMCPAgent(t, net, stranger, net.Chain.RPCURL())
	created := buyer.confirmed("haggle_create", map[string]any{"seller": net.Seller.PublicKey().String(),
		"mint": net.Mint.String(), "escrow": "5", "service": "it", "idempotency_key": "a"})
	at := func(arguments map[string]any) map[string]any {
		return with(arguments, "negotiation", created.Negotiation)
	}
	early := buyer.refused("NotAsExpected", "haggle_expire", at(nil))
	require.Contains(t, early.Error.Message, "has not passed")
	early = buyer.refused("NotAsExpected", "haggle_close", at(nil))
	require.Contains(t, early.Error.Message, "the negotiation has not ended")
	seller.confirmed("haggle_accept", at(map[string]any{"what": "invitation", "service": "it"}))
	buyer.confirmed("haggle_offer", at(map[string]any{"amount": "2", "round": 1}))

	require.NoError(t, net.Chain.AdvanceTime(t.Context(), time.Hour))
	overdue := buyer.call("haggle_status", at(map[string]any{"wait_seconds": 20}))
	require.True(t, overdue.State.Overdue)
	require.Contains(t, overdue.Next, "haggle_expire")
	require.Contains(t, other.refused("NotAsExpected", "haggle_expire", at(nil)).Error.Message, "the parties are")
	require.Equal(t, chaintools.DryRan, buyer.call("haggle_expire", at(map[string]any{"dry_run": true})).Outcome)
	expired := buyer.confirmed("haggle_expire", at(nil))
	require.Equal(t, "expired", expired.State.Status)
	require.Equal(t, "4900000", paidTo("buyer", expired))
	require.Contains(t, expired.Next, "haggle_close")
	require.Equal(t, chaintools.DoneAlready, seller.call("haggle_expire", at(nil)).Outcome)

	require.Empty(t, buyer.call("haggle_status", nil).List)
	ended := buyer.call("haggle_status", map[string]any{"ended": true}).List
	require.Len(t, ended, 1)
	require.Equal(t, created.Negotiation, ended[0].Negotiation)
	buyer.refused("Usage", "haggle_status", at(map[string]any{"ended": true}))
	require.Contains(t, other.refused("NotAsExpected", "haggle_close", at(nil)).Error.Message, "the parties are")
	require.NotEmpty(t, buyer.call("haggle_close", at(map[string]any{"dry_run": true})).Effects.Changes)
	before := lamportsOf(t, net, net.Buyer.PublicKey())
	closed := buyer.confirmed("haggle_close", at(map[string]any{"idempotency_key": "close"}))
	require.Equal(t, "close_negotiation", closed.Action)
	require.Equal(t, "100000", paidTo("treasury", closed))
	require.Nil(t, closed.State)
	fee, err := strconv.ParseUint(closed.FeeLamports, 10, 64)
	require.NoError(t, err)
	require.Equal(t, strconv.FormatUint(lamportsOf(t, net, net.Buyer.PublicKey())-before+fee, 10), closed.Rent)

	again := buyer.call("haggle_close", at(map[string]any{"idempotency_key": "close"}))
	require.Equal(t, chaintools.DoneAlready, again.Outcome)
	require.Equal(t, closed.Rent, again.Rent)
	require.Equal(t, chaintools.DoneAlready, buyer.call("haggle_close", at(nil)).Outcome)
	require.Equal(t, chaintools.DoneAlready, seller.call("haggle_close", at(nil)).Outcome)
	other.refused("NotFound", "haggle_close", at(nil))
	read := buyer.call("haggle_status", at(map[string]any{"wait_seconds": 20}))
	require.Equal(t, chaintools.Read, read.Outcome)
	require.Nil(t, read.State)
	require.Contains(t, read.Next, "it is closed")
	require.Empty(t, buyer.call("haggle_status", map[string]any{"ended": true}).List)
}

func lamportsOf(t *testing.T, net *localnet.Net, owner solana.PublicKey) uint64 {
	t.Helper()
	balance, err := net.Client.RPC().GetBalance(t.Context(), owner, rpc.CommitmentConfirmed)
	require.NoError(t, err)
	return balance.Value
}

// A call whose transaction has no outcome in time returns at once, with the state and the way to wait; no
// repetition sends a second transaction.
func TestSlowAnswerThroughMCP(t *testing.T) {
	net := startNet(t)
	node, err := url.Parse(net.Chain.RPCURL())
	require.NoError(t, err)
	proxy, answering := httputil.NewSingleHostReverseProxy(node), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		content, err := io.ReadAll(request.Body)
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadRequest)
			return
		}
		request.Body = io.NopCloser(bytes.NewReader(content))
		if bytes.Contains(content, []byte(`"method":"getSignatureStatuses"`)) {
			select {
			case <-answering:
			case <-request.Context().Done():
				return
			}
		}
		proxy.ServeHTTP(answer, request)
	}))
	t.Cleanup(slow.Close)
	buyer := startMCPAgent(t, net, net.Buyer, slow.URL, "--wait", "4s")
	creation := map[string]any{"seller": net.Seller.PublicKey().String(), "mint": net.Mint.String(),
		"escrow":  "5",
		"service": "it", "idempotency_key": "order"}
	first := buyer.call("haggle_create", creation)
	require.Equal(t, chaintools.Unknown, first.Outcome, "%+v", first.Error)
	require.NotNil(t, first.Pending)
	require.Equal(t, first.Signature, first.Pending.Signature)
	require.Contains(t, first.Next, "haggle_status")
	second := buyer.call("haggle_create", creation)
	require.Equal(t, chaintools.Unknown, second.Outcome)
	require.Equal(t, first.Signature, second.Signature, "nothing more was sent")
	waiting := buyer.call("haggle_status", map[string]any{"negotiation": first.Negotiation, "wait_seconds": 1})
	require.NotNil(t, waiting.Pending)
	require.Equal(t, "created", waiting.State.Status)

	time.AfterFunc(time.Second, func() { close(answering) })
	resolved := buyer.call("haggle_status", map[string]any{"negotiation": first.Negotiation, "wait_seconds": 1})
	for deadline := time.Now().Add(patience); resolved.Pending != nil && time.Now().Before(deadline); {
		resolved = buyer.call("haggle_status", map[string]any{"negotiation": first.Negotiation, "wait_seconds": 1})
	}
	require.Nil(t, resolved.Pending)
	require.Equal(t, "created", resolved.State.Status)
	require.Equal(t, chaintools.DoneAlready, buyer.call("haggle_create", creation).Outcome)
	require.Len(t, buyer.call("haggle_status", nil).List, 1)
}

// Every tool has an output schema and refuses unknown arguments; every sending tool has a dry run and an
// idempotency key.
func TestToolsOfMCP(t *testing.T) {
	net := startNet(t)
	agent := startMCPAgent(t, net, net.Buyer, net.Chain.RPCURL())
	listed, err := agent.session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		require.NotNil(t, tool.OutputSchema, tool.Name)
		input := tool.InputSchema.(map[string]any)
		require.Equal(t, false, input["additionalProperties"], tool.Name)
		properties := input["properties"].(map[string]any)
		require.Equal(t, !tool.Annotations.ReadOnlyHint, properties["dry_run"] != nil, tool.Name)
		require.Equal(t, !tool.Annotations.ReadOnlyHint, properties["idempotency_key"] != nil, tool.Name)
	}
	require.ElementsMatch(t, []string{"haggle_create", "haggle_offer", "haggle_accept", "haggle_reject",
		"haggle_expire", "haggle_close", "haggle_status", "haggle_await_invitation", "haggle_budget",
		"haggle_suggest"}, names)
	for _, wrong := range []map[string]any{
		{"negotiation": "x", "round": 0, "note": "hello"}, {"negotiation": "x"},
	} {
		result, err := agent.session.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "haggle_reject", Arguments: wrong})
		require.NoError(t, err)
		require.True(t, result.IsError)
	}
	agent.refused("Usage", "haggle_reject", map[string]any{"negotiation": "x", "round": 0})
	for _, other := range []solana.PublicKey{{9}, net.Mint} {
		missing := agent.refused("NotFound", "haggle_status", map[string]any{"negotiation": other.String()})
		require.Contains(t, missing.Next, "check the address")
	}
}
