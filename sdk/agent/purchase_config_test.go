package agent_test

import (
	"context"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// noRecords is a store that is not used.
type noRecords struct{ agent.PurchaseStore }

func TestPurchasesThatAreNotPossible(t *testing.T) {
	buyer, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	mint, seller := solana.PublicKey{1}, solana.PublicKey{2}
	client, err := haggle.NewClient(haggle.Config{Endpoint: "http://127.0.0.1:1"})
	require.NoError(t, err)
	defer client.Close()
	nine := make([]solana.PublicKey, 9)
	for i := range nine {
		nine[i] = solana.PublicKey{10, byte(i)}
	}
	limits := func(l agent.Limits) map[solana.PublicKey]agent.Limits {
		return map[solana.PublicKey]agent.Limits{mint: l}
	}
	usual := agent.Limits{Decimals: localnet.Decimals, MaxTotal: 5_000_000}
	for want, change := range map[string]func(*agent.PurchaseConfig){
		"":                                      func(*agent.PurchaseConfig) {},
		"Key not set":                           func(c *agent.PurchaseConfig) { c.Key = "" },
		"Store not set":                         func(c *agent.PurchaseConfig) { c.Store = nil },
		"Sellers not set":                       func(c *agent.PurchaseConfig) { c.Sellers = nil },
		"9 sellers, at most 8":                  func(c *agent.PurchaseConfig) { c.Sellers = nine },
		"seller 2 not set":                      func(c *agent.PurchaseConfig) { c.Sellers = append(c.Sellers, solana.PublicKey{}) },
		" is the buyer":                         func(c *agent.PurchaseConfig) { c.Sellers[0] = buyer.PublicKey() },
		" occurs twice":                         func(c *agent.PurchaseConfig) { c.Sellers = append(c.Sellers, seller) },
		"Strategy or Reservation not set":       func(c *agent.PurchaseConfig) { c.Player.Strategy = nil },
		"Buyer, Seller and Key must not be set": func(c *agent.PurchaseConfig) { c.Terms.Key = "other" },
		"bonds, sealed prices and milestones are not supported": func(c *agent.PurchaseConfig) { c.Terms.Bond = 1 },
		"Decide, Concerns, Seal, OnMilestone and Fallback must not be set": func(c *agent.PurchaseConfig) {
			c.Agent.Decide = func(context.Context, agent.Turn) (agent.Decision, error) { return nil, nil }
		},
		"Mints must contain the mint of Terms only": func(c *agent.PurchaseConfig) { c.Terms.Mint = solana.PublicKey{9} },
		"MaxTotal not set":                          func(c *agent.PurchaseConfig) { c.Agent.Mints = limits(agent.Limits{MinPrice: 1}) },
		"MinPrice must not be set": func(c *agent.PurchaseConfig) {
			c.Agent.Mints = limits(agent.Limits{Decimals: localnet.Decimals, MaxTotal: 5, MinPrice: 1})
		},
		"Terms have 9 decimals, Mints 6": func(c *agent.PurchaseConfig) { c.Terms.Decimals = 9 },
	} {
		config := purchaseConfig(mint, []solana.PublicKey{seller}, noRecords{})
		config.Agent.Mints = limits(usual)
		change(&config)
		_, err := agent.NewPurchase(client, buyer, config)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	_, err = agent.NewPurchase(nil, buyer, agent.PurchaseConfig{})
	require.ErrorContains(t, err, "client or signer not set")
}
