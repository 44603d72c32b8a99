package solution_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/solution"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// A drawn problem has few different utilities, so that ties are frequent.
func drawPoints(t *rapid.T) (reservation [2]fixed.Number, points []solution.Point) {
	number := rapid.Int64Range(0, 30)
	reservation = [2]fixed.Number{fixed.Number(number.Draw(t, "a")) / 2, fixed.Number(number.Draw(t, "b")) / 2}
	for o := range rapid.IntRange(1, 40).Draw(t, "outcomes") {
		points = append(points, solution.Point{Outcome: bargain.Outcome(o), Utilities: [2]fixed.Number{
			fixed.Number(number.Draw(t, "u")), fixed.Number(number.Draw(t, "v")),
		}})
	}
	return reservation, points
}

func solve(reservation [2]fixed.Number, points []solution.Point) *solution.Problem {
	return solution.NewFinite(reservation, slices.Clone(points))
}

var solutions = map[string]func(*solution.Problem) []solution.Point{
	"Nash": (*solution.Problem).Nash, "Kalai": (*solution.Problem).Kalai,
	"Kalai-Smorodinsky": (*solution.Problem).KalaiSmorodinsky, "welfare": (*solution.Problem).Welfare,
}

func dominates(a, b solution.Point) bool {
	return a.Utilities != b.Utilities && a.Utilities[0] >= b.Utilities[0] && a.Utilities[1] >= b.Utilities[1]
}

// utilitiesOf returns the utilities of the solutions, sorted.
func utilitiesOf(points []solution.Point) (found [][2]fixed.Number) {
	for _, point := range points {
		found = append(found, point.Utilities)
	}
	slices.SortFunc(found, func(a, b [2]fixed.Number) int { return slices.Compare(a[:], b[:]) })
	return found
}

func TestParetoEfficiency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reservation, points := drawPoints(t)
		problem := solve(reservation, points)
		var want [][2]fixed.Number
		for _, point := range points {
			dominated := slices.ContainsFunc(points, func(p solution.Point) bool { return dominates(p, point) })
			require.Equal(t, !dominated, problem.IsEfficient(point.Utilities))
			if !dominated && !slices.Contains(want, point.Utilities) {
				want = append(want, point.Utilities)
			}
		}
		require.ElementsMatch(t, want, utilitiesOf(problem.Frontier()))
		for name, of := range solutions {
			for _, point := range of(problem) {
				require.Contains(t, want, point.Utilities, name)
				require.GreaterOrEqual(t, point.Utilities[0], reservation[0], name)
				require.GreaterOrEqual(t, point.Utilities[1], reservation[1], name)
			}
			require.Equal(t, len(problem.Rational()) == 0, len(of(problem)) == 0, name)
		}
	})
}

func TestSymmetry(t *testing.T) {
	swap := func(u [2]fixed.Number) [2]fixed.Number { return [2]fixed.Number{u[1], u[0]} }
	rapid.Check(t, func(t *rapid.T) {
		reservation, points := drawPoints(t)
		swapped := slices.Clone(points)
		for at := range swapped {
			swapped[at].Utilities = swap(swapped[at].Utilities)
		}
		for name, of := range solutions {
			var want [][2]fixed.Number
			for _, u := range utilitiesOf(of(solve(reservation, points))) {
				want = append(want, swap(u))
			}
			require.ElementsMatch(t, want, utilitiesOf(of(solve(swap(reservation), swapped))), name)
		}
	})
}

func TestScaleInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reservation, points := drawPoints(t)
		factor, shift := [2]fixed.Number{}, [2]fixed.Number{}
		for side := range factor {
			factor[side] = fixed.Number(rapid.Int64Range(1, 1<<50).Draw(t, "factor"))
			shift[side] = fixed.Number(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "shift"))
		}
		scale := func(u [2]fixed.Number) [2]fixed.Number {
			return [2]fixed.Number{u[0]*factor[0] + shift[0], u[1]*factor[1] + shift[1]}
		}
		scaled := slices.Clone(points)
		for at := range scaled {
			scaled[at].Utilities = scale(scaled[at].Utilities)
		}
		for _, name := range []string{"Nash", "Kalai-Smorodinsky"} {
			var want [][2]fixed.Number
			for _, u := range utilitiesOf(solutions[name](solve(reservation, points))) {
				want = append(want, scale(u))
			}
			require.Equal(t, want, utilitiesOf(solutions[name](solve(scale(reservation), scaled))), name)
		}
	})
}

// TestIndependenceOfIrrelevantAlternatives holds for Nash, the egalitarian solution and welfare: after
// removing some outcomes, the remaining solutions are the solutions. For Nash this requires a gain for both,
// as assumed in Nash (1950). If there is none, all products are equal, and dominated outcomes become
// solutions after removing the dominating outcome.
func TestIndependenceOfIrrelevantAlternatives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reservation, points := drawPoints(t)
		for _, name := range []string{"Nash", "Kalai", "welfare"} {
			found := utilitiesOf(solutions[name](solve(reservation, points)))
			if len(found) == 0 || name == "Nash" && !isGainForBoth(reservation, points) {
				continue
			}
			kept := rapid.SampledFrom(found).Draw(t, "kept")
			var rest []solution.Point
			for _, point := range points {
				if point.Utilities == kept || rapid.Bool().Draw(t, "keep") {
					rest = append(rest, point)
				}
			}
			var want [][2]fixed.Number
			for _, u := range found {
				if slices.ContainsFunc(rest, func(p solution.Point) bool { return p.Utilities == u }) {
					want = append(want, u)
				}
			}
			require.Equal(t, want, utilitiesOf(solutions[name](solve(reservation, rest))), name)
		}
	})
}

