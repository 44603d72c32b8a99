package utility

import (
	"fmt"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Mapping is a utility that stores a value per outcome, for small domains.
type Mapping struct {
	values      []fixed.Number
	worst, best bargain.Outcome
}

// NewMapping makes a utility from the given values, in outcome order. It returns [ErrUtility] if the number of
// values differs from the number of outcomes, or a value exceeds [bargain.MaxUtility].
func NewMapping(domain *bargain.Domain, values []fixed.Number) (*Mapping, error) {
	if uint64(len(values)) != domain.Size() {
		return nil, fmt.Errorf("%w: %d values for %d outcomes", ErrUtility, len(values), domain.Size())
	}
	m := &Mapping{values: slices.Clone(values)}
	least, most := values[0], values[0]
	for o, value := range values {
		switch {
		case value > bargain.MaxUtility || value < -bargain.MaxUtility:
			return nil, fmt.Errorf("%w: %s exceeds the limit", ErrUtility, value)
		case value < least:
			least, m.worst = value, bargain.Outcome(o)
		case value > most:
			most, m.best = value, bargain.Outcome(o)
		}
	}
	return m, nil
}

// Of returns an outcome's utility.
func (m *Mapping) Of(o bargain.Outcome) fixed.Number { return m.values[o] }

// Extremes finds the outcomes with the lowest and the highest utility. Among equals it picks the lowest number.
func (m *Mapping) Extremes() (worst, best bargain.Outcome) { return m.worst, m.best }

// Utilities lists all utilities by outcome number. They are shared: do not change them.
func (m *Mapping) Utilities() []fixed.Number { return m.values }

// Range is a range of issue values, both ends included.
type Range struct {
	Issue       int
	First, Last uint64
}

// Rectangle is a constraint with a value: an outcome that lies in all the ranges receives the value.
type Rectangle struct {
	Ranges []Range
	Value  fixed.Number
}

// HyperRectangle is a nonlinear utility: a constant plus the values of all rectangles containing the outcome.
//
// Source: Ito, Hattori, Klein: Multi-issue Negotiation Protocol for Agents: Exploring Nonlinear Utility
// Spaces (2007); ANAC 2014's domains.
type HyperRectangle struct {
	domain     *bargain.Domain
	constant   fixed.Number
	rectangles []Rectangle
}

// NewHyperRectangle makes a utility from the given rectangles. It returns [ErrUtility] if a range does not
// exist, or a utility could exceed [bargain.MaxUtility].
func NewHyperRectangle(
	domain *bargain.Domain, constant fixed.Number, rectangles ...Rectangle,
) (*HyperRectangle, error) {
	low, high := constant, constant
	for i, rectangle := range rectangles {
		for _, r := range rectangle.Ranges {
			known := 0 <= r.Issue && r.Issue < domain.Len()
			if !known || r.First > r.Last || r.Last >= domain.Issue(r.Issue).Count {
				return nil, fmt.Errorf("%w: rectangle %d: there are no values %d to %d of issue %d",
					ErrUtility, i, r.First, r.Last, r.Issue)
			}
		}
		low, high = low.Add(min(rectangle.Value, 0)), high.Add(max(rectangle.Value, 0))
	}
	if low < -bargain.MaxUtility || high > bargain.MaxUtility {
		return nil, fmt.Errorf("%w: it exceeds %s", ErrUtility, fixed.Number(bargain.MaxUtility))
	}
	return &HyperRectangle{domain: domain, constant: constant, rectangles: rectangles}, nil
}

// Of returns an outcome's utility.
func (h *HyperRectangle) Of(o bargain.Outcome) fixed.Number {
	u := h.constant
	for i := range h.rectangles {
		if h.has(&h.rectangles[i], o) {
			u += h.rectangles[i].Value
		}
	}
	return u
}

func (h *HyperRectangle) has(rectangle *Rectangle, o bargain.Outcome) bool {
	for _, r := range rectangle.Ranges {
		if index := h.domain.Value(o, r.Issue); index < r.First || index > r.Last {
			return false
		}
	}
	return true
}

// Constant returns the constant part.
func (h *HyperRectangle) Constant() fixed.Number { return h.constant }

// Rectangles returns all rectangles. They are shared: do not change them.
func (h *HyperRectangle) Rectangles() []Rectangle { return h.rectangles }
