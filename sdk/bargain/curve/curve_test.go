package curve_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// TestKnownValues checks the published formulas' values, computed with 30 digits.
func TestKnownValues(t *testing.T) {
	half, tenth := fixed.One/2, fixed.One/10
	for _, test := range []struct {
		name  string
		curve curve.Curve
		t     fixed.Number
		want  string
	}{
		{"Faratin polynomial, k=.1, e=.2: .9 (1-.5^5)", curve.Polynomial{K: tenth, E: fixed.One / 5}, half, "0.871875"},
		{"GENIUS Boulware: 1-.5^5", curve.GeniusBoulware, half, "0.96875"},
		{"GENIUS linear", curve.GeniusLinear, half, "0.5"},
		{"GENIUS Conceder: 1-sqrt .5", curve.GeniusConceder, half, "0.292893218813"},
		{"GENIUS hardliner", curve.Polynomial{}, half, "1"},
		{"Faratin exponential at the start: k", curve.Exponential{K: tenth, E: fixed.One}, 0, "0.9"},
		{"Faratin exponential: 1-sqrt .1", curve.Exponential{K: tenth, E: fixed.One}, half, "0.683772233983"},
		{"Faratin exponential at the end", curve.Exponential{K: tenth, E: fixed.One}, fixed.One, "0"},
		{"Faratin exponential, e=.2: 1-.1^(.5^.2)",
			curve.Exponential{K: tenth, E: fixed.One / 5}, half, "0.865274613956"},
		{"Faratin exponential, e=2: 1-.1^(.9^2)",
			curve.Exponential{K: tenth, E: 2 * fixed.One}, tenth, "0.845118338109"},
		{"Faratin exponential, k=.5, e=2: 1-.5^.25",
			curve.Exponential{K: half, E: 2 * fixed.One}, half, "0.159103584746"},
		{"NegMAS aspiration: .8 (1-.1^2)",
			curve.Aspiration{Max: 8 * tenth, Exponent: 2 * fixed.One}, tenth, "0.792"},
		{"NegMAS Boulware: 1-.5^4", curve.NegmasBoulware, half, "0.9375"},
		{"NegMAS Conceder: 1-.5^.25", curve.NegmasConceder, half, "0.159103584746"},
		{"NegMAS exponential: (sqrt e - 1)/(e-1)", curve.ExpAspiration{Max: fixed.One, Exponent: fixed.One}, half, "0.377540668798"},
		{"NegMAS exponential: (e^.5^.125 - 1)/(e-1)",
			curve.ExpAspiration{Max: fixed.One, Exponent: fixed.One / 8}, half, "0.874003256986"},
		{"NegMAS exponential: .9 (e^.9^4 - 1)/(e-1)",
			curve.ExpAspiration{Max: 9 * tenth, Exponent: 4 * fixed.One}, tenth, "0.485680050579"},
		{"Bezier: .81 + .18*.75 + .01*.7",
			curve.Bezier{Start: fixed.One, Middle: fixed.One / 4 * 3, End: 7 * tenth}, tenth, "0.952"},
		{"Bezier: 1/4 + .75/2 + .7/4", curve.Bezier{Start: fixed.One, Middle: fixed.One / 4 * 3, End: fixed.One / 10 * 7}, half, "0.8"},
		{"constant", curve.Constant(half), half, "0.5"},
	} {
		got := test.curve.Level(test.t)
		want, err := fixed.Parse(test.want)
		require.NoError(t, err)
		require.InDelta(t, int64(want), int64(got), 2, "%s: %s", test.name, got)
	}
}

func TestCurvesFallFromTheBestToTheReservationValue(t *testing.T) {
	for _, c := range []curve.Curve{
		curve.GeniusBoulware, curve.GeniusLinear, curve.GeniusConceder, curve.NegmasBoulware, curve.NegmasLinear,
		curve.NegmasConceder, curve.Exponential{K: fixed.One / 10, E: fixed.One / 5},
		curve.ExpAspiration{Max: fixed.One, Exponent: fixed.One / 8},
	} {
		last := c.Level(0)
		require.InDelta(t, int64(fixed.One), int64(last), float64(fixed.One/10)+1)
		for step := range int64(1000) {
			level := c.Level(fixed.Ratio(step+1, 1000))
			require.LessOrEqual(t, level, last)
			last = level
		}
		require.InDelta(t, 0, int64(last), 2)
	}
}

// TestLevelsAreMonotoneAndInRange checks all kinds of curves with random parameters and times. Rounding can
// raise a level by 10^-12; a Bezier curve's three terms by 3 * 10^-12, even beyond 1.
func TestLevelsAreMonotoneAndInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string, least, most fixed.Number) fixed.Number {
			if rapid.Bool().Draw(t, "any") {
				return fixed.Number(rapid.Int64Range(int64(least), int64(most)).Draw(t, name)) // mostly near 0
			}
			return least + (most-least).Scale(rapid.Int64Range(0, 20).Draw(t, name), 20)
		}
		level := func(name string, most fixed.Number) fixed.Number { return number(name, 0, most) }
		exponent := number("exponent", 1, 20*fixed.One)
		start := level("start", fixed.One)
		middle := level("middle", start)
		c := rapid.SampledFrom([]curve.Curve{
			curve.Polynomial{K: start, E: exponent}, curve.Polynomial{K: start},
			curve.Exponential{K: max(start, 1), E: exponent}, curve.Exponential{K: max(start, 1)},
			curve.Aspiration{Max: start, Exponent: exponent}, curve.ExpAspiration{Max: start, Exponent: exponent},
			curve.Bezier{Start: start, Middle: middle, End: level("end", middle)}, curve.Constant(start),
		}).Draw(t, "curve")
		later := level("later", fixed.One)
		earlier := level("earlier", later)
		rise, beyond := fixed.Number(1), fixed.Number(0)
		if _, ok := c.(curve.Bezier); ok {
			rise, beyond = 3, 3
		}
		require.LessOrEqual(t, c.Level(later), c.Level(earlier)+rise, "%#v", c)
		for _, time := range []fixed.Number{0, earlier, later, fixed.One} {
			u := c.Level(time)
			require.True(t, 0 <= u && u <= fixed.One+beyond, "%#v at %s: %s", c, time, u)
		}
	})
}

// TestRoundingDoesNotMakeALevelNegative checks the deadline, where e * e^-1 rounds to less than 1.
func TestRoundingDoesNotMakeALevelNegative(t *testing.T) {
	require.Zero(t, curve.ExpAspiration{Max: fixed.One, Exponent: fixed.One}.Level(fixed.One))
}

func TestTablesHaveTheCurvesLevels(t *testing.T) {
	table := curve.Tabulate(curve.NegmasBoulware, 10)
	require.Same(t, table, curve.Tabulate(curve.NegmasBoulware, 10))
	require.Equal(t, 10, table.Len())
	for step := range 10 {
		time := fixed.Ratio(int64(step)+1, 11)
		require.True(t, table.Has(step, time))
		require.Equal(t, curve.NegmasBoulware.Level(time), table.At(step, time))
		require.False(t, table.Has(step, time+1))
		require.Equal(t, curve.NegmasBoulware.Level(time+1), table.At(step, time+1))
	}
	require.Zero(t, curve.Tabulate(curve.NegmasBoulware, 0).Len())
}

func BenchmarkTabulate(b *testing.B) {
	for b.Loop() {
		for step := range int64(100) {
			curve.NegmasConceder.Level(fixed.Ratio(step+1, 101))
		}
	}
}
