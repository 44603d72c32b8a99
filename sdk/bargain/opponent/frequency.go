// Package opponent has models that estimate the other party's utility, from 0 to 1, from its offers. They
// follow GENIUS 10.4, in fixed point. An issue with more than 1,024 values is divided into 1,024 equal
// ranges.
//
// Source of the comparison of these models: Baarslag, Hendrikx, Hindriks, Jonker: Predicting the Performance
// of Opponent Models in Automated Negotiation (2013).
package opponent

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// maxValues is the number of values of an issue that a model tells apart.
const maxValues = 1024

// values maps an issue's values to the ones that a model tells apart.
type values struct {
	domain *bargain.Domain
	sizes  []int
}

func newValues(domain *bargain.Domain) values {
	v := values{domain: domain}
	for at := range domain.Len() {
		v.sizes = append(v.sizes, int(min(domain.Issue(at).Count, maxValues)))
	}
	return v
}

// of returns the value of an issue in an outcome.
func (v *values) of(o bargain.Outcome, at int) int {
	index := v.domain.Value(o, at)
	if count := v.domain.Issue(at).Count; count > maxValues {
		return int(fixed.One.Scale(int64(index>>1), int64(count>>1)) * maxValues / (fixed.One + 1))
	}
	return int(index)
}

// counter counts how often each value of an issue has been offered.
type counter struct {
	counts []int64
	most   int64
}

func (c *counter) add(value int) {
	c.counts[value]++
	c.most = max(c.most, c.counts[value])
}

// share returns the count of a value relative to the highest.
func (c *counter) share(value int) fixed.Number {
	if c.most == 0 {
		return 0
	}
	return fixed.Ratio(c.counts[value], c.most)
}

func newCounters(v *values, start int64) []counter {
	counters := make([]counter, len(v.sizes))
	for at, size := range v.sizes {
		counters[at] = counter{counts: make([]int64, size), most: start}
		for value := range counters[at].counts {
			counters[at].counts[value] = start
		}
	}
	return counters
}

// HardHeaded is the frequency model of the agent HardHeaded, the winner of ANAC 2011. An issue gains weight
// when its value does not change between two offers; a value gains with each offer. The first offer only
// serves for comparison.
//
// Source: van Krimpen, Looije, Hajizadeh: HardHeaded (2013); GENIUS 10.4, HardHeadedFrequencyModel.
type HardHeaded struct {
	// Learning is the weight that all issues together gain by one offer. If zero, 0.2 is used.
	Learning fixed.Number
}

// Model implements [bargain.Modeling].
func (h HardHeaded) Model(seat bargain.Seat) bargain.Model {
	if h.Learning == 0 {
		h.Learning = fixed.One / 5
	}
	v := newValues(seat.Preferences.Domain())
	n := int64(len(v.sizes))
	m := &hardHeaded{values: v, counters: newCounters(&v, 1), gain: h.Learning.Scale(1, n)}
	for range v.sizes {
		m.weights = append(m.weights, fixed.Ratio(1, n))
	}
	return m
}

type hardHeaded struct {
	values
	counters []counter
	weights  []fixed.Number
	gain     fixed.Number
	last     bargain.Outcome
	started  bool
}

func (m *hardHeaded) Observe(offer bargain.Offer) {
	last, started := m.last, m.started
	m.last, m.started = offer.Outcome, true
	if !started {
		return
	}
	unchanged := int64(0)
	for at := range m.weights {
		if m.of(last, at) == m.of(offer.Outcome, at) {
			unchanged++
		}
	}
	total := fixed.One + m.gain*fixed.Number(unchanged)
	highest := fixed.One - (m.gain * fixed.Number(len(m.weights))).Div(total)
	for at, weight := range m.weights {
		if m.of(last, at) == m.of(offer.Outcome, at) && weight < highest {
			weight += m.gain
		}
		m.weights[at] = weight.Div(total)
		m.counters[at].add(m.of(offer.Outcome, at))
	}
}

func (m *hardHeaded) Of(o bargain.Outcome) (u fixed.Number) {
	for at, weight := range m.weights {
		u += weight.Mul(m.counters[at].share(m.of(o, at)))
	}
	return u
}

