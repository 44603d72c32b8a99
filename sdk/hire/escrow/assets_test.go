package escrow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
	"github.com/haggle-protocol/haggle/sdk/token"
)

func TestAssetsDependOnTheCluster(t *testing.T) {
	for name, usdc := range map[string]string{
		"mainnet-beta": token.USDC.String(), escrow.MainnetGenesis: token.USDC.String(),
		"devnet": token.USDCDevnet.String(), escrow.DevnetGenesis: token.USDCDevnet.String(),
	} {
		asset, units, err := hire.Price("5 USDC").Units(escrow.Assets(name))
		require.NoError(t, err)
		assert.EqualValues(t, usdc, asset.Mint, name)
		assert.EqualValues(t, 5_000_000, units)
		_, units, err = hire.Price("0.25 SOL").Units(escrow.Assets(name))
		require.NoError(t, err)
		assert.EqualValues(t, 250_000_000, units)
		for _, unknown := range []hire.Price{"5 USD", "5 PYUSD", "5 USDCX", "5 WSOL"} {
			_, _, err := unknown.Units(escrow.Assets(name))
			require.Error(t, err, unknown)
		}
	}
	for _, symbol := range []hire.Price{"5 USDT", "5 EURC"} {
		_, _, err := symbol.Units(escrow.Assets("mainnet-beta"))
		require.NoError(t, err)
		_, _, err = symbol.Units(escrow.Assets("devnet"))
		require.Error(t, err, symbol)
	}
	for _, unknown := range []string{"", "testnet", "mainnet", "localhost"} {
		assert.Empty(t, escrow.Assets(unknown), unknown)
	}
	for _, cluster := range []string{"mainnet-beta", "devnet"} {
		symbols := map[string]bool{}
		for _, asset := range escrow.Assets(cluster) {
			assert.NotEmpty(t, asset.Symbol)
			assert.NotZero(t, asset.Decimals)
			assert.False(t, symbols[asset.Symbol], "a symbol names one mint")
			symbols[asset.Symbol] = true
		}
	}
}
