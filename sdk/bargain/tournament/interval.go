package tournament

import (
	"math/big"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// quantiles lists the 0.975 quantiles of Student's distribution, in thousandths, by degrees of freedom.
// Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
var quantiles = [...]int64{
	1: 12_706, 4_303, 3_182, 2_776, 2_571, 2_447, 2_365, 2_306, 2_262, 2_228,
	11: 2_201, 2_179, 2_160, 2_145, 2_131, 2_120, 2_110, 2_101, 2_093, 2_086,
	21: 2_080, 2_074, 2_069, 2_064, 2_060, 2_056, 2_052, 2_048, 2_045, 2_042,
}

// quantile returns the quantile in thousandths. Between tabulated values it is the wider one.
func quantile(freedom int64) int64 {
	switch {
	case freedom < int64(len(quantiles)):
		return quantiles[freedom]
	case freedom < 40:
		return 2_042
	case freedom < 60:
		return 2_021
	case freedom < 100:
		return 2_000
	}
	return 1_984
}

// margin returns half the width of a mean's 95 % confidence interval, given the sum of the values and the sum
// of their squares. It returns false if count is less than 2.
func margin(sum, squares *big.Int, count int64) (fixed.Number, bool) {
	if count < 2 {
		return 0, false
	}
	// The variance of the mean is (n*squares - sum^2) / (n^2 (n-1)).
	n := big.NewInt(count)
	variance := new(big.Int).Mul(n, squares)
	variance.Sub(variance, new(big.Int).Mul(sum, sum))
	q := big.NewInt(quantile(count - 1))
	variance.Mul(variance, q.Mul(q, q))
	divisor := new(big.Int).Mul(n, n)
	divisor.Mul(divisor, big.NewInt(count-1))
	variance.Div(variance, divisor.Mul(divisor, big.NewInt(1_000_000)))
	return fixed.Number(variance.Sqrt(variance).Int64()), true
}
