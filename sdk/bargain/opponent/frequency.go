// Package opponent implements models that estimate an opponent's utility, between 0 and 1, from past offers.
// They follow GENIUS 10.4, in fixed point. Models that count values divide issues with more than 1,024 values
// into 1,024 equal ranges.
//
// Source of the comparison of these models: Baarslag, Hendrikx, Hindriks, Jonker: Predicting the Performance
// of Opponent Models in Automated Negotiation (2013).
package opponent

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// maxValues limits the distinct values per issue in a model.
const maxValues = 1024

// values maps an issue's values to a model's distinct values.
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

// of returns an issue's value in an outcome.
func (v *values) of(o bargain.Outcome, at int) int {
	index := v.domain.Value(o, at)
	if count := v.domain.Issue(at).Count; count > maxValues {
		return int(fixed.One.Scale(int64(index>>1), int64(count>>1)) * maxValues / (fixed.One + 1))
	}
	return int(index)
}

// counter counts offers per issue value.
type counter struct {
	counts []int64
	most   int64
}

func (c *counter) add(value int) {
	c.counts[value]++
	c.most = max(c.most, c.counts[value])
}

// share returns a value's count relative to the highest count.
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

// HardHeaded is the frequency model of HardHeaded, ANAC 2011's winning agent. Issues gain weight when the value
// does not change from offer to offer; values gain with every offer. The first offer only serves for
// comparison.
//
// Source: van Krimpen, Looije, Hajizadeh: HardHeaded (2013); GENIUS 10.4, HardHeadedFrequencyModel. Unchanged
// issues at the maximum weight gain nothing, and then the weights sum to less than 1. GENIUS' utility editor,
// where the model stores the weights, restores the sum 1 after every weight change, by 0.05 per issue. This
// correction is not part of the model.
type HardHeaded struct {
	// Learning is the issues' total weight gain per offer. If zero, 0.2 is used.
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

// Smith is the frequency model of AgentSmith (ANAC 2010). A value's utility is the frequency relative to the
// issue's most frequent value; an issue's weight is this value's share of offers. Until an offer is received,
// all outcomes are worth 0.
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
	// The number of offers is the same for all issues, so their weights are in proportion to the highest
	// counts.
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
