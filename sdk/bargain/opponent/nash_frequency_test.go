package opponent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/opponent"
)

// TestNashFrequency checks against GENIUS' formulas. After the prices 0 and 2 the peak is 3/4 * 0 + 1/4 * 2 =
// .5; half the range is 5, so the zero points are -4.5 and, because -4.5 is outside, the upper end. The
// standard deviation is 1, so the price weighs 1 - 2 * 1/10 = .8, and b weighs 1: normalized 4/9 and 5/9.
//
// After 8 the peak is 5/8 * 0 + 1/4 * 2 + 1/8 * 8 = 1.5, the variance (0 + 4 + 64)/3 - (10/3)^2 = 104/9, and
// the weight 1 - 2 * 3.399346/10 = .320131. The weight of b is 2/3: normalized .324414 and .675586.
func TestNashFrequency(t *testing.T) {
	s := seat(t, bargain.Price("price", 0, 10, 1), bargain.Categorical("b", "x", "y"))
	m := opponent.NashFrequency{}.Model(s)
	require.Zero(t, m.Of(0))
	requireEstimate := func(price, b uint64, want, formula string) {
		u := m.Of(s.Preferences.Domain().Outcome(price, b))
		require.InDelta(t, int64(number(t, want)), int64(u), 5, "price %d: %s", price, formula)
	}
	observe(s, m, []uint64{0, 0}, []uint64{2, 0})
	requireEstimate(0, 0, "0.955555555556", "4/9 * (0+4.5)/5 + 5/9")
	requireEstimate(5, 0, "0.789473684211", "4/9 * (10-5)/9.5 + 5/9")
	requireEstimate(10, 0, "0.555555555556", "4/9 * 0 + 5/9")
	requireEstimate(5, 1, "0.233918128655", "b has another value: 0")
	observe(s, m, []uint64{8, 1})
	requireEstimate(0, 0, "0.902675848525", ".324414 * (0+3.5)/5 + .675586")
	requireEstimate(8, 1, "0.414125748699", ".324414 * (10-8)/8.5 + .675586/2")
}

// TestNashFrequencyMirrorsTheUpperHalf mirrors the offers in TestNashFrequency from the upper end down, with
// integers that do not begin at 0: price p there becomes index 10-p here. GENIUS' code would put the lower
// zero point at index 7, and give lower values no utility.
func TestNashFrequencyMirrorsTheUpperHalf(t *testing.T) {
	s := seat(t, bargain.Integer("number", -5, 5), bargain.Ordered("b", "x", "y"))
	m := opponent.NashFrequency{}.Model(s)
	observe(s, m, []uint64{10, 0}, []uint64{8, 0}, []uint64{2, 1})
	for _, test := range []struct {
		number, b uint64
		want      string
	}{{10, 0, "0.902675848525"}, {9, 0, "0.967558616175"}, {5, 0, "0.866417831309"}, {2, 1, "0.414125748699"}} {
		u := m.Of(s.Preferences.Domain().Outcome(test.number, test.b))
		require.InDelta(t, int64(number(t, test.want)), int64(u), 5, "number %d", test.number)
	}
}

// TestNashFrequencyOfOneOffer checks a peak in the middle, with 0 at the ends, and an issue with a single
// value.
func TestNashFrequencyOfOneOffer(t *testing.T) {
	s := seat(t, bargain.Real("real", 0, fixed.One, fixed.One/10), bargain.Integer("single", 7, 7))
	m := opponent.NashFrequency{}.Model(s)
	observe(s, m, []uint64{5, 0})
	for index := range 11 {
		u := m.Of(s.Preferences.Domain().Outcome(uint64(index), 0))
		want := fixed.One/2 + fixed.One/10*fixed.Number(min(index, 10-index)) // 1/2 (1 - |value-.5|/.5) + 1/2
		require.InDelta(t, int64(want), int64(u), 2, "index %d", index)
	}
}

// TestNashFrequencyWithoutWeights uses offers at opposite ends, so the standard deviation is half the range and
// all weights are 0: then the weights become equal.
func TestNashFrequencyWithoutWeights(t *testing.T) {
	s := seat(t, bargain.Integer("a", 0, 4), bargain.Integer("b", 0, 4))
	m := opponent.NashFrequency{}.Model(s)
	observe(s, m, []uint64{0, 4}, []uint64{4, 0})
	// The peaks 1 and 3 are worth 1; a=4 and b=0 are worth 1 - 3/3 = 0.
	require.Equal(t, fixed.One, m.Of(s.Preferences.Domain().Outcome(1, 3)))
	require.Equal(t, fixed.One/2, m.Of(s.Preferences.Domain().Outcome(1, 0)))
	require.Zero(t, m.Of(s.Preferences.Domain().Outcome(4, 0)))
}
