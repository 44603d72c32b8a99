package solution

import (
	"math/big"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Distances holds the Euclidean distances from an outcome's utilities to the nearest point per solution. If
// there is no rational outcome, the distances to solutions are [fixed.Max].
type Distances struct {
	Pareto, Nash, Kalai, KalaiSmorodinsky fixed.Number
	// Welfare is the missing part of the maximum welfare.
	Welfare fixed.Number
}

// Distances measures an agreement; for no agreement, pass the reservation values.
func (p *Problem) Distances(utilities [2]fixed.Number) Distances {
	d := Distances{
		Pareto: Nearest(p.frontier, utilities), Nash: Nearest(p.Nash(), utilities),
		Kalai: Nearest(p.Kalai(), utilities), KalaiSmorodinsky: Nearest(p.KalaiSmorodinsky(), utilities),
		Welfare: fixed.Max,
	}
	if welfare := p.Welfare(); len(welfare) > 0 {
		d.Welfare = welfare[0].Welfare() - utilities[0] - utilities[1]
	}
	return d
}

// Optimality measures how close an outcome is to the solutions: 1 at a solution, and 0 at a distance equal to
// the diagonal of the parties' utility ranges, as in NegMAS' OutcomeOptimality. If there is no rational
// outcome, it is 0.
type Optimality struct {
	Pareto, Nash, Kalai, KalaiSmorodinsky fixed.Number
	// Welfare is the share of the maximum welfare, between 0 and 1, or 0 if the maximum is not positive.
	Welfare fixed.Number
}

// Optimality measures an agreement; for no agreement, pass the reservation values.
func (p *Problem) Optimality(utilities [2]fixed.Number) Optimality {
	d, diagonal := p.Distances(utilities), distance(p.best, p.worst)
	of := func(distance fixed.Number) fixed.Number {
		switch {
		case distance == 0:
			return fixed.One
		case distance >= diagonal:
			return 0
		}
		return fixed.One - distance.Div(diagonal)
	}
	o := Optimality{
		Pareto: of(d.Pareto), Nash: of(d.Nash), Kalai: of(d.Kalai), KalaiSmorodinsky: of(d.KalaiSmorodinsky),
	}
	if welfare := p.Welfare(); len(welfare) > 0 && welfare[0].Welfare() > 0 {
		o.Welfare = (utilities[0] + utilities[1]).Div(welfare[0].Welfare()).Clamp(0, fixed.One)
	}
	return o
}

// Opposition is the distance from the frontier to the ideal point, where both parties reach their best
// outcome, with utilities scaled to 0 for the worst and 1 for the best outcome: 0 if the parties want the
// same, and 0.71 if they divide a sum.
//
// Source: Baarslag et al.: Evaluating Practical Negotiating Agents: Results and Analysis of the 2011
// International Competition (2013), section 3.2.
func (p *Problem) Opposition() fixed.Number {
	least := fixed.Max
	for _, point := range p.frontier {
		var missing [2]fixed.Number
		for side := range missing {
			if span := p.best[side] - p.worst[side]; span > 0 {
				missing[side] = (p.best[side] - point.Utilities[side]).Div(span)
			}
		}
		least = min(least, distance(missing, [2]fixed.Number{}))
	}
	return least
}

// Nearest returns the Euclidean distance of utilities to the nearest of some points, rounded down;
// [fixed.Max] without points.
func Nearest(points []Point, utilities [2]fixed.Number) fixed.Number {
	least := fixed.Max
	for _, point := range points {
		least = min(least, distance(point.Utilities, utilities))
	}
	return least
}

// distance returns the Euclidean distance, rounded down.
func distance(a, b [2]fixed.Number) fixed.Number {
	if a == b {
		return 0
	}
	sum, square := new(big.Int), new(big.Int)
	for side := range a {
		square.SetInt64(int64(a[side] - b[side]))
		sum.Add(sum, square.Mul(square, square))
	}
	return fixed.Number(sum.Sqrt(sum).Int64())
}
