package fixed

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The reference computes with 300 bits: exp by halving and Taylor's series, log by Newton's method.
const precision = 300

func float(n Number) *big.Float {
	x := new(big.Float).SetPrec(precision).SetInt64(int64(n))
	return x.Quo(x, new(big.Float).SetPrec(precision).SetInt64(int64(One)))
}

func referenceExp(x *big.Float) *big.Float {
	x = new(big.Float).SetMantExp(x, -40)
	sum := big.NewFloat(1).SetPrec(precision)
	term := big.NewFloat(1).SetPrec(precision)
	for n := range int64(15) {
		term.Mul(term, x).Quo(term, new(big.Float).SetInt64(n+1))
		sum.Add(sum, term)
	}
	for range 40 {
		sum.Mul(sum, sum)
	}
	return sum
}

func referenceLog(x *big.Float) *big.Float {
	y := new(big.Float).SetPrec(precision)
	for range 200 {
		e := referenceExp(y)
		// y += 2 (x - e) / (x + e)
		step := new(big.Float).SetPrec(precision).Sub(x, e)
		step.Quo(step, e.Add(e, x)).Mul(step, big.NewFloat(2))
		y.Add(y, step)
		if step.Sign() == 0 || step.MantExp(nil) < -200 {
			break
		}
	}
	return y
}

func requireWithinOne(t require.TestingT, want *big.Float, got Number) {
	difference := new(big.Float).SetPrec(precision).Sub(want, float(got))
	parts := new(big.Float).Mul(difference, new(big.Float).SetInt64(int64(One)))
	size, _ := parts.Abs(parts).Float64()
	require.Less(t, size, 0.51, "%s instead of %s", got, want.Text('f', 20))
}

func TestPowersMatchTheExactValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := Number(rapid.Int64Range(1, int64(One)).Draw(t, "base"))
		exponent := Number(rapid.Int64Range(1, 1000*int64(One)).Draw(t, "exponent"))
		exponent >>= rapid.IntRange(0, 30).Draw(t, "shift")
		want := referenceExp(new(big.Float).Mul(referenceLog(float(base)), float(max(exponent, 1))))
		requireWithinOne(t, want, Pow(base, max(exponent, 1)))
	})
}

func TestExponentialsAndLogarithmsMatchTheExactValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := Number(rapid.Int64Range(-35*int64(One), 0).Draw(t, "x")) >> rapid.IntRange(0, 40).Draw(t, "shift")
		requireWithinOne(t, referenceExp(float(x)), Exp(x))
		y := Number(rapid.Int64Range(1, int64(Max)).Draw(t, "y")) >> rapid.IntRange(0, 62).Draw(t, "shift")
		requireWithinOne(t, referenceLog(float(max(y, 1))), Log(max(y, 1)))
	})
}

func TestKnownPowers(t *testing.T) {
	half := One / 2
	require.Equal(t, One, Pow(0, 0))
	require.Equal(t, Number(0), Pow(0, One))
	require.Equal(t, One, Pow(One, 3*One))
	require.Equal(t, half, Pow(half, One))
	require.Equal(t, Number(62_500_000_000), Pow(half, 4*One))
	require.Equal(t, Number(840_896_415_254), Pow(half, One/4)) // 2^-0.25 = 0.84089641525371...
	require.Equal(t, Number(0), Pow(half, 41*One))
	require.Equal(t, Number(1), Pow(half, 40*One))
	require.Equal(t, Number(367_879_441_171), Exp(-One)) // 1/e = 0.36787944117144...
	require.Equal(t, Number(693_147_180_560), Log(2*One))
	require.Equal(t, Number(-693_147_180_560), Log(half))
	require.Equal(t, Number(0), Log(One))
	require.Equal(t, Min, Log(0))
}

func TestPowersAreMonotone(t *testing.T) {
	for _, exponent := range []Number{One / 10, One / 5, One / 4, One / 2, 2 * One, 4 * One, 5 * One, 10 * One} {
		previous := Number(0)
		for step := range int64(1001) {
			power := Pow(Ratio(step, 1000), exponent)
			require.GreaterOrEqual(t, power, previous)
			previous = power
		}
		require.Equal(t, One, previous)
	}
}

var sink Number

func BenchmarkPow(b *testing.B) {
	for b.Loop() {
		sink = Pow(One/3, One/5)
	}
}
