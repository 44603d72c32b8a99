package solution_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/solution"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

func preferences(
	t require.TestingT, domain *bargain.Domain, u bargain.Utility, reservation fixed.Number,
) *bargain.Preferences {
	p, err := bargain.NewPreferences(domain, u, reservation)
	require.NoError(t, err)
	return p
}

// TestNashBillAndJack checks the example in Nash (1950), page 161: Bill gives the book, the whip, the ball
// and the bat; Jack gives the pen, the toy and the knife. Their utilities rise from 12 to 24 and from 6 to
// 11.
func TestNashBillAndJack(t *testing.T) {
	goods := []struct {
		name       string
		bill, jack int64
		ofBill     bool
	}{
		{"book", 2, 4, true}, {"whip", 2, 2, true}, {"ball", 2, 1, true}, {"bat", 2, 2, true},
		{"box", 4, 1, true}, {"pen", 10, 1, false}, {"toy", 4, 1, false}, {"knife", 6, 2, false},
		{"hat", 2, 2, false},
	}
	var issues []bargain.Issue
	var values [2][]utility.Values
	var start [2]fixed.Number
	for _, good := range goods {
		issues = append(issues, bargain.Categorical(good.name, "Bill", "Jack"))
		values[0] = append(values[0], utility.Table{fixed.Int(good.bill), 0})
		values[1] = append(values[1], utility.Table{0, fixed.Int(good.jack)})
		if good.ofBill {
			start[0] += fixed.Int(good.bill)
		} else {
			start[1] += fixed.Int(good.jack)
		}
	}
	require.Equal(t, [2]fixed.Number{fixed.Int(12), fixed.Int(6)}, start)
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	var sides [2]*bargain.Preferences
	for side := range sides {
		u, err := utility.NewAdditive(domain, 0, nil, values[side]...)
		require.NoError(t, err)
		sides[side] = preferences(t, domain, u, start[side])
	}
	problem, err := solution.New(sides[0], sides[1])
	require.NoError(t, err)
	nash := problem.Nash()
	require.Len(t, nash, 1)
	require.Equal(t, [2]fixed.Number{fixed.Int(24), fixed.Int(11)}, nash[0].Utilities)
	require.Equal(t, "book=Jack, whip=Jack, ball=Jack, bat=Jack, box=Bill, pen=Bill, toy=Bill, knife=Bill, "+
		"hat=Jack", domain.Text(nash[0].Outcome))
	require.Zero(t, problem.Distances(nash[0].Utilities).Nash)
}

// TestDivisions divides a sum, with known solutions, in steps of 1/100,000. A party with utility sqrt(x) is
// risk averse: Osborne, Rubinstein: Bargaining and Markets (1990), section 2.4.1.
func TestDivisions(t *testing.T) {
	const steps = 100_000
	domain, err := bargain.NewDomain(bargain.Integer("share", 0, steps))
	require.NoError(t, err)
	root := func(x fixed.Number) fixed.Number { return fixed.Pow(x, fixed.One/2) }
	double := func(x fixed.Number) fixed.Number { return 2 * x }
	linear := func(x fixed.Number) fixed.Number { return x }
	for _, test := range []struct {
		name                      string
		first, second             func(fixed.Number) fixed.Number
		reservation               fixed.Number
		nash, kalai, smorodinsky  float64
		welfare, opposition       float64
		isWelfareAnyOfTheFrontier bool
	}{
		{"even", linear, linear, 0, .5, .5, .5, 0, .70711, true},
		{"reservation", linear, linear, fixed.One / 2, .75, .75, .75, 0, .70711, true},
		{"averse", linear, root, 0, 2.0 / 3, .61803, .61803, .75, .53784, false},
		{"scale", double, linear, 0, .5, 1.0 / 3, .5, 1, .70711, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var values [2][]fixed.Number
			for share := range int64(steps + 1) {
				x := fixed.Ratio(share, steps)
				values[0] = append(values[0], test.first(x))
				values[1] = append(values[1], test.second(fixed.One-x))
			}
			first, err := utility.NewMapping(domain, values[0])
			require.NoError(t, err)
			second, err := utility.NewMapping(domain, values[1])
			require.NoError(t, err)
			problem, err := solution.New(preferences(t, domain, first, test.reservation),
				preferences(t, domain, second, 0))
			require.NoError(t, err)
			share := func(points []solution.Point) float64 {
				return float64(domain.Value(points[0].Outcome, 0)) / steps
			}
			require.Len(t, problem.Frontier(), steps+1)
			require.InDelta(t, test.nash, share(problem.Nash()), 1.0/steps)
			require.InDelta(t, test.kalai, share(problem.Kalai()), 1.0/steps)
			require.InDelta(t, test.smorodinsky, share(problem.KalaiSmorodinsky()), 1.0/steps)
			require.InDelta(t, test.opposition, problem.Opposition().Float(), 0.00001)
			if test.isWelfareAnyOfTheFrontier {
				require.Equal(t, problem.Rational(), problem.Welfare())
			} else {
				require.InDelta(t, test.welfare, share(problem.Welfare()), 0.001)
			}
		})
	}
}

