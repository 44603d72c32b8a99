package arena

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Rule 5.
func TestAmountsAndPricesAreExact(t *testing.T) {
	for text, want := range map[string]Money{
		"0": 0, "87": 87 * SetPrice, "87.5": 87_500_000, "0.000001": 1, "1000000000": MaxMoney,
	} {
		money, err := ParseMoney(text)
		require.NoError(t, err, text)
		require.Equal(t, want, money, text)
	}
	for _, text := range []string{"", ".", "1.", ".5", "-1", "+1", "1,5", "1e3", "0.0000001", "1000000000.000001", "99999999999"} {
		_, err := ParseMoney(text)
		require.Error(t, err, text)
	}
	for text, want := range map[string]Price{"0.01": 1, "0.5": 50, "0.62": 62, "0.990": 99} {
		price, err := ParsePrice(text)
		require.NoError(t, err, text)
		require.Equal(t, want, price, text)
	}
	for _, text := range []string{"", "0", "0.00", "1", "1.00", "0.625", "62", "-0.5"} {
		_, err := ParsePrice(text)
		require.Error(t, err, text)
	}
}
