// Package acceptance implements the conditions for accepting offers. All conditions refuse offers below the
// reservation value, even if the source does not.
//
// Sources: Baarslag, Hindriks, Jonker: Effective Acceptance Conditions in Real-Time Automated Negotiation
// (2014), for the names; GENIUS 10.4; NegMAS 0.16.
package acceptance

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Const is ACconst: it accepts offers at or above a fixed utility.
type Const struct {
	Utility fixed.Number
	// Level gives the utility as a level of the rational range, if Utility is lower.
	Level fixed.Number
}

// Acceptor implements [bargain.Acceptance].
func (c Const) Acceptor(seat bargain.Seat) bargain.Acceptor {
	if c.Level > 0 {
		c.Utility = max(c.Utility, seat.Preferences.Target(c.Level))
	}
	return &constant{c, seat.Preferences, "ACconst: at least the constant utility"}
}

type constant struct {
	Const
	preferences *bargain.Preferences
	reason      string
}

func (c *constant) Reason() string { return c.reason }

func (c *constant) Accepts(state *bargain.State, _ bargain.Plan) bool {
	u := c.preferences.Of(state.Offer)
	return u >= c.Utility && u >= c.preferences.Reservation()
}

// Next is ACnext(Alpha, Beta): it accepts an offer with utility u if Alpha u + Beta is at least the utility
// of the party's next offer. If Alpha is zero, 1 is used.
type Next struct{ Alpha, Beta fixed.Number }

// Acceptor implements [bargain.Acceptance].
func (n Next) Acceptor(seat bargain.Seat) bargain.Acceptor {
	if n.Alpha == 0 {
		n.Alpha = fixed.One
	}
	return &next{Next: n, preferences: seat.Preferences}
}

type next struct {
	Next
	preferences *bargain.Preferences
	// isLast reports whether there was no next offer.
	isLast bool
}

func (n *next) Reason() string {
	if n.isLast {
		return "ACnext: at least the reservation value, and there is no next offer"
	}
	return "ACnext: at least as good as the next offer"
}

func (n *next) Accepts(state *bargain.State, plan bargain.Plan) bool {
	u := n.preferences.Of(state.Offer)
	if u < n.preferences.Reservation() {
		return false
	}
	planned := plan.Next()
	if n.isLast = planned == bargain.NoOutcome; n.isLast {
		return true
	}
	scaled := u
	if n.Alpha != fixed.One {
		scaled = u.Mul(n.Alpha)
	}
	return scaled.Add(n.Beta) >= n.preferences.Of(planned)
}

// Time is ACtime(From): it accepts any rational offer from a relative time on, as the paper's condition.
// GENIUS' AC_Time and NegMAS' begin after that time.
type Time struct{ From fixed.Number }

// Acceptor implements [bargain.Acceptance].
func (t Time) Acceptor(seat bargain.Seat) bargain.Acceptor { return &timed{t, seat.Preferences} }

type timed struct {
	Time
	preferences *bargain.Preferences
}

func (t *timed) Accepts(state *bargain.State, _ bargain.Plan) bool {
	return state.Time >= t.From && t.preferences.Seen(state.Offer, state) >= t.preferences.Reservation()
}

func (t *timed) Reason() string {
	if t.From > 0 {
		return "ACtime: at least the reservation value, and late enough"
	}
	return "at least the reservation value"
}

// never accepts nothing.
type never struct{}

func (never) Accepts(*bargain.State, bargain.Plan) bool { return false }

func (never) Reason() string { return "" }

// Any accepts if one of two conditions holds. The second is not asked if the first holds.
type Any struct{ First, Second bargain.Acceptance }

// Acceptor implements [bargain.Acceptance].
func (a Any) Acceptor(seat bargain.Seat) bargain.Acceptor {
	return &either{first: a.First.Acceptor(seat), second: a.Second.Acceptor(seat)}
}

type either struct {
	first, second bargain.Acceptor
	// byFirst reports whether the first condition held.
	byFirst bool
}

func (e *either) Accepts(state *bargain.State, plan bargain.Plan) bool {
	e.byFirst = e.first.Accepts(state, plan)
	return e.byFirst || e.second.Accepts(state, plan)
}

// Reason returns the reason given by the condition that held.
func (e *either) Reason() string {
	if e.byFirst {
		return e.first.Reason()
	}
	return e.second.Reason()
}

// All accepts if both of two conditions hold.
type All struct{ First, Second bargain.Acceptance }

// Acceptor implements [bargain.Acceptance].
func (a All) Acceptor(seat bargain.Seat) bargain.Acceptor {
	return both{a.First.Acceptor(seat), a.Second.Acceptor(seat)}
}

type both struct{ first, second bargain.Acceptor }

func (b both) Accepts(state *bargain.State, plan bargain.Plan) bool {
	return b.first.Accepts(state, plan) && b.second.Accepts(state, plan)
}

func (both) Reason() string { return "both conditions hold" }
