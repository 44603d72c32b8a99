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

// additive draws a domain and an additive utility with many equal values.
func additive(t *rapid.T, issues, most int) (*bargain.Domain, *utility.Additive) {
	var list []bargain.Issue
	var values []utility.Values
	for at := range rapid.IntRange(1, issues).Draw(t, "issues") {
		count := rapid.IntRange(1, most).Draw(t, "count")
		list = append(list, bargain.Integer(string(rune('a'+at)), 1, int64(count)))
		value := rapid.Custom(func(t *rapid.T) fixed.Number {
			return fixed.Number(rapid.Int64Range(-3, 9).Draw(t, "value")) * fixed.One / 4
		})
		if rapid.Bool().Draw(t, "line") {
			values = append(values, utility.Line{
				First: value.Draw(t, "first"), Last: value.Draw(t, "last"), Count: uint64(count),
			})
		} else {
			values = append(values, utility.Table(rapid.SliceOfN(value, count, count).Draw(t, "table")))
		}
	}
	domain, err := bargain.NewDomain(list...)
	require.NoError(t, err)
	u, err := utility.NewAdditive(domain, fixed.One/8, nil, values...)
	require.NoError(t, err)
	return domain, u
}

// requireInverse compares an inverse with an enumeration.
func requireInverse(t *rapid.T, domain *bargain.Domain, u bargain.Utility, inverse bargain.Inverse, ties bool) {
	target := fixed.Number(rapid.Int64Range(-20, 80).Draw(t, "target")) * fixed.One / 16
	high := target.Add(fixed.Number(rapid.Int64Range(0, 20).Draw(t, "width")) * fixed.One / 16)
	atLeast, atMost, best, worst := bargain.NoOutcome, bargain.NoOutcome, bargain.Outcome(0), bargain.Outcome(0)
	within := 0
	for o := range bargain.Outcome(domain.Size()) {
		value := u.Of(o)
		if value >= target && (atLeast == bargain.NoOutcome || value < u.Of(atLeast)) {
			atLeast = o
		}
		if value <= target && (atMost == bargain.NoOutcome || value > u.Of(atMost)) {
			atMost = o
		}
		if value > u.Of(best) {
			best = o
		}
		if value < u.Of(worst) {
			worst = o
		}
		if target <= value && value <= high {
			within++
		}
	}
	require.Equal(t, atLeast, inverse.AtLeast(target))
	require.Equal(t, atMost, inverse.AtMost(target))
	require.Equal(t, u.Of(best), u.Of(inverse.AtMost(fixed.Max)))
	require.Equal(t, u.Of(worst), u.Of(inverse.AtLeast(fixed.Min)))
	random := bargain.NewRandom(1, 2)
	for range 5 {
		o := inverse.Within(target, high, random)
		require.Equal(t, within == 0, o == bargain.NoOutcome)
		if o != bargain.NoOutcome {
			require.True(t, target <= u.Of(o) && u.Of(o) <= high)
		}
	}
	requireCursor(t, domain, u, inverse.Descend(), -1, ties)
	requireCursor(t, domain, u, inverse.Ascend(), 1, ties)
}

// requireCursor requires all outcomes, sorted by utility, equal utilities by number.
func requireCursor(t *rapid.T, domain *bargain.Domain, u bargain.Utility, cursor bargain.Cursor, sign int64, ties bool) {
	seen := map[bargain.Outcome]bool{}
	last := bargain.NoOutcome
	for o := cursor.Next(); o != bargain.NoOutcome; o = cursor.Next() {
		require.False(t, seen[o])
		seen[o] = true
		if last != bargain.NoOutcome {
			step := int64(u.Of(o)-u.Of(last)) * sign
			require.GreaterOrEqual(t, step, int64(0))
			require.True(t, step > 0 || !ties || o > last)
		}
		last = o
	}
	require.Len(t, seen, int(domain.Size()))
	require.Equal(t, bargain.NoOutcome, cursor.Next())
}

func TestInverseMatchesEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		domain, u := additive(t, 3, 8)
		p, err := bargain.NewPreferences(domain, u, 0)
		require.NoError(t, err)
		require.True(t, p.Inverse().Exact())
		requireInverse(t, domain, u, p.Inverse(), true)
	})
}

func TestInverseByPairsMatchesEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		domain, u := additive(t, 4, 6)
		for _, limits := range [][2]uint64{{1 << 18, 1 << 16}, {6, 1 << 16}, {2, 1 << 16}} {
			inverse, ok := bargain.NewPairs(domain, u, limits[0], limits[1])
			if !ok {
				continue
			}
			require.True(t, inverse.Exact())
			requireInverse(t, domain, u, inverse, false)
		}
	})
}

func TestInverseOfMoreIssuesThanTheListsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		domain, u := additive(t, 5, 6)
		inverse, ok := bargain.NewPairs(domain, u, 6, 6)
		if !ok || inverse.Exact() {
			return
		}
		target := fixed.Number(rapid.Int64Range(-20, 80).Draw(t, "target")) * fixed.One / 16
		if o := inverse.AtLeast(target); o == bargain.NoOutcome {
			require.Less(t, u.Of(inverse.AtMost(fixed.Max)), target)
		} else {
			require.GreaterOrEqual(t, u.Of(o), target)
		}
		if o := inverse.AtMost(target); o == bargain.NoOutcome {
			require.Greater(t, u.Of(inverse.AtLeast(fixed.Min)), target)
		} else {
			require.LessOrEqual(t, u.Of(o), target)
		}
		last, cursor := u.Of(inverse.AtMost(fixed.Max))+1, inverse.Descend()
		for o := cursor.Next(); o != bargain.NoOutcome; o = cursor.Next() {
			require.Less(t, u.Of(o), last)
			last = u.Of(o)
		}
	})
}

func TestInverseOfLargeDomains(t *testing.T) {
	tenth := make(utility.Table, 10)
	for i := range tenth {
		tenth[i] = fixed.Ratio(int64(i*i), 810)
	}
	var issues []bargain.Issue
	var values []utility.Values
	for at := range 18 {
		issues = append(issues, bargain.Integer(string(rune('a'+at)), 0, 9))
		values = append(values, tenth)
	}
	for _, count := range []int{9, 10, 18} { // 10^9, 10^10 and 10^18 outcomes
		domain, err := bargain.NewDomain(issues[:count]...)
		require.NoError(t, err)
		u, err := utility.NewAdditive(domain, 0, nil, values[:count]...)
		require.NoError(t, err)
		p, err := bargain.NewPreferences(domain, u, 0)
		require.NoError(t, err)
		require.Equal(t, count == 9, p.Inverse().Exact())
		for level := range int64(11) {
			target := p.Target(fixed.Ratio(level, 10))
			o := p.Inverse().AtLeast(target)
			require.True(t, domain.Has(o))
			require.True(t, target <= u.Of(o) && u.Of(o) < target+fixed.One/500, "%s for %s", u.Of(o), target)
		}
	}
}

func TestInverseOfAPriceOfAnySize(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 1, 1<<64-1, 1))
	require.NoError(t, err)
	for _, seller := range []bool{true, false} {
		u, err := utility.PriceLine(domain, seller)
		require.NoError(t, err)
		p, err := bargain.NewPreferences(domain, u, 0)
		require.NoError(t, err)
		middle := p.Inverse().AtLeast(fixed.One / 2)
		require.Equal(t, fixed.One/2, u.Of(middle))
		require.Equal(t, fixed.One, u.Of(p.Inverse().AtMost(fixed.Max)))
		require.Equal(t, fixed.Number(0), u.Of(p.Inverse().AtLeast(fixed.Min)))
	}
}

// TestALargePriceAndOneValueAreNotListed checks an issue with a single value, before and after a price.
func TestALargePriceAndOneValueAreNotListed(t *testing.T) {
	const count = 1 << 22
	price, line := bargain.Price("price", 0, count-1, 1), utility.Line{Last: fixed.One / 2, Count: count}
	single, value := bargain.Integer("days", 3, 3), utility.Table{fixed.One / 4}
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		issues, values := [2]bargain.Issue{}, [2]utility.Values{}
		issues[order[0]], values[order[0]] = price, line
		issues[order[1]], values[order[1]] = single, value
		domain, err := bargain.NewDomain(issues[:]...)
		require.NoError(t, err)
		u, err := utility.NewAdditive(domain, 0, nil, values[:]...)
		require.NoError(t, err)
		p, err := bargain.NewPreferences(domain, u, 0)
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.EqualValues(t, count/2, p.Inverse().AtLeast(u.Of(count/2)))
		require.True(t, p.Inverse().Exact())
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	}
}

func BenchmarkAtLeastOfABillionOutcomes(b *testing.B) {
	tenth := make(utility.Table, 10)
	var issues []bargain.Issue
	var values []utility.Values
	for at := range 9 {
		tenth[at] = fixed.Ratio(int64(at*at), 810)
		issues, values = append(issues, bargain.Integer(string(rune('a'+at)), 0, 9)), append(values, tenth)
	}
	domain, _ := bargain.NewDomain(issues...)
	u, _ := utility.NewAdditive(domain, 0, nil, values...)
	p, _ := bargain.NewPreferences(domain, u, 0)
	p.Inverse()
	for b.Loop() {
		p.Inverse().AtLeast(fixed.One / 3)
	}
}

