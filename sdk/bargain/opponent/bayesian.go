package opponent

import (
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// Bayesian is the scalable Bayesian model. It keeps independent hypotheses per issue: the weights 0, 0.1, ...
// 1, where low weights start out more probable, and value utilities that rise, fall, or fall from a peak to
// both ends. It assumes that the opponent's n-th different offer is worth 1 - Concession (n-1), with normally
// distributed relative deviations. It updates an issue's hypotheses while all remaining issues keep their
// expected values, so the cost grows with the sum of the hypotheses and not with their product. The first offer
// does not change the weights, and repeated offers change nothing. Estimates are normalized: the domain's worst
// outcome is worth 0, the best 1.
//
// In an issue with names any name can be the peak, so the cost grows with the square of the number of names.
// Numeric issues use six hypotheses, with peaks at 0, 0.2, ... 1 within the range.
//
// Source: Hindriks, Tykhonov: Opponent Modelling in Automated Multi-Issue Negotiation Using Bayesian Learning
// (2008), sections 3 to 5, as in GENIUS 10.4, BayesianOpponentModelScalable, with these differences. GENIUS
// lacks hypotheses for integers: here integers use the hypotheses for reals. In GENIUS the estimates can become
// invalid, because probabilities fall to 0 while the assumed utility becomes negative. Here probabilities never
// fall below 10^-12, and offers with an assumed utility of 0 or less change nothing: with 0.003 this affects
// all offers after the first 334 different ones. If all outcomes are equal, the estimate is 0.
type Bayesian struct {
	// Concession is the assumed utility loss per offer. If zero, 0.003 is used, as in GENIUS.
	Concession fixed.Number
	// Deviation is the standard deviation relative to the assumed utility. If zero, 0.25 is used.
	Deviation fixed.Number
}

// levels counts the hypotheses about a weight.
const levels = 11

// lastPoint is the highest point: points 0 to 5 divide a numeric issue's range; all points are possible peaks.
const lastPoint = 5

// Model implements [bargain.Modeling].
func (b Bayesian) Model(seat bargain.Seat) bargain.Model {
	if b.Concession == 0 {
		b.Concession = fixed.One / 1000 * 3
	}
	if b.Deviation == 0 {
		b.Deviation = fixed.One / 4
	}
	domain := seat.Preferences.Domain()
	m := &bayesian{
		Bayesian: b, values: newValues(domain), assumed: fixed.One, places: make([]place, domain.Len()),
		seen: make([]bargain.Outcome, 0, min(uint64(max(seat.Steps, 0)), domain.Size(), maxValues)),
	}
	most := levels
	for at := range domain.Len() {
		issue := newBelief(domain.Issue(at), m.sizes[at])
		most = max(most, len(issue.shapes))
		m.issues = append(m.issues, issue)
	}
	m.exponents = make([]fixed.Number, most)
	m.expect()
	return m
}

// belief holds the probabilities for an issue's hypotheses.
type belief struct {
	// weights holds the probabilities for the weights 0, 0.1, ... 1, shapes those for the value utilities.
	weights, shapes []fixed.Number
	// weight holds the expected weight, not normalized.
	weight fixed.Number
	// points holds the expected utilities for the values, or for a numeric issue's points.
	points []fixed.Number
	line   utility.Line // for numeric issues
}

func newBelief(issue *bargain.Issue, size int) belief {
	b := belief{weights: make([]fixed.Number, levels)}
	count := max(size, 2)
	if issue.IsNumeric() && size > 1 {
		b.line = positions(issue)
		size, count = lastPoint+1, lastPoint+1
	}
	b.points = make([]fixed.Number, size)
	b.shapes = make([]fixed.Number, count)
	for shape := range b.shapes {
		b.shapes[shape] = fixed.Ratio(1, int64(count))
	}
	// The probability of the weight j/10 is proportional to (1 - (j+1)/11)^3. The sum of 1, 8, ... 1000 is 3025.
	for hypothesis := range b.weights {
		n := int64(levels - 1 - hypothesis)
		b.weights[hypothesis] = fixed.Ratio(n*n*n, 3025)
	}
	return b
}

// place is an issue value: a point plus a fraction of the way to the next.
type place struct {
	point int
	part  fixed.Number
}

// shape returns a point's utility under a hypothesis: hypothesis 0 rises, 1 falls, all others peak at an inner
// point, from the second to the second to last.
func (b *belief) shape(hypothesis, point int) fixed.Number {
	last := int64(len(b.points) - 1)
	peak, at := int64(hypothesis-1), int64(point)
	if b.line.Count > 0 {
		switch {
		case hypothesis == 0:
			return fixed.Ratio(at, last)
		case hypothesis > 1 && at < peak:
			return fixed.Ratio(at, peak)
		}
		return fixed.Ratio(last-at, last-peak)
	}
	// GENIUS has positive integers for names, up to about 1,000, divided by the highest one.
	switch {
	case hypothesis == 0:
		return fixed.Ratio(1000*at+1, 1000*last+1)
	case hypothesis == 1:
		return fixed.Ratio(1000*(last-at)+1, 1000*last+1)
	case at < peak:
		return fixed.Ratio(1000*at/peak, 1001)
	}
	return fixed.Ratio(1000*(last-at)/(last-peak)+1, 1001)
}

// of returns a place's utility under a hypothesis.
func (b *belief) of(hypothesis int, at place) fixed.Number {
	u := b.shape(hypothesis, at.point)
	if at.part > 0 {
		u += (b.shape(hypothesis, at.point+1) - u).Mul(at.part)
	}
	return u
}

// expected returns a place's expected utility.
func (b *belief) expected(at place) fixed.Number {
	u := b.points[at.point]
	if at.part > 0 {
		u += (b.points[at.point+1] - u).Mul(at.part)
	}
	return u
}

// expectWeight computes the expected weight.
func (b *belief) expectWeight() {
	b.weight = 0
	for hypothesis, p := range b.weights {
		b.weight += p.Mul(level(hypothesis))
	}
}

// level returns the weight assumed by a hypothesis.
func level(hypothesis int) fixed.Number { return fixed.Ratio(int64(hypothesis), levels-1) }

type bayesian struct {
	Bayesian
	values
	issues []belief
	// least and most hold the extreme outcomes' expected utilities, not normalized.
	least, most fixed.Number
	// assumed holds the next offer's assumed utility, seen the different offers in rising order.
	assumed fixed.Number
	seen    []bargain.Outcome
	// places and exponents are memory for an update.
	places    []place
	exponents []fixed.Number
}

// place returns the place of outcome o in the given issue.
func (m *bayesian) place(o bargain.Outcome, at int) place {
	if line := m.issues[at].line; line.Count > 0 {
		scaled := lastPoint * line.Of(m.domain.Value(o, at))
		return place{int(scaled / fixed.One), scaled % fixed.One}
	}
	return place{point: m.of(o, at)}
}

// expect computes the expected weights and utilities.
func (m *bayesian) expect() {
	m.least, m.most = 0, 0
	for at := range m.issues {
		b := &m.issues[at]
		b.expectWeight()
		for point := range b.points {
			b.points[point] = 0
			for hypothesis, p := range b.shapes {
				b.points[point] += p.Mul(b.shape(hypothesis, point))
			}
		}
		m.least += b.weight.Mul(slices.Min(b.points))
		m.most += b.weight.Mul(slices.Max(b.points))
	}
}

func (m *bayesian) Observe(offer bargain.Offer) {
	index, repeated := slices.BinarySearch(m.seen, offer.Outcome)
	if repeated || m.assumed <= 0 {
		return
	}
	m.seen = slices.Insert(m.seen, index, offer.Outcome)
	for at := range m.places {
		m.places[at] = m.place(offer.Outcome, at)
	}
	if len(m.seen) > 1 {
		whole := m.whole()
		for at := range m.issues {
			b := &m.issues[at]
			part := b.expected(m.places[at])
			rest := whole - b.weight.Mul(part)
			for hypothesis := range b.weights {
				m.exponents[hypothesis] = m.exponent(rest + level(hypothesis).Mul(part))
			}
			update(b.weights, m.exponents)
		}
		for at := range m.issues {
			m.issues[at].expectWeight()
		}
	}
	whole := m.whole()
	for at := range m.issues {
		b := &m.issues[at]
		rest := whole - b.weight.Mul(b.expected(m.places[at]))
		for hypothesis := range b.shapes {
			m.exponents[hypothesis] = m.exponent(rest + b.weight.Mul(b.of(hypothesis, m.places[at])))
		}
		update(b.shapes, m.exponents)
	}
	m.assumed -= m.Concession
	m.expect()
}

// whole returns the expected utility of the observed offer, not normalized.
func (m *bayesian) whole() (u fixed.Number) {
	for at := range m.issues {
		u += m.issues[at].weight.Mul(m.issues[at].expected(m.places[at]))
	}
	return u
}

// exponent returns z, where e^-z is the normal density for an offer with utility u, up to a factor.
func (m *bayesian) exponent(u fixed.Number) fixed.Number {
	deviations := (m.assumed - u).Div(m.assumed).Div(m.Deviation)
	return deviations.Mul(deviations) / 2
}

// update multiplies probabilities by e^-z, with a least result of 10^-12, and divides them by their sum.
func update(probabilities, exponents []fixed.Number) {
	// The smallest exponent is subtracted from all, so that the most likely hypothesis does not round to 0.
	least := slices.Min(exponents[:len(probabilities)])
	sum := fixed.Number(0)
	for i, p := range probabilities {
		probabilities[i] = max(p.Mul(fixed.Exp(least-exponents[i])), 1)
		sum += probabilities[i]
	}
	for i, p := range probabilities {
		probabilities[i] = p.Div(sum)
	}
}

func (m *bayesian) Of(o bargain.Outcome) (u fixed.Number) {
	for at := range m.issues {
		u += m.issues[at].weight.Mul(m.issues[at].expected(m.place(o, at)))
	}
	return (u - m.least).Div(m.most-m.least).Clamp(0, fixed.One)
}
