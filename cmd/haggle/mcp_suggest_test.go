package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	chaintools "github.com/haggle-protocol/haggle/internal/cli/mcp"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// Two agents that follow each suggestion reach an agreement within their owners' limits: a buyer that pays at most 3.5 in
// all, and a seller that sells for at least 3.
func TestSuggestionsLeadToADealThroughMCP(t *testing.T) {
	net := startNet(t)
	agents := [2]mcpAgent{
		startMCPAgent(t, net, net.Buyer, net.Chain.RPCURL()), startMCPAgent(t, net, net.Seller, net.Chain.RPCURL()),
	}
	created := agents[0].confirmed("haggle_create", map[string]any{"seller": net.Seller.PublicKey().String(),
		"mint": net.Mint.String(), "escrow": "4", "service": "it", "rounds": 9, "decay_bps": 100, "idempotency_key": "a"})
	at := func(arguments map[string]any) map[string]any {
		return with(arguments, "negotiation", created.Negotiation)
	}
	early := agents[0].call("haggle_suggest", at(nil))
	require.Equal(t, chaintools.Read, early.Outcome)
	require.Empty(t, early.Suggestion.Move)
	require.Contains(t, early.Next, "haggle_status with wait_seconds")
	agents[1].confirmed("haggle_accept", at(map[string]any{"what": "invitation", "service": "it"}))
	agents[0].refused("Usage", "haggle_suggest", at(map[string]any{"strategy": "best"}))
	agents[0].refused("Usage", "haggle_suggest", at(map[string]any{"strategy": "boulware:e=0"}))
	late := agents[0].call("haggle_suggest", at(map[string]any{"strategy": "boulware:e=6"}))
	require.Equal(t, chaintools.Read, late.Outcome)
	stranger, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	startMCPAgent(t, net, stranger, net.Chain.RPCURL()).refused("NotAsExpected", "haggle_suggest", at(nil))

	var state *chaintools.State
	for round := uint8(0); ; round++ {
		agent := agents[round%2]
		suggested := agent.call("haggle_suggest", at(map[string]any{"other_reservation": []string{"3", "3.5"}[round%2]}))
		require.Equal(t, chaintools.Read, suggested.Outcome)
		s := suggested.Suggestion
		require.NotEmpty(t, s.Reason)
		require.NotNil(t, s.Equilibrium)
		require.EqualValues(t, 9-round, s.RoundsLeft)
		require.Equal(t, "buyer", s.LastOffer)
		require.True(t, strings.HasPrefix(suggested.Next, "to follow it: "), suggested.Next)
		switch s.Move {
		case "offer":
			agent.confirmed("haggle_offer", at(map[string]any{"amount": s.Price.BaseUnits + "u", "round": round + 1}))
			continue
		case "accept":
			state = agent.confirmed("haggle_accept",
				at(map[string]any{"what": "offer", "price": s.Price.BaseUnits + "u", "round": round})).State
		}
		break
	}
	require.NotNil(t, state, "no agreement")
	require.Equal(t, "settled", state.Status)
	require.GreaterOrEqual(t, state.Settled.Tokens, "3.000000")
	require.LessOrEqual(t, state.Settled.Tokens, "3.500000")
	agents[0].refused("NotAsExpected", "haggle_suggest", at(nil))
}
