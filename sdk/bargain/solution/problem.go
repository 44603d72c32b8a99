// Package solution has the axiomatic solutions of a bargaining problem of two parties, and measures an
// outcome by them: Pareto frontier, Nash, Kalai (egalitarian), Kalai-Smorodinsky, maximum welfare and
// opposition.
//
// All results are exact for the utilities given: they are integers, and products have 128 bits. A finite set
// of outcomes can have several solutions, which the axioms allow only together: all are returned.
package solution

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Point is an outcome with the undiscounted utilities of both parties.
type Point struct {
	Outcome   bargain.Outcome
	Utilities [2]fixed.Number
}

// Welfare returns the sum of the utilities.
func (p Point) Welfare() fixed.Number { return p.Utilities[0] + p.Utilities[1] }

// Problem is the bargaining problem of two parties: their possible utilities and their reservation values. It
// does not change.
type Problem struct {
	frontier    []Point
	reservation [2]fixed.Number
	worst, best [2]fixed.Number
}

// ErrTooLarge reports a domain whose frontier would take too much memory.
var ErrTooLarge = errors.New("solution: too many outcomes")

// maxPoints is the number of points that are sorted at once.
const maxPoints = 1 << 22

// New returns the problem of two parties with the same domain. If both utilities are linear additive, it
// merges one issue after the other and works for large domains; otherwise it enumerates the outcomes. It
// returns [ErrTooLarge] if that takes more than 4 million points.
func New(a, b *bargain.Preferences) (*Problem, error) {
	if a.Domain() != b.Domain() {
		return nil, errors.New("solution: the parties have different domains")
	}
	p := &Problem{reservation: [2]fixed.Number{a.Reservation(), b.Reservation()}}
	first, isFirst := a.Utility().(bargain.Additive)
	second, isSecond := b.Utility().(bargain.Additive)
	if isFirst && isSecond {
		return p, p.merge(a.Domain(), [2]bargain.Additive{first, second})
	}
	size := a.Domain().Size()
	if size > maxPoints {
		return nil, fmt.Errorf("%w: %d outcomes of utilities that are not linear additive", ErrTooLarge, size)
	}
	points := make([]Point, size)
	for at := range points {
		o := bargain.Outcome(at)
		points[at] = Point{o, [2]fixed.Number{a.Of(o), b.Of(o)}}
	}
	p.set(points)
	return p, nil
}

// NewFinite returns the problem with these points, of which there must be at least one. It sorts them.
// Utilities and reservation values must lie in +-[bargain.MaxUtility].
func NewFinite(reservation [2]fixed.Number, points []Point) *Problem {
	p := &Problem{reservation: reservation}
	p.set(points)
	return p
}

func (p *Problem) set(points []Point) {
	p.worst, p.best = points[0].Utilities, points[0].Utilities
	for _, point := range points {
		for side, u := range point.Utilities {
			p.worst[side], p.best[side] = min(p.worst[side], u), max(p.best[side], u)
		}
	}
	p.frontier = slices.Clip(undominated(points))
}

// undominated sorts points by falling utility of the first party, and returns those that no other one
// dominates, in the same memory. Of points with equal utilities it keeps the one with the lowest number.
func undominated(points []Point) []Point {
	slices.SortFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(b.Utilities[0], a.Utilities[0]), cmp.Compare(b.Utilities[1], a.Utilities[1]),
			cmp.Compare(a.Outcome, b.Outcome))
	})
	kept := points[:0]
	for _, point := range points {
		if len(kept) == 0 || point.Utilities[1] > kept[len(kept)-1].Utilities[1] {
			kept = append(kept, point)
		}
	}
	return kept
}

// merge computes the frontier of linear additive utilities. An outcome on the frontier is composed of values
// that are on the frontier of their issue alone, and any part of its issues is on the frontier of these: so
// each step needs only the frontier of the one before.
func (p *Problem) merge(domain *bargain.Domain, utilities [2]bargain.Additive) error {
	merged := []Point{{}}
	for at := range domain.Len() {
		values, err := issueFrontier(domain, utilities, at)
		if err != nil {
			return err
		}
		if len(values) > maxPoints/len(merged) {
			return fmt.Errorf("%w: %d values of issue %q with a frontier of %d", ErrTooLarge, len(values),
				domain.Issue(at).Name, len(merged))
		}
		sums := make([]Point, 0, len(merged)*len(values))
		for _, left := range merged {
			for _, right := range values {
				sums = append(sums, Point{left.Outcome + right.Outcome, [2]fixed.Number{
					left.Utilities[0] + right.Utilities[0], left.Utilities[1] + right.Utilities[1],
				}})
			}
		}
		merged = slices.Clone(undominated(sums))
	}
	for at := range merged {
		for side := range utilities {
			merged[at].Utilities[side] = utilities[side].Of(merged[at].Outcome)
		}
	}
	p.frontier = merged
	for side, utility := range utilities {
		worst, best := utility.Extremes()
		p.worst[side], p.best[side] = utility.Of(worst), utility.Of(best)
	}
	return nil
}

// issueFrontier returns the undominated values of an issue. Their utilities count from the party's worst
// value, so that sums stay in the range of a utility.
func issueFrontier(domain *bargain.Domain, utilities [2]bargain.Additive, at int) ([]Point, error) {
	count := domain.Issue(at).Count
	if count > maxPoints {
		return nil, fmt.Errorf("%w: %d values of issue %q", ErrTooLarge, count, domain.Issue(at).Name)
	}
	values := make([]Point, count)
	worst := [2]fixed.Number{fixed.Max, fixed.Max}
	for index := range values {
		values[index].Outcome = domain.With(0, at, uint64(index))
		for side, utility := range utilities {
			u := utility.Part(at, uint64(index))
			values[index].Utilities[side], worst[side] = u, min(worst[side], u)
		}
	}
	for index := range values {
		values[index].Utilities[0] -= worst[0]
		values[index].Utilities[1] -= worst[1]
	}
	return undominated(values), nil
}

// Frontier returns the Pareto frontier, in the order of the first party's falling utility: the outcomes for
// which no other one is better for a party and not worse for the other. Of outcomes with equal utilities it
// has the one with the lowest number. It is shared: do not change it.
func (p *Problem) Frontier() []Point { return p.frontier }

// Rational returns the part of the frontier that is at least as good as no agreement for both parties. It is
// empty if there is no such outcome.
func (p *Problem) Rational() []Point {
	from, _ := slices.BinarySearchFunc(p.frontier, p.reservation[1], func(point Point, u fixed.Number) int {
		return cmp.Compare(point.Utilities[1], u)
	})
	to := from
	for to < len(p.frontier) && p.frontier[to].Utilities[0] >= p.reservation[0] {
		to++
	}
	return p.frontier[from:to]
}

// IsEfficient reports whether no outcome is better than these utilities for one party and not worse for the
// other.
func (p *Problem) IsEfficient(utilities [2]fixed.Number) bool {
	// Of the points that are not worse for the second party, the first is the best one for the first party.
	at, _ := slices.BinarySearchFunc(p.frontier, utilities[1], func(point Point, u fixed.Number) int {
		return cmp.Compare(point.Utilities[1], u)
	})
	if at == len(p.frontier) {
		return true
	}
	found := p.frontier[at].Utilities
	return found[0] < utilities[0] || found == utilities
}
