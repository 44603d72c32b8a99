package solution

import (
	"cmp"
	"math/bits"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// wide is a number with 128 bits.
type wide struct{ high, low uint64 }

func times(a, b fixed.Number) wide {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return wide{high, low}
}

func (w wide) compare(other wide) int {
	switch {
	case w == other:
		return 0
	case w.high < other.high || w.high == other.high && w.low < other.low:
		return -1
	}
	return 1
}

// gains returns what an agreement adds to the reservation values.
func (p *Problem) gains(point Point) [2]fixed.Number {
	return [2]fixed.Number{
		point.Utilities[0] - p.reservation[0], point.Utilities[1] - p.reservation[1],
	}
}

// best returns the points with the highest value under compare, in frontier order.
func best[V any](points []Point, value func(Point) V, compare func(a, b V) int) (found []Point) {
	var most V
	for _, point := range points {
		v := value(point)
		switch {
		case len(found) == 0 || compare(v, most) > 0:
			most, found = v, append(found[:0], point)
		case compare(v, most) == 0:
			found = append(found, point)
		}
	}
	return found
}

// Nash returns the rational outcomes with the highest product of gains over the reservation values. If no
// outcome is a gain for both parties, all products are 0, and it returns the frontier's rational part. Nash
// assumes that there is such an outcome; if not, independence of irrelevant alternatives does not hold.
//
// Source: Nash: The Bargaining Problem (1950).
func (p *Problem) Nash() []Point {
	return best(p.Rational(), func(point Point) wide {
		gains := p.gains(point)
		return times(gains[0], gains[1])
	}, wide.compare)
}

// Kalai returns the rational outcomes with the highest lower gain and, among these, the highest higher gain:
// the egalitarian solution, in lexical form for finite sets.
//
// Source: Kalai: Proportional Solutions to Bargaining Situations (1977); Imai: Individual Monotonicity and
// Lexicographic Maxmin Solution (1983).
func (p *Problem) Kalai() []Point {
	return best(p.Rational(), func(point Point) [2]wide {
		gains := p.gains(point)
		return ordered(wide{low: uint64(gains[0])}, wide{low: uint64(gains[1])})
	}, compareLexical)
}

// KalaiSmorodinsky returns Kalai's solution after dividing every gain by the party's highest gain in a
// rational outcome. In finite sets NegMAS 0.16 sometimes returns a different outcome: the outcome where the
// two shares differ least, with shares relative to the highest gain in any outcome.
//
// Source: Kalai, Smorodinsky: Other Solutions to Nash's Bargaining Problem (1975); for finite sets Imai
// (1983).
func (p *Problem) KalaiSmorodinsky() []Point {
	rational := p.Rational()
	if len(rational) < 2 {
		return rational
	}
	most := [2]fixed.Number{p.gains(rational[0])[0], p.gains(rational[len(rational)-1])[1]}
	return best(rational, func(point Point) [2]wide {
		gains := p.gains(point)
		// The shares gains[i]/most[i], multiplied by most[0]*most[1].
		return ordered(times(gains[0], most[1]), times(gains[1], most[0]))
	}, compareLexical)
}

// Welfare returns the rational outcomes with the highest utility sum. The sum compares the parties' utilities
// with each other; the scale-invariant solutions do not.
func (p *Problem) Welfare() []Point {
	return best(p.Rational(), Point.Welfare, cmp.Compare[fixed.Number])
}

func ordered(a, b wide) [2]wide {
	if a.compare(b) > 0 {
		return [2]wide{b, a}
	}
	return [2]wide{a, b}
}

func compareLexical(a, b [2]wide) int {
	if first := a[0].compare(b[0]); first != 0 {
		return first
	}
	return a[1].compare(b[1])
}
