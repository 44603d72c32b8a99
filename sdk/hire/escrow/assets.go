package escrow

import (
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// The genesis hashes of the public clusters with well-known tokens.
const (
	MainnetGenesis = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKUc147dw2N9d"
	DevnetGenesis  = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"
)

// mints lists each cluster's well-known mints that can be held in escrow. PYUSD is missing: the program
// refuses the mint's extensions, which let the issuer take tokens.
var mints = map[string][]solana.PublicKey{
	MainnetGenesis: {token.USDC, token.USDT, token.EURC, solana.WrappedSol},
	DevnetGenesis:  {token.USDCDevnet, solana.WrappedSol},
}

// Assets returns a cluster's tokens for prices: USDC and SOL, on mainnet also USDT and EURC. The cluster is a
// genesis hash, "mainnet-beta" or "devnet". Otherwise Assets returns nil: the caller lists the tokens. Take the
// cluster from the configuration: a node that chooses the cluster chooses the mint as well.
func Assets(cluster string) []hire.Asset {
	switch cluster {
	case "mainnet-beta":
		cluster = MainnetGenesis
	case "devnet":
		cluster = DevnetGenesis
	}
	var assets []hire.Asset
	for _, mint := range mints[cluster] {
		decimals, _ := token.WellKnownDecimals(mint)
		assets = append(assets, hire.Asset{
			Symbol: token.WellKnownSymbol(mint), Mint: hire.Base58(mint.String()), Decimals: decimals,
		})
	}
	return assets
}
