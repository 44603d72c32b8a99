package bargain_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// TestLazyInverseOfATableAnswersAsAllOutcomesSorted checks tables with many equal utilities and some
// outliers: over all outcomes, over a single issue, and for a utility that does not store a table.
func TestLazyInverseOfATableAnswersAsAllOutcomesSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Custom(func(t *rapid.T) fixed.Number {
			u := fixed.Number(rapid.Int64Range(-16, 64).Draw(t, "value")) * fixed.One / 16
			if rapid.IntRange(0, 40).Draw(t, "far") == 0 {
				return u * 10_000
			}
			return u
		})
		table := rapid.SliceOfN(value, 1, 200).Draw(t, "table")
		domain := single(t, int64(len(table)))
		mapping, err := utility.NewMapping(domain, table)
		require.NoError(t, err)
		requireAsSorted(t, domain, mapping)
		requireAsSorted(t, domain, struct{ bargain.Bounded }{mapping})
		additive, err := utility.NewAdditive(domain, fixed.One/3, nil, utility.Table(table))
		require.NoError(t, err)
		if additive.Direction(0) == 0 {
			requireAsSorted(t, domain, additive)
		}
	})
}

// single returns a domain with one issue.
func single(t require.TestingT, count int64) *bargain.Domain {
	domain, err := bargain.NewDomain(bargain.Integer("issue", 1, count))
	require.NoError(t, err)
	return domain
}

func preferences(t *testing.T, domain *bargain.Domain, u bargain.Utility) *bargain.Preferences {
	p, err := bargain.NewPreferences(domain, u, 0)
	require.NoError(t, err)
	return p
}

// TestTargetsInATableSortNothing runs a session's queries on 10,000 outcomes. They need an index with 4 bytes
// per outcome plus the chain heads; sorting all outcomes takes 16 bytes per outcome.
func TestTargetsInATableSortNothing(t *testing.T) {
	random := bargain.NewRandom(9, 9)
	table := make([]fixed.Number, 10_000)
	for o := range table {
		table[o] = fixed.Number(random.Below(uint64(fixed.One)))
	}
	domain, err := bargain.NewDomain(bargain.Integer("a", 1, 100), bargain.Integer("b", 1, 100))
	require.NoError(t, err)
	u, err := utility.NewMapping(domain, table)
	require.NoError(t, err)
	lazy := bargain.NewLazy(domain, u, 0)
	for step := range fixed.Number(20) {
		lazy.AtLeast(step * fixed.One / 20)
	}
	require.False(t, lazy.IsSorted())
	for range 30_000 {
		lazy.AtMost(fixed.One / 50)
	}
	require.True(t, lazy.IsSorted(), "many sessions sort")
	additive, err := utility.NewAdditive(single(t, 10_000), 0, nil, utility.Table(table))
	require.NoError(t, err)
	for _, p := range []*bargain.Preferences{preferences(t, domain, u), preferences(t, single(t, 10_000), additive)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p.Inverse().AtLeast(fixed.One / 2)
		_, best := p.Extremes()
		require.Equal(t, best, p.Inverse().Descend().Next())
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(80_000))
	}

	for o := range table[1:] { // all but one in the same bucket
		table[o] = fixed.Number(o)
	}
	table[9_999] = 1000 * fixed.One
	u, err = utility.NewMapping(domain, table)
	require.NoError(t, err)
	lazy = bargain.NewLazy(domain, u, 0)
	for o := range fixed.Number(3) {
		require.EqualValues(t, 5_000+o, lazy.AtLeast(5_000+o))
	}
	require.True(t, lazy.IsSorted(), "crowded buckets cost more than a sort")
}
