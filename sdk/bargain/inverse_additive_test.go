package bargain_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// With the cost never, no target makes a start of the order: only cursors and Within do. With the cost
// enough, the first target between the bounds sorts all outcomes.
const never, enough = math.MinInt64, math.MaxInt64 / 2

// TestLazyInverseAnswersAsAllOutcomesSorted runs random queries in random order, on additive utilities with
// many equal values, against three inverses: the first never sorts all outcomes, the second sorts during the
// queries, the third at once.
func TestLazyInverseAnswersAsAllOutcomesSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		domain, u := additive(t, 5, 6)
		requireAsSorted(t, domain, u)
	})
}

// requireAsSorted has random queries in a random order.
func requireAsSorted(t *rapid.T, domain *bargain.Domain, u bargain.Bounded) {
	want := bargain.NewSorted(domain, u)
	spent := rapid.SampledFrom([]int64{never, -20, 0, enough}).Draw(t, "spent")
	lazy := bargain.NewLazy(domain, u, spent)
	wantRandom, random := bargain.NewRandom(1, 2), bargain.NewRandom(1, 2)
	require.Equal(t, want.AtMost(fixed.Max), lazy.AtMost(fixed.Max))
	require.Equal(t, want.AtLeast(fixed.Min), lazy.AtLeast(fixed.Min))
	wantDown, down := want.Descend(), lazy.Descend()
	utilities := rapid.Int64Range(-20, 80)
	for range rapid.IntRange(1, 30).Draw(t, "queries") {
		target := fixed.Number(utilities.Draw(t, "target")) * fixed.One / 16
		switch rapid.IntRange(0, 30).Draw(t, "query") {
		case 0:
			high := target.Add(fixed.One)
			require.Equal(t, want.Within(target, high, wantRandom), lazy.Within(target, high, random))
		case 1:
			wantUp, up := want.Ascend(), lazy.Ascend()
			for o := wantUp.Next(); o != bargain.NoOutcome; o = wantUp.Next() {
				require.Equal(t, o, up.Next())
			}
			require.Equal(t, bargain.NoOutcome, up.Next())
		case 2, 3, 4, 5:
			for range rapid.IntRange(1, 40).Draw(t, "outcomes") {
				require.Equal(t, wantDown.Next(), down.Next())
			}
		default:
			target += fixed.Number(rapid.Int64Range(-1, 1).Draw(t, "unit"))
			require.Equal(t, want.AtLeast(target), lazy.AtLeast(target))
			require.Equal(t, want.AtMost(target), lazy.AtMost(target))
		}
	}
	for o := wantDown.Next(); o != bargain.NoOutcome; o = wantDown.Next() {
		require.Equal(t, o, down.Next())
	}
	require.Equal(t, bargain.NoOutcome, down.Next())
}

// TestLimitsOfTargets checks the largest and smallest numbers, where sums overflow.
func TestLimitsOfTargets(t *testing.T) {
	domain, u := contract(t)
	pairs, ok := bargain.NewPairs(domain, u, 100, 100)
	require.True(t, ok)
	worst, best := u.Extremes()
	for _, inverse := range []bargain.Inverse{
		bargain.NewSorted(domain, u), bargain.NewLazy(domain, u, never), pairs,
	} {
		require.Equal(t, bargain.NoOutcome, inverse.AtLeast(fixed.Max))
		require.Equal(t, worst, inverse.AtLeast(fixed.Min))
		require.Equal(t, bargain.NoOutcome, inverse.AtMost(fixed.Min))
		require.Equal(t, best, inverse.AtMost(fixed.Max))
	}
}

// TestInverseOfTheWidestRanges checks utility ranges up to the key range and beyond.
func TestInverseOfTheWidestRanges(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Integer("a", 1, 3), bargain.Integer("b", 1, 3))
	require.NoError(t, err)
	for _, last := range []fixed.Number{1<<59 - 3, 1<<59 - 2, 1<<59 - 1, 1 << 59, bargain.MaxUtility - 2} {
		u, err := utility.NewAdditive(domain, 0, nil,
			utility.Table{last / 2, 0, last}, utility.Table{-bargain.MaxUtility + 2, 0, 2})
		require.NoError(t, err)
		small, err := utility.NewAdditive(domain, 0, nil, utility.Table{last / 2, 0, last}, utility.Table{1, 0, 2})
		require.NoError(t, err)
		for _, u := range []*utility.Additive{u, small} {
			p, err := bargain.NewPreferences(domain, u, 0)
			require.NoError(t, err)
			want, inverse := bargain.NewSorted(domain, u), p.Inverse()
			for o := range bargain.Outcome(9) {
				for _, target := range []fixed.Number{u.Of(o) - 1, u.Of(o), u.Of(o) + 1} {
					require.Equal(t, want.AtLeast(target), inverse.AtLeast(target))
					require.Equal(t, want.AtMost(target), inverse.AtMost(target))
				}
			}
			wantDown, down := want.Descend(), inverse.Descend()
			for range 10 {
				require.Equal(t, wantDown.Next(), down.Next())
			}
		}
	}
}

