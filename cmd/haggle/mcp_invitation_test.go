package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	chaintools "github.com/haggle-protocol/haggle/internal/cli/mcp"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

// A seller's agent waits for an invitation that it can accept.
func TestInvitationIsAwaitedThroughMCP(t *testing.T) {
	net := startNet(t)
	buyer := startMCPAgent(t, net, net.Buyer, net.Chain.RPCURL())
	seller := startMCPAgent(t, net, net.Seller, net.Chain.RPCURL())
	type reply struct {
		result *mcp.CallToolResult
		err    error
	}
	await := func(agent mcpAgent) <-chan reply {
		params := &mcp.CallToolParams{Name: "haggle_await_invitation", Arguments: map[string]any{"wait_seconds": 300}}
		params.SetProgressToken("waiting")
		replies := make(chan reply, 1)
		go func() {
			result, err := agent.session.CallTool(t.Context(), params)
			replies <- reply{result, err}
		}()
		return replies
	}
	nothing := func(agent mcpAgent, arguments map[string]any) {
		t.Helper()
		none := agent.call("haggle_await_invitation", with(arguments, "wait_seconds", 1))
		require.Equal(t, chaintools.Read, none.Outcome)
		require.Nil(t, none.State)
		require.Empty(t, none.List)
		require.Contains(t, none.Next, "no invitation came within 1 s: call haggle_await_invitation again")
	}
	nothing(seller, nil)

	// The policy does not allow this mint.
	foreign := net.Client.CreateNegotiation(haggle.CreateRequest{
		Buyer: net.Buyer.PublicKey(), Seller: net.Seller.PublicKey(), Mint: solana.WrappedSol, Decimals: 9,
		EscrowAmount: 1_000_000, Deposit: haggle.Deposit{WrapSOL: true}, Key: "foreign",
	})
	_, err := foreign.Do(t.Context(), net.Buyer)
	require.NoError(t, err)
	nothing(seller, nil)

	replies := await(seller)
	select {
	case begun := <-seller.progress:
		require.Equal(t, "waiting", begun.ProgressToken)
		require.EqualValues(t, 300, begun.Total)
	case early := <-replies:
		require.Fail(t, "the wait has ended before an invitation", "%+v", early)
	case <-time.After(patience):
		require.Fail(t, "no progress notification")
	}
	creation := map[string]any{"seller": net.Seller.PublicKey().String(), "mint": net.Mint.String(), "escrow": "5",
		"service": "it", "idempotency_key": "first"}
	created := buyer.confirmed("haggle_create", creation)
	var received reply
	select {
	case received = <-replies:
	case <-time.After(patience):
		require.Fail(t, "the invitation did not end the wait")
	}
	require.NoError(t, received.err)
	invited := seller.answer("haggle_await_invitation", received.result)
	require.Equal(t, created.Negotiation, invited.Negotiation)
	require.Equal(t, created.Negotiation, invited.State.Negotiation)
	require.Equal(t, created.State.ServiceHash, invited.State.ServiceHash)
	require.True(t, invited.State.YourTurn)
	require.Empty(t, invited.List)
	require.Contains(t, invited.Next, "haggle_accept")

	require.NoError(t, net.Chain.AdvanceTime(t.Context(), 2*time.Second)) // deadlines are whole seconds
	second := buyer.confirmed("haggle_create", with(creation, "idempotency_key", "second"))
	both := seller.call("haggle_await_invitation", nil)
	require.Equal(t, created.Negotiation, both.Negotiation, "the first deadline comes first")
	require.Len(t, both.List, 1)
	require.Equal(t, second.Negotiation, both.List[0].Negotiation)
	known := map[string]any{"except": []string{created.Negotiation}}
	require.Equal(t, second.Negotiation, seller.call("haggle_await_invitation", known).Negotiation)
	nothing(seller, map[string]any{"except": []string{created.Negotiation, second.Negotiation}})

	nothing(buyer, nil)
	strict := startMCPAgentWithin(t, net, net.Seller, net.Chain.RPCURL(), "",
		fmt.Sprintf(`, "counterparties": [%q]`, net.Seller.PublicKey()))
	nothing(strict, nil)
	seller.refused("Usage", "haggle_await_invitation", map[string]any{"wait_seconds": 301})
	seller.refused("Usage", "haggle_await_invitation", map[string]any{"except": []string{"x"}})
}
