package amount

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAmountsWithASymbolHaveNoZerosAfterTheSecondDecimal(t *testing.T) {
	for text, tokens := range map[string]Tokens{
		"3.50 USDC":                 {Units: 3_500_000, Decimals: 6, Symbol: "USDC"},
		"0.477835 USDC":             {Units: 477_835, Decimals: 6, Symbol: "USDC"},
		"0.00 USDC":                 {Decimals: 6, Symbol: "USDC"},
		"4.925 USDC":                {Units: 4_925_000, Decimals: 6, Symbol: "USDC"},
		"100.00 USDC":               {Units: 100_000_000, Decimals: 6, Symbol: "USDC"},
		"0.000005 SOL":              SOL(5_000),
		"18446744073.709551615 SOL": SOL(1<<64 - 1),
		"7 TICKETS":                 {Units: 7, Symbol: "TICKETS"},
		"0.5 X":                     {Units: 5, Decimals: 1, Symbol: "X"},
		"0.10 X":                    {Units: 10, Decimals: 2, Symbol: "X"},
		"3.500000":                  {Units: 3_500_000, Decimals: 6},
	} {
		require.Equal(t, text, tokens.String())
	}
}

func TestJSONHasTheSymbolAndAllDecimals(t *testing.T) {
	tokens := Tokens{Units: 3_500_000, Decimals: 6, Symbol: "USDC"}
	content, err := json.Marshal(tokens)
	require.NoError(t, err)
	require.JSONEq(t, `{"units":"3500000","decimals":6,"tokens":"3.500000","symbol":"USDC"}`, string(content))
	var read Tokens
	require.NoError(t, json.Unmarshal(content, &read))
	require.Equal(t, tokens, read)
}