// contract returns a utility over four issues with ten values per issue, including negative and equal values.
func contract(t testing.TB) (*bargain.Domain, *utility.Additive) {
	random := bargain.NewRandom(7, 7)
	var issues []bargain.Issue
	var values []utility.Values
	for _, name := range []string{"a", "b", "c", "d"} {
		table := make(utility.Table, 10)
		for i := range table {
			table[i] = fixed.Ratio(int64(random.Below(1000))-500, 1000)
		}
		issues, values = append(issues, bargain.Integer(name, 1, 10)), append(values, table)
	}
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	u, err := utility.NewAdditive(domain, 0, nil, values...)
	require.NoError(t, err)
	return domain, u
}

// TestLazyInverseSortsWhenItPays uses 10,000 outcomes: a single session's queries do not sort them, many
// sessions' queries do.
func TestLazyInverseSortsWhenItPays(t *testing.T) {
	domain, u := contract(t)
	lazy := bargain.NewLazy(domain, u, 0)
	target := u.Of(lazy.AtMost(fixed.Max))
	for range 50 {
		target -= fixed.One / 1000
		lazy.AtLeast(target)
	}
	require.False(t, lazy.IsSorted())
	target = u.Of(lazy.AtLeast(fixed.Min)) + fixed.One/1000
	for range 10_000 {
		lazy.AtMost(target)
	}
	require.True(t, lazy.IsSorted())
	cursor := bargain.NewLazy(domain, u, 0)
	for at, down := 0, cursor.Descend(); at < 500; at++ {
		down.Next()
	}
	require.False(t, cursor.IsSorted())
}

// TestQueriesAllocateNothing checks an inverse with complete lists, and an inverse that has sorted all
// outcomes.
func TestQueriesAllocateNothing(t *testing.T) {
	domain, u := contract(t)
	for _, spent := range []int64{never, enough} {
		lazy := bargain.NewLazy(domain, u, spent)
		target, down := u.Of(lazy.AtMost(fixed.Max))-fixed.One, lazy.Descend()
		require.Zero(t, testing.AllocsPerRun(100, func() {
			target -= fixed.One / 1000
			lazy.AtLeast(target)
			lazy.AtMost(target)
		}))
		for range 200 {
			down.Next() // the start of the order is kept for the next cursor
		}
		down = lazy.Descend()
		require.Zero(t, testing.AllocsPerRun(100, func() { down.Next() }))
	}
}

// TestGoroutinesShareALazyInverse compares results between several goroutines that build the parts
// concurrently.
func TestGoroutinesShareALazyInverse(t *testing.T) {
	domain, u := contract(t)
	want, lazy := bargain.NewSorted(domain, u), bargain.NewLazy(domain, u, 0)
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			down, wantDown := lazy.Descend(), want.Descend()
			for step := range 1000 {
				target := u.Of(want.AtMost(fixed.Max)) - fixed.Number(step+worker)*fixed.One/300
				if got := lazy.AtLeast(target); got != want.AtLeast(target) {
					t.Errorf("target %s: %d", target, got)
				}
				if got, o := down.Next(), wantDown.Next(); got != o {
					t.Errorf("rank %d: %d, not %d", step, got, o)
				}
			}
		})
	}
	group.Wait()
	require.True(t, lazy.IsSorted())
}

// BenchmarkInverseOfAContract compares both ways to a session's 60 targets of 10,000 outcomes, from new
// preferences.
func BenchmarkInverseOfAContract(b *testing.B) {
	for name, of := range map[string]func(*bargain.Domain, *utility.Additive) bargain.Inverse{
		"lazy": func(d *bargain.Domain, u *utility.Additive) bargain.Inverse {
			return bargain.NewLazy(d, u, 0)
		},
		"sorted": func(d *bargain.Domain, u *utility.Additive) bargain.Inverse {
			return bargain.NewSorted(d, u)
		},
	} {
		b.Run(name, func(b *testing.B) {
			domain, u := contract(b)
			for b.Loop() {
				inverse := of(domain, u)
				for step := range fixed.Number(60) {
					inverse.AtLeast(u.Of(inverse.AtMost(fixed.Max)) - step*fixed.One/100)
				}
			}
		})
	}
}
