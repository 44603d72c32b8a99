package amount

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAmountsAreExact(t *testing.T) {
	for _, sample := range []struct {
		written  string
		decimals uint8
		units    uint64
	}{
		{"3.5", 6, 3_500_000},
		{"3500000u", 6, 3_500_000},
		{"0.000001", 6, 1},
		{"0", 6, 0},
		{"007", 0, 7},
		{"5", 9, 5_000_000_000},
		{"18446744073709551615u", 6, math.MaxUint64},
		{"18446744073709.551615", 6, math.MaxUint64},
		{"0.1", 1, 1},
		// Floating point arithmetic gets both wrong.
		{"0.29", 2, 29},
		{"1.005", 3, 1005},
	} {
		t.Run(sample.written, func(t *testing.T) {
			text, err := Parse(sample.written)
			require.NoError(t, err)
			units, err := text.In(sample.decimals)
			require.NoError(t, err)
			require.Equal(t, sample.units, units)
			require.Equal(t, sample.written, text.String())
		})
	}
}

func TestInvalidAmounts(t *testing.T) {
	for _, written := range []string{
		"", "u", ".", ".5", "3.", "3.5u", "-1", "+1", "1e6", "1_000", "1,5", " 1", "1 ", "1.2.3", "0x10", "１", "3.5 USDC", "NaN", "1U", "1uu",
	} {
		_, err := Parse(written)
		require.ErrorIs(t, err, errForm, "%q", written)
	}
	for written, decimals := range map[string]uint8{
		"3.5":                    0,
		"3.5000000":              6, // zeros are digits too
		"0.0000001":              6,
		"18446744073709551616u":  6,
		"18446744073709.551616":  6,
		"1":                      255,
		strings.Repeat("9", 400): 0,
	} {
		text, err := Parse(written)
		require.NoError(t, err)
		_, err = text.In(decimals)
		require.Error(t, err, "%s with %d decimals", written, decimals)
	}
	_, err := Text{}.In(6)
	require.Error(t, err)
}

func TestFlag(t *testing.T) {
	var text Text
	require.True(t, text.IsZero())
	require.NoError(t, text.Set("2.5"))
	require.Error(t, text.Set("2.5.1"))
	require.Equal(t, "2.5", text.String(), "what is refused changes nothing")
	require.Equal(t, "amount", text.Type())
}

func TestStringRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := Tokens{Units: rapid.Uint64().Draw(t, "units"), Decimals: rapid.Uint8().Draw(t, "decimals")}
		text, err := Parse(tokens.String())
		require.NoError(t, err)
		units, err := text.In(tokens.Decimals)
		require.NoError(t, err)
		require.Equal(t, tokens.Units, units)

		encoded, err := json.Marshal(tokens)
		require.NoError(t, err)
		var decoded Tokens
		require.NoError(t, json.Unmarshal(encoded, &decoded))
		require.Equal(t, tokens, decoded)
	})
}

func TestJSON(t *testing.T) {
	encoded, err := json.Marshal(Tokens{Units: 3_500_000, Decimals: 6})
	require.NoError(t, err)
	require.JSONEq(t, `{"units":"3500000","decimals":6,"tokens":"3.500000"}`, string(encoded))
	require.Error(t, json.Unmarshal([]byte(`{"units":3.5}`), new(Tokens)))
}

// FuzzParse compares with arithmetic on fractions: an amount is accepted if and only if it is a whole number
// of base units that fits, and then it is that number.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"3.5", "3500000u", "", "0.0000001", "18446744073709.551616", "1e3", "-0", "00.00"} {
		f.Add(seed, uint8(6))
	}
	f.Fuzz(func(t *testing.T, written string, decimals uint8) {
		text, err := Parse(written)
		if err != nil {
			return
		}
		units, err := text.In(decimals)
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
		want, ok := new(big.Rat).SetString(strings.TrimSuffix(written, "u"))
		require.True(t, ok, "%q", written)
		if !strings.HasSuffix(written, "u") {
			want.Mul(want, new(big.Rat).SetInt(scale))
		}
		if err != nil {
			_, fraction, _ := strings.Cut(written, ".")
			require.True(t, !want.IsInt() || !want.Num().IsUint64() || len(fraction) > int(decimals), "%q, %d decimals: %v", written, decimals, err)
			return
		}
		require.True(t, want.IsInt())
		require.Equal(t, want.Num().Uint64(), units)
	})
}
