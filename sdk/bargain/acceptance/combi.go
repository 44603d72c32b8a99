package acceptance

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Expectation estimates future offers from the last window's offers. The window is as long as the remaining
// time.
type Expectation uint8

// The expectations.
const (
	// ExpectNothing: any rational offer is accepted.
	ExpectNothing Expectation = iota
	// ExpectMax: the best offer of the window.
	ExpectMax
	// ExpectAvg: the average of the window.
	ExpectAvg
	// ExpectProb: the average over the window's offers better than the current offer, times the probability
	// of such an offer; 0 if there are none. With more than ten offers in the window it waits.
	ExpectProb
)

// Combi is ACcombi(From, alpha): ACnext, and after the relative time From also any offer worth the
// expectation for the remaining time or more. At time t the window is (2t-1, t], equal in length to the
// remaining time.
//
// Source: Baarslag, Hindriks, Jonker (2014), section 3.3; GENIUS 10.4, AC_CombiMaxInWindow, AC_CombiAvg and
// AC_CombiProb. There ExpectProb's probability is 1 if the window contains a better offer, because the window
// is as long as the remaining time: it accepts the best among up to ten offers. GENIUS omits offers with
// utility 0 from the average. Here they count, because utility 0 is nothing special.
type Combi struct {
	// From is the relative start time. If zero, 0.98 is used, as in GENIUS.
	From        fixed.Number
	Expectation Expectation
}

// Acceptor implements [bargain.Acceptance].
func (c Combi) Acceptor(seat bargain.Seat) bargain.Acceptor {
	if c.From == 0 {
		c.From = fixed.One / 50 * 49
	}
	return &combi{Combi: c, next: Next{}.Acceptor(seat), seat: seat}
}

type combi struct {
	Combi
	next bargain.Acceptor
	seat bargain.Seat
	// byNext reports whether ACnext held.
	byNext bool
}

// expected lists the reasons, by expectation.
var expected = [...]string{
	ExpectNothing: "ACcombi: at least the reservation value, near the deadline",
	ExpectMax:     "ACcombi: at least the best offer of the last window",
	ExpectAvg:     "ACcombi: at least the average of the last window",
	ExpectProb:    "ACcombi: at least the expectation of a better offer",
}

func (c *combi) Reason() string {
	if c.byNext {
		return c.next.Reason()
	}
	return expected[c.Expectation]
}

func (c *combi) Accepts(state *bargain.State, plan bargain.Plan) bool {
	if c.byNext = c.next.Accepts(state, plan); c.byNext {
		return true
	}
	p := c.seat.Preferences
	u := p.Of(state.Offer)
	if state.Time < c.From || u < p.Reservation() {
		return false
	}
	window := c.window(state)
	switch c.Expectation {
	case ExpectMax:
		return u >= window.best
	case ExpectAvg:
		return u >= window.all.mean()
	case ExpectProb:
		return window.all.count <= 10 && u >= window.best
	}
	return true
}

// mean averages up to 1,000 utilities. The sum is high*1000 + low, because a sum of large utilities would
// exceed the range.
type mean struct {
	high, low fixed.Number
	count     int64
}

func (m *mean) add(u fixed.Number) {
	m.high += u / 1000
	m.low += u % 1000
	m.count++
}

func (m *mean) mean() fixed.Number {
	if m.count == 0 {
		return fixed.Min
	}
	n := fixed.Number(m.count)
	return m.high/n*1000 + (m.high%n*1000+m.low)/n
}

type window struct {
	best fixed.Number
	all  mean
}

// window returns the opponents' offers in the last period, equal in length to the remaining time, start
// excluded. It keeps only the last 1,000 offers, to keep sums in range.
func (c *combi) window(state *bargain.State) window {
	w := window{best: fixed.Min}
	from := state.Time - (fixed.One - state.Time)
	for at := len(state.History) - 1; at >= 0 && w.all.count < 1000; at-- {
		offer := state.History[at]
		if offer.Time <= from {
			break
		}
		if offer.By == c.seat.Self {
			continue
		}
		u := c.seat.Preferences.Of(offer.Outcome)
		w.best = max(w.best, u)
		w.all.add(u)
	}
	return w
}
