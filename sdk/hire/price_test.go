package hire

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPricesOfUnitsAreExact(t *testing.T) {
	for units, want := range map[uint64]Price{
		5_000_000: "5 USDC", 4_500_000: "4.5 USDC", 100_001: "0.100001 USDC", 12_345_678: "12.345678 USDC", 0: "0 USDC",
		math.MaxUint64: "18446744073709.551615 USDC",
	} {
		asset := Asset{Symbol: "USDC", Decimals: 6}
		require.Equal(t, want, asset.Price(units))
		if units >= MinUnits {
			_, read, err := want.Units([]Asset{asset})
			require.NoError(t, err)
			require.Equal(t, units, read)
		}
	}
	require.Equal(t, Price("5 GEM"), Asset{Symbol: "GEM"}.Price(5))
}
