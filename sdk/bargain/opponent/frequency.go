// Package opponent has models that estimate the other party's utility, from 0 to 1, from its offers. They
// follow GENIUS 10.4, in fixed point. Where a model counts values, an issue with more than 1,024 of them is
// divided into 1,024 equal ranges.
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
// Source: van Krimpen, Looije, Hajizadeh: HardHeaded (2013); GENIUS 10.4, HardHeadedFrequencyModel. An
// unchanged issue whose weight has reached a maximum gains none, and then the weights sum to less than 1. In
// GENIUS the editor of utilities, which the model writes its weights to, makes the sum 1 again after each
// change of a weight, by a part of 0.05 for each issue. That is not part of the model.
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
