// Package solution computes the axiomatic solutions to two-party bargaining problems, and measures outcomes
// by them: Pareto frontier, Nash, Kalai (egalitarian), Kalai-Smorodinsky, maximum welfare and opposition.
//
// All results are exact for the given utilities, because utilities are integers and products use 128 bits. A
// finite outcome set can have several solutions; the axioms allow these only together, and all are returned.
package solution

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Point is an outcome with both parties' undiscounted utilities.
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

// ErrTooLarge reports a domain with a frontier that would take too much memory.
var ErrTooLarge = errors.New("solution: too many outcomes")

// maxPoints is the number of points that are sorted at once.
const maxPoints = 1 << 22

// New returns the problem for two parties with the same domain. If both utilities are linear additive, it
// merges issue by issue and works for large domains; otherwise it enumerates the outcomes. It returns
// [ErrTooLarge] if this takes more than 4 million points.
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

// NewFinite returns the problem with the given points, which must not be empty. It sorts the points.
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

// undominated sorts points by falling utility of the first party, and returns the undominated points, in the
// same memory. Among points with equal utilities it keeps the lowest number.
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

// merge computes the frontier of linear additive utilities. An outcome on the frontier consists of values on
// the frontiers of their single issues, and for any subset of issues, the outcome's part lies on the subset's
// frontier: so every step needs only the previous step's frontier.
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

// issueFrontier returns an issue's undominated values. Utilities are relative to the party's worst value, to
// keep sums in the utility range.
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

// Frontier returns the Pareto frontier, sorted by falling utility for the first party: all outcomes that no
// outcome dominates by being better for a party and not worse for the opponent. Among outcomes with equal
// utilities it contains the lowest number. The result is shared and must not be modified.
func (p *Problem) Frontier() []Point { return p.frontier }

// Rational returns the frontier points at least as good as no agreement for both parties. The result is empty
// if there are none.
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

// IsEfficient reports whether no outcome is better than these utilities for a party and not worse for the
// opponent.
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