// Smith is the frequency model of AgentSmith (ANAC 2010). A value's utility is its frequency relative to the
// most frequent one of its issue; an issue's weight is the part of the offers that have its most frequent
// value. Before the first offer the utility of all outcomes is 0.
//
// Source: van Galen Last: Agent Smith (2012); GENIUS 10.4, SmithFrequencyModelV2.
type Smith struct{}

// Model implements [bargain.Modeling].
func (Smith) Model(seat bargain.Seat) bargain.Model {
	v := newValues(seat.Preferences.Domain())
	return &smith{values: v, counters: newCounters(&v, 0)}
}

type smith struct {
	values
	counters []counter
}

func (m *smith) Observe(offer bargain.Offer) {
	for at := range m.counters {
		m.counters[at].add(m.of(offer.Outcome, at))
	}
}

func (m *smith) Of(o bargain.Outcome) (u fixed.Number) {
	// All issues have the same number of offers, so their weights are in proportion to the highest counts.
	total := int64(0)
	for at := range m.counters {
		total += m.counters[at].most
	}
	if total == 0 {
		return 0
	}
	for at := range m.counters {
		// weight * share = most/total * count/most
		u += fixed.Ratio(m.counters[at].counts[m.of(o, at)], total)
	}
	return min(u, fixed.One)
}

// NashFrequency is the frequency model of the agent Nash (ANAC 2010). For categorical issues it is as
// [Smith]. For issues with an order, a value's utility falls from the first offer's value, the opponent's
// best, to the far end of the issue, and the weight is 1 - 2 d, where d is the mean deviation of the offered
// values from their mean, relative to the issue's range. GENIUS uses the standard deviation; the mean
// deviation needs no root. Before the first offer the utility of all outcomes is 0.
//
// Source: GENIUS 10.4, NashFrequencyModel.
type NashFrequency struct{}

// Model implements [bargain.Modeling].
func (NashFrequency) Model(seat bargain.Seat) bargain.Model {
	v := newValues(seat.Preferences.Domain())
	return &nash{
		values: v, counters: newCounters(&v, 0), first: make([]int, len(v.sizes)),
		weights: make([]fixed.Number, len(v.sizes)),
	}
}

type nash struct {
	values
	counters []counter
	first    []int
	weights  []fixed.Number
	offers   int64
}

func (m *nash) Observe(offer bargain.Offer) {
	total := fixed.Number(0)
	for at := range m.counters {
		value := m.of(offer.Outcome, at)
		if m.offers == 0 {
			m.first[at] = value
		}
		m.counters[at].add(value)
		m.weights[at] = m.weight(at)
		total += m.weights[at]
	}
	m.offers++
	for at := range m.weights {
		if total == 0 {
			m.weights[at] = fixed.Ratio(1, int64(len(m.weights)))
		} else {
			m.weights[at] = m.weights[at].Div(total)
		}
	}
}

// weight returns an issue's weight, not normalized.
func (m *nash) weight(at int) fixed.Number {
	c := &m.counters[at]
	sum, count := int64(0), int64(0)
	for value, times := range c.counts {
		sum += int64(value) * times
		count += times
	}
	if !m.domain.Issue(at).IsOrdered() {
		return fixed.Ratio(c.most, count)
	}
	if len(c.counts) < 2 {
		return fixed.One
	}
	deviation := int64(0) // times count^2
	for value, times := range c.counts {
		distance := int64(value)*count - sum
		deviation += max(distance, -distance) * times
	}
	return max(0, fixed.One-2*fixed.Ratio(deviation, count*count).Scale(1, int64(len(c.counts)-1)))
}

func (m *nash) Of(o bargain.Outcome) (u fixed.Number) {
	if m.offers == 0 {
		return 0
	}
	for at, weight := range m.weights {
		u += weight.Mul(m.value(at, m.of(o, at)))
	}
	return u.Clamp(0, fixed.One)
}

func (m *nash) value(at, value int) fixed.Number {
	if !m.domain.Issue(at).IsOrdered() {
		return m.counters[at].share(value)
	}
	// The far end is the end of the issue with the greater distance from the first offer.
	first, last := m.first[at], m.sizes[at]-1
	far := max(first, last-first)
	if far == 0 {
		return fixed.One
	}
	return fixed.One - fixed.Ratio(int64(max(value-first, first-value)), int64(far))
}