func TestMeasures(t *testing.T) {
	point := func(o bargain.Outcome, a, b int64) solution.Point {
		return solution.Point{Outcome: o, Utilities: [2]fixed.Number{fixed.Int(a), fixed.Int(b)}}
	}
	problem := solution.NewFinite([2]fixed.Number{}, []solution.Point{
		point(0, 0, 0), point(1, 4, 3), point(2, 10, 0), point(3, 4, 3), point(4, 3, 3), point(5, 0, 5),
	})
	require.Equal(t, []solution.Point{point(2, 10, 0), point(1, 4, 3), point(5, 0, 5)}, problem.Frontier())
	require.Equal(t, []solution.Point{point(1, 4, 3)}, problem.Nash())
	require.Equal(t, []solution.Point{point(2, 10, 0)}, problem.Welfare())
	d := problem.Distances([2]fixed.Number{})
	require.Equal(t, fixed.Int(5), d.Nash)
	require.Equal(t, fixed.Int(5), d.Pareto)
	require.Equal(t, fixed.Int(10), d.Welfare)
	require.True(t, problem.IsEfficient([2]fixed.Number{fixed.Int(4), fixed.Int(3)}))
	require.False(t, problem.IsEfficient([2]fixed.Number{fixed.Int(3), fixed.Int(3)}))
	o := problem.Optimality([2]fixed.Number{fixed.Int(4), fixed.Int(3)})
	require.Equal(t, fixed.One, o.Nash)
	require.Equal(t, fixed.One*7/10, o.Welfare)

	none := solution.NewFinite([2]fixed.Number{fixed.Int(5), fixed.Int(5)}, []solution.Point{point(0, 4, 9)})
	require.Empty(t, none.Nash())
	require.Empty(t, none.KalaiSmorodinsky())
	require.Equal(t, fixed.Max, none.Distances([2]fixed.Number{}).Nash)
	require.Zero(t, none.Optimality([2]fixed.Number{}).Nash)
}

// TestMeasuresOfNegmas compares with the distances and optimalities returned by NegMAS 0.16's
// calc_outcome_distances, calc_outcome_optimality and opposition_level for the same outcomes. By hand: the
// gains over (2, 1) are (18, 1), (14, 4), (9, 5), (6, 7) and (3, 9). The highest product is 14 * 4, the
// highest lower gain 6, and (9, 5) reaches the highest lower share of the best gains, 18 and 9. The diagonal
// measures 25.
func TestMeasuresOfNegmas(t *testing.T) {
	problem := func(shift [2]int64) *solution.Problem {
		var points []solution.Point
		for _, u := range [][2]int64{{20, 2}, {16, 5}, {11, 6}, {8, 8}, {5, 10}, {0, 15}, {5, 8}, {0, 0}} {
			points = append(points, solution.Point{Outcome: bargain.Outcome(len(points)),
				Utilities: [2]fixed.Number{fixed.Int(u[0] + shift[0]), fixed.Int(u[1] + shift[1])}})
		}
		return solution.NewFinite([2]fixed.Number{fixed.Int(2 + shift[0]), fixed.Int(1 + shift[1])}, points)
	}
	p := problem([2]int64{})
	for name, test := range map[string]struct {
		found []solution.Point
		want  [2]int64
	}{
		"Nash": {p.Nash(), [2]int64{16, 5}}, "Kalai": {p.Kalai(), [2]int64{8, 8}},
		"Kalai-Smorodinsky": {p.KalaiSmorodinsky(), [2]int64{11, 6}}, "welfare": {p.Welfare(), [2]int64{20, 2}},
	} {
		want := [][2]fixed.Number{{fixed.Int(test.want[0]), fixed.Int(test.want[1])}}
		require.Equal(t, want, utilitiesOf(test.found), name)
	}
	distances := p.Distances([2]fixed.Number{fixed.Int(5), fixed.Int(8)})
	require.Equal(t, solution.Distances{
		Pareto: fixed.Int(2), Nash: number(t, "11.401754250991"), Kalai: fixed.Int(3),
		KalaiSmorodinsky: number(t, "6.324555320336"), Welfare: fixed.Int(22 - 13),
	}, distances)
	optimality := p.Optimality([2]fixed.Number{fixed.Int(5), fixed.Int(8)})
	require.Equal(t, number(t, "0.92"), optimality.Pareto)
	require.InDelta(t, .5439298299603448, optimality.Nash.Float(), 1e-12)
	require.Equal(t, number(t, "0.88"), optimality.Kalai)
	require.InDelta(t, .7470177871865296, optimality.KalaiSmorodinsky.Float(), 1e-12)
	require.InDelta(t, 13.0/22, optimality.Welfare.Float(), 1e-12)
	require.InDelta(t, .69602043392737, p.Opposition().Float(), 2e-12)

	// Other zeros of the utilities change neither distances nor opposition, and only the welfare's optimality.
	shifted, moved := problem([2]int64{100, -50}), [2]fixed.Number{fixed.Int(105), fixed.Int(-42)}
	require.Equal(t, distances, shifted.Distances(moved))
	require.Equal(t, p.Opposition(), shifted.Opposition())
	optimality.Welfare = shifted.Optimality(moved).Welfare
	require.Equal(t, optimality, shifted.Optimality(moved))
	require.InDelta(t, 63.0/72, optimality.Welfare.Float(), 1e-12)
}

func number(t require.TestingT, text string) fixed.Number {
	n, err := fixed.Parse(text)
	require.NoError(t, err)
	return n
}

func TestTooLarge(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 1<<40, 1))
	require.NoError(t, err)
	u, err := utility.PriceLine(domain, true)
	require.NoError(t, err)
	_, err = solution.New(preferences(t, domain, u, 0), preferences(t, domain, u, 0))
	require.ErrorIs(t, err, solution.ErrTooLarge)
}