// TestWideRangesNeedLittleMemory uses 2^20 outcomes with utilities too far apart for keys.
func TestWideRangesNeedLittleMemory(t *testing.T) {
	issues, values := make([]bargain.Issue, 20), make([]utility.Values, 20)
	random := bargain.NewRandom(1, 1)
	for at := range issues {
		issues[at] = bargain.Integer(string(rune('a'+at)), 0, 1)
		values[at] = utility.Table{0, fixed.Number(random.Below(uint64(fixed.One) / 20))}
	}
	values[0], values[1] = utility.Table{0, 9 * fixed.One}, utility.Table{0, 900_000 * fixed.One}
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	u, err := utility.NewAdditive(domain, 0, nil, values...)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, 0)
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p.Inverse().AtLeast(fixed.One)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// TestAdditiveNeedsNoTables uses a custom additive utility, over more outcomes than can be sorted.
func TestAdditiveNeedsNoTables(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Integer("a", 1, 3000), bargain.Integer("b", 1, 3000))
	require.NoError(t, err)
	line := utility.Line{Last: fixed.One / 2, Count: 3000}
	u, err := utility.NewAdditive(domain, 0, nil, line, line)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, struct{ bargain.Additive }{u}, 0)
	require.NoError(t, err)
	require.True(t, p.Inverse().Exact())
}

// TestNegmasOrderIsAnOrderOfUtility compares the inverse in NegMAS' order with an enumeration. Among equal
// utilities the outcomes can differ; tests/negmas compares these with NegMAS.
func TestNegmasOrderIsAnOrderOfUtility(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		domain, u := additive(t, 3, 8)
		reservation := fixed.Number(rapid.Int64Range(-3, 9).Draw(t, "reservation")) * fixed.One / 4
		byNumber, err := bargain.NewPreferences(domain, u, reservation)
		require.NoError(t, err)
		p, err := byNumber.AsNegmas()
		require.NoError(t, err)
		require.Equal(t, byNumber.Inverse(), byNumber.Unreserved())
		worst, best := p.Extremes()
		least, most := p.Bounds()
		require.Equal(t, [2]fixed.Number{least, most}, [2]fixed.Number{u.Of(worst), u.Of(best)})
		for _, inverse := range []bargain.Inverse{p.Inverse(), p.Unreserved()} {
			requireCursor(t, domain, u, inverse.Descend(), -1, false)
			requireCursor(t, domain, u, inverse.Ascend(), 1, false)
			target := fixed.Number(rapid.Int64Range(-20, 80).Draw(t, "target")) * fixed.One / 16
			for name, found := range map[string][2]bargain.Outcome{
				"at least": {byNumber.Inverse().AtLeast(target), inverse.AtLeast(target)},
				"at most":  {byNumber.Inverse().AtMost(target), inverse.AtMost(target)},
			} {
				require.Equal(t, found[0] == bargain.NoOutcome, found[1] == bargain.NoOutcome, name)
				if found[0] != bargain.NoOutcome {
					require.Equal(t, u.Of(found[0]), u.Of(found[1]), name)
				}
			}
			o := inverse.Within(target, most, bargain.NewRandom(1, 2))
			require.Equal(t, target > most, o == bargain.NoOutcome)
			require.True(t, o == bargain.NoOutcome || u.Of(o) >= target)
		}
	})
	large, err := bargain.NewDomain(bargain.Integer("large", 0, bargain.MaxSorted))
	require.NoError(t, err)
	u, err := utility.PriceLine(large, true)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(large, u, 0)
	require.NoError(t, err)
	_, err = p.AsNegmas()
	require.ErrorIs(t, err, bargain.ErrOrder)
}

// TestTargetsOfALargeDomainNeedLittleMemory uses 1,771,561 outcomes, many with equal utility. The order and
// the random outcomes come from the longest lists.
func TestTargetsOfALargeDomainNeedLittleMemory(t *testing.T) {
	issues, values := make([]bargain.Issue, 6), make([]utility.Values, 6)
	random := bargain.NewRandom(4, 4)
	for at := range issues {
		table := make(utility.Table, 11)
		for i := range table {
			table[i] = fixed.Number(random.Below(200)) * fixed.One / 1000
		}
		issues[at], values[at] = bargain.Integer(string(rune('a'+at)), 0, 10), table
	}
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	u, err := utility.NewAdditive(domain, 0, nil, values...)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, 0)
	require.NoError(t, err)
	long, ok := bargain.NewPairs(domain, u, 1<<18, 1<<16)
	require.True(t, ok)
	targets := []fixed.Number{fixed.Min, 0, fixed.One / 5, fixed.One / 3, fixed.One / 2, fixed.One, fixed.Max}
	var found []bargain.Outcome
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, target := range targets {
		found = append(found, p.Inverse().AtLeast(target), p.Inverse().AtMost(target))
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	for at, target := range targets {
		require.Equal(t, [2]bargain.Outcome{long.AtLeast(target), long.AtMost(target)}, [2]bargain.Outcome(found[2*at:]))
	}
	one, other := bargain.NewRandom(1, 1), bargain.NewRandom(1, 1)
	wantDown, down, wantUp, up := long.Descend(), p.Inverse().Descend(), long.Ascend(), p.Inverse().Ascend()
	for range 100 {
		require.Equal(t, long.Within(fixed.One/3, fixed.One/2, one), p.Inverse().Within(fixed.One/3, fixed.One/2, other))
		require.Equal(t, wantDown.Next(), down.Next())
		require.Equal(t, wantUp.Next(), up.Next())
	}
}
