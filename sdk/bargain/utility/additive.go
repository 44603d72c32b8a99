// Package utility implements the utilities for package bargain: linear additive utilities, tables, and
// hyper-rectangles.
package utility

import (
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// ErrUtility reports an invalid utility.
var ErrUtility = errors.New("utility: invalid utility")

// Values gives the worth of an issue's values, by index: a [Table] or a [Line].
type Values interface {
	// Of returns the value at index.
	Of(index uint64) fixed.Number
	// extremes returns 1 if the values never fall, -1 if they never rise, else 0, with the first indices of the
	// lowest and the highest value. It fails if the number of values differs from count.
	extremes(count uint64) (monotone int, least, most uint64, err error)
	// scaled multiplies the values by a weight.
	scaled(weight fixed.Number) Values
}

// Table is a value for each index.
type Table []fixed.Number

// Of returns the value at index.
func (t Table) Of(index uint64) fixed.Number { return t[index] }

func (t Table) extremes(count uint64) (monotone int, least, most uint64, err error) {
	if uint64(len(t)) != count {
		return 0, 0, 0, fmt.Errorf("%d values for an issue with %d", len(t), count)
	}
	// rising and falling count the leading values that never fall and never rise.
	rising, falling, last := 1, 1, len(t)-1
	for rising < len(t) && t[rising-1] <= t[rising] {
		rising++
	}
	for falling < len(t) && t[falling-1] >= t[falling] {
		falling++
	}
	for last > 0 && t[last-1] == t[last] {
		last-- // go back to the start of equal values at the end
	}
	switch len(t) {
	case rising:
		return 1, 0, uint64(last), nil
	case falling:
		return -1, uint64(last), 0, nil
	}
	for i, value := range t {
		if value < t[least] {
			least = uint64(i)
		}
		if value > t[most] {
			most = uint64(i)
		}
	}
	return 0, least, most, nil
}

func (t Table) scaled(weight fixed.Number) Values {
	scaled := make(Table, len(t))
	for i, value := range t {
		scaled[i] = value.Mul(weight)
	}
	return scaled
}

// Line is a straight line over the indices 0 to Count-1.
type Line struct {
	// First and Last hold the values at the indices 0 and Count-1.
	First, Last fixed.Number
	Count       uint64
}

// Of interpolates the value at index, rounded towards the first value.
func (l Line) Of(index uint64) fixed.Number {
	if l.Count < 2 {
		return l.First
	}
	if l.First > l.Last {
		return l.First - share(l.First-l.Last, index, l.Count-1)
	}
	return l.First + share(l.Last-l.First, index, l.Count-1)
}

func (l Line) extremes(count uint64) (monotone int, least, most uint64, err error) {
	if l.Count != count {
		return 0, 0, 0, fmt.Errorf("a line over %d values for an issue with %d", l.Count, count)
	}
	// Only the last index yields the last value, because rounding goes towards the first value.
	switch {
	case l.First > l.Last:
		return -1, l.Count - 1, 0, nil
	case l.First < l.Last:
		return 1, 0, l.Count - 1, nil
	}
	return 1, 0, 0, nil
}

func (l Line) scaled(weight fixed.Number) Values {
	return Line{First: l.First.Mul(weight), Last: l.Last.Mul(weight), Count: l.Count}
}

// Additive is a linear additive utility: a constant plus a part per issue.
type Additive struct {
	domain   *bargain.Domain
	parts    []Values
	few      [4]Values // memory for four issues' parts
	constant fixed.Number
	// products lists the parts of type Products, with nil for parts of other types; it is nil if there are
	// none.
	products    []*Products
	worst, best bargain.Outcome
	// monotone is Direction's result for the first issue. It is kept because the issue's table can be long.
	monotone int
}

// NewAdditive makes the utility constant + sum of weights[i] * values[i]. If weights is nil, all weights are 1.
// Each product is rounded once, here. It returns [ErrUtility] if the values or weights do not fit the domain,
// or if a utility would be beyond +-[bargain.MaxUtility].
func NewAdditive(
	domain *bargain.Domain, constant fixed.Number, weights []fixed.Number, values ...Values,
) (*Additive, error) {
	if len(values) != domain.Len() || weights != nil && len(weights) != domain.Len() {
		return nil, fmt.Errorf("%w: %d weights and %d value functions for %d issues", ErrUtility,
			len(weights), len(values), domain.Len())
	}
	a := &Additive{domain: domain, constant: constant}
	a.parts = a.few[:0]
	low, high := constant, constant
	for at, part := range values {
		issue := domain.Issue(at)
		if products, ok := part.(*Products); ok {
			if weights != nil {
				return nil, fmt.Errorf("%w: issue %q has products, which have their weight", ErrUtility, issue.Name)
			}
			if a.products == nil {
				a.products = make([]*Products, len(values))
			}
			part, a.products[at] = products.Table, products
		}
		if weights != nil {
			part = part.scaled(weights[at])
		}
		monotone, least, most, err := part.extremes(issue.Count)
		if err != nil {
			return nil, fmt.Errorf("%w: issue %q: %w", ErrUtility, issue.Name, err)
		}
		if at == 0 {
			a.monotone = monotone
		}
		low, high = low.Add(valueOf(part, least)), high.Add(valueOf(part, most))
		count := bargain.Outcome(issue.Count)
		a.worst = a.worst*count + bargain.Outcome(least)
		a.best = a.best*count + bargain.Outcome(most)
		a.parts = append(a.parts, part)
		if low < -bargain.MaxUtility || high > bargain.MaxUtility {
			return nil, fmt.Errorf("%w: it exceeds %s", ErrUtility, fixed.Number(bargain.MaxUtility))
		}
	}
	return a, nil
}

// PriceLine makes a linear utility between 0 and 1 for a domain with a single numeric issue: the last value is
// worth 1 to the seller, the first value 1 to the buyer.
func PriceLine(domain *bargain.Domain, seller bool) (*Additive, error) {
	line := Line{First: fixed.One, Count: domain.Size()}
	if seller {
		line.First, line.Last = line.Last, line.First
	}
	return NewAdditive(domain, 0, nil, line)
}

// Of returns an outcome's utility.
func (a *Additive) Of(o bargain.Outcome) fixed.Number {
	u, rest := a.constant, uint64(o)
	for at := len(a.parts) - 1; at > 0; at-- {
		count := a.domain.Issue(at).Count
		next := rest / count
		u += valueOf(a.parts[at], rest-next*count)
		rest = next
	}
	return u + valueOf(a.parts[0], rest)
}

// valueOf returns a value. For tables it needs no dynamic call.
func valueOf(values Values, index uint64) fixed.Number {
	if table, ok := values.(Table); ok {
		return table[index]
	}
	return values.Of(index)
}

// Part returns an issue's part of the utility for the value at index. The constant belongs to the part of issue
// 0.
func (a *Additive) Part(issue int, index uint64) fixed.Number {
	part := valueOf(a.parts[issue], index)
	if issue == 0 {
		part += a.constant
	}
	return part
}

// Table returns an issue's weighted values if they form a [Table], and nil otherwise. The constant is not
// included. The result is shared and must not be modified.
func (a *Additive) Table(issue int) []fixed.Number {
	table, _ := a.parts[issue].(Table)
	return table
}

// Constant returns the constant part.
func (a *Additive) Constant() fixed.Number { return a.constant }

// Values returns an issue's weighted values.
func (a *Additive) Values(issue int) Values { return a.parts[issue] }

// Direction returns 1 if an issue's part never falls with the index, -1 if it never rises, otherwise 0.
func (a *Additive) Direction(issue int) int {
	if issue == 0 {
		return a.monotone
	}
	monotone, _, _, _ := a.parts[issue].extremes(a.domain.Issue(issue).Count) // NewAdditive has checked them
	return monotone
}

// Extremes finds the outcomes with the lowest and the highest utility. Among equals it picks the lowest number.
func (a *Additive) Extremes() (worst, best bargain.Outcome) { return a.worst, a.best }
