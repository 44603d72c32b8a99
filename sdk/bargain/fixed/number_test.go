package fixed

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParsesDecimalNotation(t *testing.T) {
	for text, want := range map[string]Number{
		"0": 0, "1": One, "-1.5": -One * 3 / 2, ".25": One / 4, "+2.": 2 * One, "1e-3": One / 1000, "12E2": 1200 * One,
		"0.0000000000005": 1, "0.00000000000049": 0, "0.1234567890125": 123456789013, "-0.0000000000005": -1,
		"9223372.036854775807": Max, "0e900": 0, "1e-900": 0, "0.99999999999999": One,
	} {
		got, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-", ".", "1.2.3", "e5", "1e", "0x1", "NaN", "inf", "--1", "1 ", "1e99999"} {
		_, err := Parse(text)
		require.EqualError(t, err, "fixed: \""+text+"\" is not a decimal number")
	}
	for _, text := range []string{"9223372.036854775808", "1e7", "-1e300", "99999999999999999999"} {
		_, err := Parse(text)
		require.ErrorIs(t, err, ErrRange, text)
	}
}

func number(t *rapid.T, name string) Number {
	return Number(rapid.Int64Range(int64(Min), int64(Max)).Draw(t, name))
}

func TestNotationRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := number(t, "n")
		got, err := Parse(n.String())
		require.NoError(t, err)
		require.Equal(t, n, got)
	})
}

func FuzzParse(f *testing.F) {
	f.Add("-12.5e3")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(n.String())
		require.NoError(t, err)
		require.Equal(t, n, again)
	})
}

// rounded returns a quotient rounded half away from zero, saturating at [Max] or [Min].
func rounded(numerator, denominator *big.Int) Number {
	if denominator.Sign() == 0 {
		switch numerator.Sign() {
		case 1:
			return Max
		case -1:
			return Min
		}
		return 0
	}
	negative := numerator.Sign()*denominator.Sign() < 0
	quotient, rest := new(big.Int).QuoRem(new(big.Int).Abs(numerator), new(big.Int).Abs(denominator), new(big.Int))
	if rest.Lsh(rest, 1).CmpAbs(denominator) >= 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	if quotient.Cmp(big.NewInt(int64(Max))) > 0 {
		quotient.SetInt64(int64(Max))
	}
	if negative {
		quotient.Neg(quotient)
	}
	return Number(quotient.Int64())
}

func TestArithmeticIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := number(t, "a"), number(t, "b"), number(t, "c")
		if rapid.Bool().Draw(t, "small") {
			a, b, c = a>>rapid.IntRange(0, 62).Draw(t, "x"), b>>rapid.IntRange(0, 62).Draw(t, "y"), c>>rapid.IntRange(0, 62).Draw(t, "z")
		}
		x, y, z, one := big.NewInt(int64(a)), big.NewInt(int64(b)), big.NewInt(int64(c)), big.NewInt(int64(One))
		product := new(big.Int).Mul(x, y)
		require.Equal(t, rounded(product, one), a.Mul(b))
		require.Equal(t, rounded(product, z), a.Scale(int64(b), int64(c)))
		require.Equal(t, rounded(new(big.Int).Mul(x, one), y), a.Div(b))
		require.Equal(t, rounded(new(big.Int).Add(x, y), big.NewInt(1)), a.Add(b))
		require.Equal(t, rounded(new(big.Int).Sub(x, y), big.NewInt(1)), a.Sub(b))
	})
}
