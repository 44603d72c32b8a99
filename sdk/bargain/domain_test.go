package bargain_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

func TestOutcomesAreCombinationsOfValues(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 10, 30, 5), bargain.Integer("days", -1, 1),
		bargain.Real("rate", fixed.One/10, fixed.One/2, fixed.One/10), bargain.Ordered("tier", "low", "high"))
	require.NoError(t, err)
	require.Equal(t, uint64(5*3*5*2), domain.Size())
	o := domain.Outcome(3, 0, 4, 1)
	require.Equal(t, "price=25, days=-1, rate=0.5, tier=high", domain.Text(o))
	require.Equal(t, "price=25, days=1, rate=0.5, tier=high", domain.Text(domain.With(o, 1, 2)))
	require.Equal(t, bargain.NoOutcome, domain.Outcome(5, 0, 0, 0))
	require.Equal(t, "none", domain.Text(bargain.NoOutcome))
	rapid.Check(t, func(t *rapid.T) {
		o := bargain.Outcome(rapid.Uint64Max(domain.Size()-1).Draw(t, "o"))
		var indices []uint64
		for at := range domain.Len() {
			indices = append(indices, domain.Value(o, at))
		}
		require.Equal(t, o, domain.Outcome(indices...))
	})
}

// names returns more names than are compared pairwise.
func names(count int) (list []string) {
	for i := range count {
		list = append(list, fmt.Sprintf("n%d", i))
	}
	return list
}

func issuesNamed(names []string) (issues []bargain.Issue) {
	for _, name := range names {
		issues = append(issues, bargain.Integer(name, 0, 0))
	}
	return issues
}

func TestInvalidDomains(t *testing.T) {
	for want, issues := range map[string][]bargain.Issue{
		"bargain: invalid domain: no issues":                          nil,
		`bargain: invalid domain: issue "a" has no values`:            {bargain.Price("a", 2, 1, 1)},
		`bargain: invalid domain: two issues are named "a"`:           {bargain.Integer("a", 0, 1), bargain.Integer("a", 0, 1)},
		`bargain: invalid domain: issue "a" has the value "x" twice`:  {bargain.Categorical("a", "x", "x")},
		`bargain: invalid domain: issue "b" has no values`:            {bargain.Real("b", 0, 1, 0)},
		"bargain: invalid domain: more than 2^64-1 outcomes":          {bargain.Integer("a", 0, math.MaxInt64), bargain.Integer("b", 0, 2)},
		`bargain: invalid domain: issue "a" has unknown kind 9`:       {{Name: "a", Kind: 9, Count: 1}},
		`bargain: invalid domain: issue "a" has 0 names for 2 values`: {{Name: "a", Kind: bargain.KindOrdered, Count: 2}},
		`bargain: invalid domain: issue "a" has a tick of 0 or values beyond 64 bits`: {
			{Name: "a", Kind: bargain.KindInteger, Count: 3, First: math.MaxInt64, Tick: 1}},
		`bargain: invalid domain: issue "many" has the value "n7" twice`: {
			bargain.Ordered("many", append(names(40), "n7")...)},
		`bargain: invalid domain: two issues are named "n3"`: append(
			issuesNamed(names(40)), bargain.Integer("n3", 0, 0)),
	} {
		_, err := bargain.NewDomain(issues...)
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, bargain.ErrDomain)
	}
}

func TestNearestPrice(t *testing.T) {
	issue := bargain.Price("p", 10, 30, 5)
	for amount, index := range map[uint64]uint64{0: 0, 10: 0, 12: 0, 13: 1, 15: 1, 30: 4, 99: 4} {
		require.Equal(t, index, issue.Nearest(amount), "%d", amount)
	}
}

func TestRandomNumbersAreThoseOfTheSeed(t *testing.T) {
	r := bargain.NewRandom(1, 2)
	var got []uint64
	for range 4 {
		got = append(got, r.Below(1000))
	}
	r.Reset(1, 2)
	for _, want := range got {
		require.Equal(t, want, r.Below(1000))
	}
	// The stream must not change: replaying recorded strategies depends on it.
	require.Equal(t, []uint64{769, 616, 784, 796}, got)
	require.Zero(t, r.Below(0))
}

func TestDiscountsReduceAgreements(t *testing.T) {
	d := bargain.Discount{Factor: fixed.One / 2}
	require.Equal(t, fixed.One/2, d.At(fixed.One, 3, fixed.One))
	require.InDelta(t, 707_106_781_187, int64(d.At(fixed.One, 3, fixed.One/2)), 1)
	d = bargain.Discount{Factor: fixed.One / 10 * 9, PerStep: true, Cost: fixed.One / 100}
	require.InDelta(t, 729_000_000_000-30_000_000_000, int64(d.At(fixed.One, 3, fixed.One/2)), 1)
}
