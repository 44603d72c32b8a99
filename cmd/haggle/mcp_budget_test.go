package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	chaintools "github.com/haggle-protocol/haggle/internal/cli/mcp"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// An agent reads the wallet balances, and the remaining limits set by the owner.
func TestBudgetThroughMCP(t *testing.T) {
	net := startNet(t)
	missing, stop := solana.PublicKey{9}, filepath.Join(t.TempDir(), "stop")
	buyer := startMCPAgentWithin(t, net, net.Buyer, net.Chain.RPCURL(),
		fmt.Sprintf(`, %q: {"perTransaction": 7, "perNegotiation": 7, "perCounterparty": 7, "perDay": 7, "maxTotal": 7, "minPrice": 0}`, missing),
		fmt.Sprintf(`, "instructions": ["compute_budget", "haggle.create_negotiation"], "stopFile": %q`, stop))
	seller := net.Seller.PublicKey().String()
	asset := func(answer chaintools.Answer, mint solana.PublicKey) chaintools.Asset {
		t.Helper()
		for _, asset := range answer.Budget.Tokens {
			if asset.Mint == mint.String() {
				return asset
			}
		}
		require.Fail(t, "mint not listed")
		return chaintools.Asset{}
	}
	fresh := buyer.call("haggle_budget", nil)
	require.Equal(t, chaintools.Read, fresh.Outcome)
	require.Equal(t, strconv.FormatUint(lamportsOf(t, net, net.Buyer.PublicKey()), 10), fresh.Budget.SOL.Balance.BaseUnits)
	require.Equal(t, "0.010000000", fresh.Budget.SOL.PerTransaction.Limit.Tokens)
	tokens := asset(fresh, net.Mint)
	require.Equal(t, "100.000000", tokens.Balance.Tokens)
	require.Equal(t, "3.500000", tokens.MaxTotal.Limit.Tokens)
	require.Equal(t, "3.000000", tokens.MinPrice.Tokens)
	require.Equal(t, "20.000000", tokens.PerDay.Left.Tokens)
	require.Nil(t, tokens.PerNegotiation.Used)
	require.True(t, tokens.ApproveAbove.Unlimited)
	require.EqualValues(t, 200, fresh.Budget.Terms.MaxDecayRateBps)
	require.EqualValues(t, 300, fresh.Budget.Terms.MinResponseWindowSeconds)
	require.Contains(t, fresh.Budget.DeniedActions, "close_negotiation")
	require.NotContains(t, fresh.Budget.DeniedActions, "create_negotiation")
	unknown := asset(fresh, missing)
	require.Contains(t, unknown.Problem, "account not found")
	require.Nil(t, unknown.Balance)
	require.Equal(t, chaintools.Amount{BaseUnits: "7"}, *unknown.PerDay.Left)

	created := buyer.confirmed("haggle_create", map[string]any{"seller": seller, "mint": net.Mint.String(),
		"escrow": "5", "service": "it", "idempotency_key": "a"})
	used := buyer.call("haggle_budget", map[string]any{"negotiation": created.Negotiation})
	tokens = asset(used, net.Mint)
	require.Equal(t, "95.000000", tokens.Balance.Tokens)
	require.Equal(t, "5.000000", tokens.PerDay.Used.Tokens)
	require.Equal(t, "15.000000", tokens.PerDay.Left.Tokens)
	require.Equal(t, "5.000000", tokens.PerNegotiation.Used.Tokens)
	require.Equal(t, "0.000000", tokens.PerNegotiation.Left.Tokens)
	require.Equal(t, "5.000000", tokens.PerCounterparty.Used.Tokens)
	require.Nil(t, tokens.PerCounterparty.Left)
	require.NotEqual(t, "0", used.Budget.SOL.PerNegotiation.Used.BaseUnits)
	tokens = asset(buyer.call("haggle_budget", map[string]any{"counterparty": seller}), net.Mint)
	require.Equal(t, "5.000000", tokens.PerCounterparty.Used.Tokens)
	require.Nil(t, tokens.PerNegotiation.Used)

	wrapped := asset(buyer.call("haggle_budget", map[string]any{"mint": solana.WrappedSol.String()}), solana.WrappedSol)
	require.False(t, wrapped.Allowed)
	require.Equal(t, "0.000000000", wrapped.Balance.Tokens)
	require.Nil(t, wrapped.PerDay)
	buyer.refused("NotFound", "haggle_budget", map[string]any{"mint": solana.PublicKey{8}.String()})
	buyer.refused("Usage", "haggle_budget", map[string]any{"mint": "x"})
	buyer.refused("Usage", "haggle_budget",
		map[string]any{"negotiation": created.Negotiation, "counterparty": missing.String()})
	stranger, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	other := startMCPAgent(t, net, stranger, net.Chain.RPCURL())
	other.refused("NotAsExpected", "haggle_budget", map[string]any{"negotiation": created.Negotiation})
	require.Equal(t, "0.000000", asset(other.call("haggle_budget", nil), net.Mint).Balance.Tokens)

	require.Empty(t, fresh.Budget.SignsNothing)
	require.NoError(t, os.WriteFile(stop, nil, 0o600))
	require.NotEmpty(t, buyer.call("haggle_budget", nil).Budget.SignsNothing)
}