// isGainForBoth reports whether both parties gain by one of the points.
func isGainForBoth(reservation [2]fixed.Number, points []solution.Point) bool {
	return slices.ContainsFunc(points, func(p solution.Point) bool {
		return p.Utilities[0] > reservation[0] && p.Utilities[1] > reservation[1]
	})
}

// TestNashWithoutAGainForBoth checks a problem where Nash is not independent: after removing (1, 2) the point
// (1, 1) is on the frontier, also with product 0.
func TestNashWithoutAGainForBoth(t *testing.T) {
	reservation := [2]fixed.Number{1, 0}
	points := []solution.Point{
		{Utilities: [2]fixed.Number{1, 1}}, {Utilities: [2]fixed.Number{30, 0}}, {Utilities: [2]fixed.Number{1, 2}},
	}
	require.False(t, isGainForBoth(reservation, points))
	require.Equal(t, [][2]fixed.Number{{1, 2}, {30, 0}}, utilitiesOf(solve(reservation, points).Nash()))
	require.Equal(t, [][2]fixed.Number{{1, 1}, {30, 0}}, utilitiesOf(solve(reservation, points[:2]).Nash()))
}

// TestMonotonicity: further outcomes never lower the lower gain of the egalitarian solution. For
// Kalai-Smorodinsky that holds for the lower share, if neither party's highest gain changes. (On finite sets
// the higher gain can fall.)
func TestMonotonicity(t *testing.T) {
	lower := func(of func(*solution.Problem) []solution.Point, r [2]fixed.Number, points []solution.Point,
		scale [2]fixed.Number) fixed.Number {
		u := of(solve(r, points))[0].Utilities
		return min((u[0]-r[0])*scale[1], (u[1]-r[1])*scale[0])
	}
	rapid.Check(t, func(t *rapid.T) {
		reservation, points := drawPoints(t)
		fewer := points[:rapid.IntRange(1, len(points)).Draw(t, "fewer")]
		before, after := solve(reservation, fewer).Rational(), solve(reservation, points).Rational()
		if len(before) == 0 {
			return
		}
		equal := [2]fixed.Number{1, 1}
		require.GreaterOrEqual(t, lower((*solution.Problem).Kalai, reservation, points, equal),
			lower((*solution.Problem).Kalai, reservation, fewer, equal))
		ideal := func(points []solution.Point) [2]fixed.Number {
			return [2]fixed.Number{
				points[0].Utilities[0] - reservation[0], points[len(points)-1].Utilities[1] - reservation[1],
			}
		}
		if ideal(before) == ideal(after) {
			scale := ideal(after)
			require.GreaterOrEqual(t, lower((*solution.Problem).KalaiSmorodinsky, reservation, points, scale),
				lower((*solution.Problem).KalaiSmorodinsky, reservation, fewer, scale))
		}
	})
}

// TestMergedIssues compares the frontier for linear additive utilities with the frontier over all outcomes.
func TestMergedIssues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var issues []bargain.Issue
		for at := range rapid.IntRange(1, 4).Draw(t, "issues") {
			last := rapid.Int64Range(0, 5).Draw(t, "last")
			issues = append(issues, bargain.Integer(strconv.Itoa(at), 0, last))
		}
		domain, err := bargain.NewDomain(issues...)
		require.NoError(t, err)
		var merged, enumerated [2]*bargain.Preferences
		for side := range merged {
			var values []utility.Values
			for at := range issues {
				table := utility.Table{}
				for range issues[at].Count {
					table = append(table, fixed.Number(rapid.Int64Range(-9, 9).Draw(t, "value")))
				}
				values = append(values, table)
			}
			constant := fixed.Number(rapid.Int64Range(-9, 9).Draw(t, "constant"))
			additive, err := utility.NewAdditive(domain, constant, nil, values...)
			require.NoError(t, err)
			merged[side] = preferences(t, domain, additive, 0)
			enumerated[side] = preferences(t, domain, plain{additive}, 0)
		}
		fast, err := solution.New(merged[0], merged[1])
		require.NoError(t, err)
		slow, err := solution.New(enumerated[0], enumerated[1])
		require.NoError(t, err)
		require.Equal(t, slow, fast)
	})
}

// plain hides a utility's additive structure.
type plain struct{ utility bargain.Utility }

func (p plain) Of(o bargain.Outcome) fixed.Number { return p.utility.Of(o) }

func TestLargeDomain(t *testing.T) {
	var issues []bargain.Issue
	var values [2][]utility.Values
	for at := range 10 {
		issues = append(issues, bargain.Integer(strconv.Itoa(at), 0, 9))
		rising, falling := utility.Table{}, utility.Table{}
		for index := range int64(10) {
			rising = append(rising, fixed.Ratio(index*int64(at+1), 495))
			falling = append(falling, fixed.Ratio((9-index)*int64(10-at), 495))
		}
		values[0], values[1] = append(values[0], rising), append(values[1], falling)
	}
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	var sides [2]*bargain.Preferences
	for side := range sides {
		u, err := utility.NewAdditive(domain, 0, nil, values[side]...)
		require.NoError(t, err)
		sides[side] = preferences(t, domain, u, 0)
	}
	problem, err := solution.New(sides[0], sides[1])
	require.NoError(t, err)
	require.Equal(t, uint64(10_000_000_000), domain.Size())
	// Each party gets the five issues that it values more.
	nash := problem.Nash()
	require.Equal(t, nash[0].Utilities[0], nash[0].Utilities[1])
	require.InDelta(t, 40.0/55, nash[0].Utilities[0].Float(), 1e-9)
}
