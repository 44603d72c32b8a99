package opponent

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// NashFrequency is the frequency model of the agent Nash (ANAC 2010). It treats issues with names as [Smith]
// does. For prices, integers and reals, a value's utility falls linearly to either side of a peak: it reaches 0
// at half the issue's range from the peak, or at the issue's end if farther. The peak is the sum of the offered
// values times 1/2, 1/4, 1/8, ... in offer order; the first value also takes the remaining weight. The issue's
// weight is 1 - 2 d, where d denotes the offered values' standard deviation, relative to the range. Until an
// offer is received, all outcomes are worth 0.
//
// Source: GENIUS 10.4, NashFrequencyModel. For a peak in the upper half, GENIUS computes the lower zero point
// by adding a difference instead of subtracting it: with the peak at the upper end, peak and zero point
// coincide: the utility is 0/0. Here the upper half mirrors the lower half. For issues with a single value,
// where GENIUS divides by 0, weight and utility are 1.
type NashFrequency struct{}

// Model implements [bargain.Modeling].
func (NashFrequency) Model(seat bargain.Seat) bargain.Model {
	v := newValues(seat.Preferences.Domain())
	m := &nash{
		values: v, counters: newCounters(&v, 0), spreads: make([]spread, len(v.sizes)),
		weights: make([]fixed.Number, len(v.sizes)),
	}
	for at := range m.spreads {
		m.spreads[at].line = positions(v.domain.Issue(at))
	}
	return m
}

// positions returns the relative positions, between 0 and 1, of a numeric issue's values.
func positions(issue *bargain.Issue) utility.Line {
	return utility.Line{Last: fixed.One, Count: issue.Count}
}

type nash struct {
	values
	counters []counter // of the issues with names
	spreads  []spread  // of the numeric issues
	weights  []fixed.Number
	offers   int64
}

func (m *nash) Observe(offer bargain.Offer) {
	m.offers++
	total := fixed.Number(0)
	for at := range m.weights {
		if m.domain.Issue(at).IsNumeric() {
			s := &m.spreads[at]
			s.add(m.domain.Value(offer.Outcome, at), m.offers)
			m.weights[at] = s.weight(m.offers)
		} else {
			c := &m.counters[at]
			c.add(m.of(offer.Outcome, at))
			m.weights[at] = fixed.Ratio(c.most, m.offers)
		}
		total += m.weights[at]
	}
	for at := range m.weights {
		if total == 0 {
			m.weights[at] = fixed.Ratio(1, int64(len(m.weights)))
		} else {
			m.weights[at] = m.weights[at].Div(total)
		}
	}
}

func (m *nash) Of(o bargain.Outcome) (u fixed.Number) {
	if m.offers == 0 {
		return 0
	}
	for at, weight := range m.weights {
		if m.domain.Issue(at).IsNumeric() {
			u += weight.Mul(m.spreads[at].of(m.domain.Value(o, at)))
		} else {
			u += weight.Mul(m.counters[at].share(m.of(o, at)))
		}
	}
	return u.Clamp(0, fixed.One)
}

// spread describes the distribution of a numeric issue's offered values, by position.
type spread struct {
	line        utility.Line
	first, peak fixed.Number
	// squares adds up the squared differences from the mean.
	mean, squares fixed.Number
}

// add adds the value with an index: it belongs to the offer with a number, from 1.
func (s *spread) add(index uint64, offer int64) {
	position := s.line.Of(index)
	if offer == 1 {
		s.first, s.peak, s.mean = position, position, position
		return
	}
	// The weights 1/2 + 1/2^n, 1/4, ..., 1/2^n differ from the previous weights only in the first and last
	// weight. The difference rounds to 0 starting at the 40th offer.
	if offer < 40 {
		s.peak += (position - s.first) / (1 << offer)
	}
	// Welford's method; subtracting sums would lose digits.
	from := position - s.mean
	s.mean += from / fixed.Number(offer)
	s.squares += from.Mul(position - s.mean)
}

// weight returns the issue's weight after offers offers, not normalized.
func (s *spread) weight(offers int64) fixed.Number {
	deviation := fixed.Pow(s.squares/fixed.Number(offers), fixed.One/2)
	return max(0, fixed.One-2*deviation)
}

// of returns the utility for the value at index.
func (s *spread) of(index uint64) fixed.Number {
	position := s.line.Of(index)
	if position < s.peak {
		return fixed.One - (s.peak - position).Div(max(fixed.One/2, s.peak))
	}
	return fixed.One - (position - s.peak).Div(max(fixed.One/2, fixed.One-s.peak))
}
