package utility_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

func domain(t *testing.T, issues ...bargain.Issue) *bargain.Domain {
	d, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	return d
}

func TestAdditiveIsTheWeightedSum(t *testing.T) {
	d := domain(t, bargain.Categorical("a", "x", "y"), bargain.Integer("b", 0, 4))
	u, err := utility.NewAdditive(d, fixed.One/10, []fixed.Number{fixed.One / 4, fixed.One / 2},
		utility.Table{0, fixed.One}, utility.Line{Last: fixed.One, Count: 5})
	require.NoError(t, err)
	require.Equal(t, "0.1", u.Of(d.Outcome(0, 0)).String())
	require.Equal(t, "0.725", u.Of(d.Outcome(1, 3)).String())
	worst, best := u.Extremes()
	require.Equal(t, d.Outcome(0, 0), worst)
	require.Equal(t, d.Outcome(1, 4), best)
	_, err = utility.NewAdditive(d, 0, nil, utility.Table{0}, utility.Line{Count: 5})
	require.EqualError(t, err, `utility: invalid utility: issue "a": 1 values for an issue with 2`)
	_, err = utility.NewAdditive(d, 0, nil, utility.Table{0, fixed.Max}, utility.Line{Count: 5})
	require.ErrorIs(t, err, utility.ErrUtility)
}

func TestHyperRectanglesAddUp(t *testing.T) {
	d := domain(t, bargain.Integer("a", 0, 9), bargain.Integer("b", 0, 9))
	u, err := utility.NewHyperRectangle(d, fixed.One,
		utility.Rectangle{Ranges: []utility.Range{{0, 2, 5}, {1, 0, 3}}, Value: 2 * fixed.One},
		utility.Rectangle{Ranges: []utility.Range{{1, 3, 9}}, Value: 3 * fixed.One})
	require.NoError(t, err)
	require.Equal(t, fixed.One, u.Of(d.Outcome(0, 0)))
	require.Equal(t, 3*fixed.One, u.Of(d.Outcome(5, 0)))
	require.Equal(t, 6*fixed.One, u.Of(d.Outcome(2, 3)))
	require.Equal(t, 4*fixed.One, u.Of(d.Outcome(6, 9)))
	_, err = utility.NewHyperRectangle(d, 0, utility.Rectangle{Ranges: []utility.Range{{2, 0, 0}}})
	require.ErrorIs(t, err, utility.ErrUtility)
}

// TestInverseOfALargeNonlinearUtility uses a domain of 10^10 outcomes. The inverse knows only a sample.
func TestInverseOfALargeNonlinearUtility(t *testing.T) {
	var issues []bargain.Issue
	for at := range 10 {
		issues = append(issues, bargain.Integer(string(rune('a'+at)), 0, 9))
	}
	d := domain(t, issues...)
	random := bargain.NewRandom(1, 1)
	var rectangles []utility.Rectangle
	for range 50 {
		r := utility.Rectangle{Value: fixed.One / 50}
		for range 3 {
			first := random.Below(7)
			r.Ranges = append(r.Ranges, utility.Range{Issue: int(random.Below(10)), First: first, Last: first + 3})
		}
		rectangles = append(rectangles, r)
	}
	u, err := utility.NewHyperRectangle(d, 0, rectangles...)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(d, u, 0)
	require.NoError(t, err)
	inverse := p.Inverse()
	require.False(t, inverse.Exact())
	for level := range int64(11) {
		target := p.Target(fixed.Ratio(level, 10))
		o := inverse.AtLeast(target)
		require.GreaterOrEqual(t, u.Of(o), target)
		require.LessOrEqual(t, u.Of(o), target+fixed.One/50)
	}
	// A random outcome is hardly ever as good as what the climbs have found.
	best := u.Of(inverse.AtMost(fixed.Max))
	for range 1000 {
		require.LessOrEqual(t, u.Of(bargain.Outcome(random.Below(d.Size()))), best)
	}
}

func TestMappingsHaveAValueForEachOutcome(t *testing.T) {
	d := domain(t, bargain.Categorical("a", "x", "y"))
	u, err := utility.NewMapping(d, []fixed.Number{3, 4})
	require.NoError(t, err)
	require.Equal(t, fixed.Number(4), u.Of(1))
	require.Equal(t, []fixed.Number{3, 4}, u.Utilities())
	_, err = utility.NewMapping(d, []fixed.Number{3})
	require.ErrorIs(t, err, utility.ErrUtility)
	_, err = utility.NewMapping(d, []fixed.Number{0, -bargain.MaxUtility - 1})
	require.EqualError(t, err, "utility: invalid utility: -1000000.000000000001 exceeds the limit")
}

func TestExtremesOfAMappingAreTheFirstOfEqualOnes(t *testing.T) {
	u, err := utility.NewMapping(domain(t, bargain.Integer("a", 1, 6)), []fixed.Number{2, 1, 5, 1, 5, 3})
	require.NoError(t, err)
	worst, best := u.Extremes()
	require.Equal(t, [2]bargain.Outcome{1, 2}, [2]bargain.Outcome{worst, best})
}
