package opponent

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Bayesian is the scalable Bayesian model. It has independent hypotheses for each issue: weights in eleven
// levels, and utilities that fall linearly from a peak at one of up to eleven positions to both ends. It
// assumes that the opponent's offers have the utility 1 - Concession*n for the n-th offer, with normally
// distributed deviations, and updates one issue's hypotheses while the others have their expected values, so
// that the cost grows with the sum of the hypotheses and not with their product.
//
// Source: Hindriks, Tykhonov: Opponent Modelling in Automated Multi-Issue Negotiation Using Bayesian Learning
// (2008), sections 3 to 5.
type Bayesian struct {
	// Concession is the assumed loss of utility by each offer. If zero, 0.003 is used, as in GENIUS.
	Concession fixed.Number
	// Deviation is the standard deviation. If zero, 0.25 is used.
	Deviation fixed.Number
}

// levels is the number of hypotheses about a weight, and the highest number about the peak.
const levels = 11

// Model implements [bargain.Modeling].
func (b Bayesian) Model(seat bargain.Seat) bargain.Model {
	if b.Concession == 0 {
		b.Concession = fixed.One / 1000 * 3
	}
	if b.Deviation == 0 {
		b.Deviation = fixed.One / 4
	}
	m := &bayesian{Bayesian: b, values: newValues(seat.Preferences.Domain()), expected: fixed.One}
	for _, size := range m.sizes {
		issue := belief{weights: uniform(levels), peaks: uniform(min(size, levels))}
		m.issues = append(m.issues, issue)
	}
	m.parts = make([]fixed.Number, len(m.issues))
	m.normalize()
	return m
}

func uniform(count int) []fixed.Number {
	p := make([]fixed.Number, count)
	for i := range p {
		p[i] = fixed.Ratio(1, int64(count))
	}
	return p
}

// belief is the probabilities of the hypotheses about an issue.
type belief struct {
	weights, peaks []fixed.Number
	weight         fixed.Number // the expected weight, normalized over the issues
}

type bayesian struct {
	Bayesian
	values
	issues   []belief
	parts    []fixed.Number
	expected fixed.Number
	total    fixed.Number // the sum of the expected weights, not normalized
}

// level returns the weight of a hypothesis.
func level(hypothesis int) fixed.Number { return fixed.Ratio(int64(hypothesis), levels-1) }

// normalize computes the expected weights.
func (m *bayesian) normalize() {
	m.total = 0
	for at := range m.issues {
		issue := &m.issues[at]
		issue.weight = 0
		for hypothesis, p := range issue.weights {
			issue.weight += p.Mul(level(hypothesis))
		}
		m.total += issue.weight
	}
	for at := range m.issues {
		if m.total == 0 {
			m.issues[at].weight = fixed.Ratio(1, int64(len(m.issues)))
		} else {
			m.issues[at].weight = m.issues[at].weight.Div(m.total)
		}
	}
}

// peaked returns the utility of a value if the peak is at a hypothesis' position.
func (m *bayesian) peaked(at, hypothesis, value int) fixed.Number {
	last := m.sizes[at] - 1
	if last == 0 {
		return fixed.One
	}
	peak := hypothesis * last / max(len(m.issues[at].peaks)-1, 1)
	switch {
	case value < peak:
		return fixed.Ratio(int64(value), int64(peak))
	case value > peak:
		return fixed.Ratio(int64(last-value), int64(last-peak))
	}
	return fixed.One
}

// value returns the expected utility of an issue's value.
func (m *bayesian) value(at, value int) (u fixed.Number) {
	for hypothesis, p := range m.issues[at].peaks {
		u += p.Mul(m.peaked(at, hypothesis, value))
	}
	return u
}

func (m *bayesian) Observe(offer bargain.Offer) {
	whole := fixed.Number(0)
	for at := range m.issues {
		m.parts[at] = m.value(at, m.of(offer.Outcome, at))
		whole += m.issues[at].weight.Mul(m.parts[at])
	}
	for at := range m.issues {
		issue, part := &m.issues[at], m.parts[at]
		rest := whole - issue.weight.Mul(part)
		value := m.of(offer.Outcome, at)
		for hypothesis := range issue.peaks {
			u := rest + issue.weight.Mul(m.peaked(at, hypothesis, value))
			issue.peaks[hypothesis] = issue.peaks[hypothesis].Mul(m.likelihood(u))
		}
		scale(issue.peaks)
		// With another weight of this issue, the other issues share the rest of 1.
		for hypothesis := range issue.weights {
			weight := level(hypothesis)
			u := weight.Mul(part)
			if others := fixed.One - issue.weight; others > 0 {
				u += rest.Mul(fixed.One - weight).Div(others)
			}
			issue.weights[hypothesis] = issue.weights[hypothesis].Mul(m.likelihood(u))
		}
		scale(issue.weights)
	}
	m.normalize()
	m.expected = max(0, m.expected-m.Concession)
}

// likelihood returns the density of the normal distribution for an offer with this utility, up to a factor,
// and never less than 10^-6, so that no hypothesis becomes impossible by rounding.
func (m *bayesian) likelihood(u fixed.Number) fixed.Number {
	z := (u - m.expected).Div(m.Deviation)
	return max(fixed.Exp(-z.Mul(z)/2), fixed.One/1_000_000)
}

// scale divides probabilities by their sum.
func scale(p []fixed.Number) {
	sum := fixed.Number(0)
	for i := range p {
		p[i] = max(p[i], 1_000)
		sum += p[i]
	}
	for i := range p {
		p[i] = p[i].Div(sum)
	}
}

func (m *bayesian) Of(o bargain.Outcome) (u fixed.Number) {
	for at := range m.issues {
		u += m.issues[at].weight.Mul(m.value(at, m.of(o, at)))
	}
	return u.Clamp(0, fixed.One)
}
