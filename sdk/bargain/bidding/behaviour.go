package bidding

import (
	"math/bits"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// The behavior-dependent tactics below imitate the opponent issue by issue. They work on amounts: prices for
// price issues, numbers for integer or real issues with no negative values, and otherwise the positions of
// ordered values, counted from 1. For categorical issues they keep the party's last value. Results are
// rounded down to the tick and limited to the issue. Until there are enough offers to imitate, they repeat
// the party's last offer, initially the best outcome. The lowest rational outcome replaces offers below the
// reservation value.
//
// Source: Faratin, Sierra, Jennings: Negotiation Decision Functions for Autonomous Agents (1998), section
// 4.3.

// Relative is the relative tit-for-tat tactic: it concedes the percentage that the opponent conceded Delay
// offers ago: x' = x * y[n-Delay] / y[n-Delay+1], where y[n] denotes the last offer received. If Delay is
// zero, 1 is used.
type Relative struct{ Delay int }

// Bidder implements [bargain.Bidding].
func (r Relative) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	back := max(r.Delay, 1)
	return newImitator(seat, back, back-1, scale, "relative tit-for-tat: the other side's step in percent")
}

// RandomAbsolute is the random absolute tit-for-tat tactic: it concedes as much as the opponent did Delay
// offers ago, plus a random part: x' = x + y[n-Delay] - y[n-Delay+1] +- R(M). R(M) is a random number of 0 to
// M ticks in the opponent's favor. If Delay is zero, 1 is used.
type RandomAbsolute struct {
	Delay int
	// Most and Share give M: Most ticks, and the part Share of the issue's value count, rounded down.
	Most  uint64
	Share fixed.Number
}

// Bidder implements [bargain.Bidding].
func (r RandomAbsolute) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	back := max(r.Delay, 1)
	bidder := newImitator(seat, back, back-1, add, "absolute tit-for-tat: the other side's step")
	if i, ok := bidder.(*imitator); ok && (r.Most > 0 || r.Share > 0) {
		i.imitates = "absolute tit-for-tat: the other side's step, and a random part"
		return &randomImitator{imitator: i, RandomAbsolute: r, random: seat.Random}
	}
	return bidder
}

// Averaged is the averaged tit-for-tat tactic: x' = x * y[n-Window] / y[n]. With window 1 it equals
// [Relative]. If Window is zero, 1 is used.
type Averaged struct{ Window int }

// Bidder implements [bargain.Bidding].
func (a Averaged) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	return newImitator(seat, max(a.Window, 1), 0, scale,
		"averaged tit-for-tat: the other side's last steps in percent")
}

// imitator applies a rule to two offers received, counted back from the latest offer.
type imitator struct {
	preferences  *bargain.Preferences
	self         int
	older, newer int
	rule         func(x, older, newer uint64) uint64
	// imitates is the reason for imitations, reason the one for Next's last result.
	imitates, reason string
}

func newImitator(
	seat bargain.Seat, older, newer int, rule func(x, older, newer uint64) uint64, imitates string,
) bargain.Bidder {
	if _, _, ok := seat.Preferences.Range(); !ok {
		return none{}
	}
	return &imitator{
		preferences: seat.Preferences, self: seat.Self, older: older, newer: newer, rule: rule, imitates: imitates,
	}
}

func (i *imitator) Sent(bargain.Outcome) string { return i.reason }

func (i *imitator) Next(state *bargain.State) bargain.Outcome { return i.rational(i.imitate(state)) }

// rational returns an outcome, or the lowest rational one if the outcome is below the reservation value.
func (i *imitator) rational(o bargain.Outcome) bargain.Outcome {
	if i.preferences.IsRational(o) {
		return o
	}
	i.reason = "lowest rational outcome: the imitation is below the reservation value"
	least, _, _ := i.preferences.Range()
	return i.preferences.Inverse().AtLeast(least)
}

func (i *imitator) imitate(state *bargain.State) bargain.Outcome {
	own, ok := state.Own(i.self, 0)
	if !ok {
		_, best := i.preferences.Extremes()
		i.reason = "best outcome: the first offer imitates nothing"
		return best
	}
	older, ok := state.Others(i.self, i.older)
	newer, _ := state.Others(i.self, i.newer)
	if !ok {
		i.reason = "own last offer: too few offers to imitate"
		return own.Outcome
	}
	i.reason = i.imitates
	domain, next := i.preferences.Domain(), own.Outcome
	for at := range domain.Len() {
		issue := domain.Issue(at)
		if !issue.IsOrdered() {
			continue
		}
		amount := func(o bargain.Outcome) uint64 { return amountOf(issue, domain.Value(o, at)) }
		moved := i.rule(amount(own.Outcome), amount(older.Outcome), amount(newer.Outcome))
		next = domain.With(next, at, indexOf(issue, moved))
	}
	return next
}

// hasAmounts reports whether the issue's numbers are amounts, meaning not negative.
func hasAmounts(issue *bargain.Issue) bool {
	return issue.Kind == bargain.KindPrice || issue.IsNumeric() && issue.Int(0) >= 0
}

func amountOf(issue *bargain.Issue, index uint64) uint64 {
	if hasAmounts(issue) {
		return issue.First + index*issue.Tick
	}
	return index + 1
}

// indexOf returns an amount's index, rounded down.
func indexOf(issue *bargain.Issue, amount uint64) uint64 {
	first, tick := uint64(1), uint64(1)
	if hasAmounts(issue) {
		first, tick = issue.First, issue.Tick
	}
	if amount <= first {
		return 0
	}
	return min((amount-first)/tick, issue.Count-1)
}

// scale returns floor(x * older / newer), limited to 64 bits; x if newer is 0.
func scale(x, older, newer uint64) uint64 {
	if newer == 0 {
		return x
	}
	high, low := bits.Mul64(x, older)
	if high >= newer {
		return 1<<64 - 1
	}
	quotient, _ := bits.Div64(high, low, newer)
	return quotient
}

// add returns x + older - newer, limited to 64 bits.
func add(x, older, newer uint64) uint64 {
	if older >= newer {
		sum, carry := bits.Add64(x, older-newer, 0)
		if carry != 0 {
			return 1<<64 - 1
		}
		return sum
	}
	return x - min(x, newer-older)
}

// randomImitator moves each imitated value by a random number of ticks in the opponent's favor.
type randomImitator struct {
	*imitator
	RandomAbsolute
	random *bargain.Random
}

// share returns count times part, rounded down. The part must not exceed 1.
func share(count uint64, part fixed.Number) uint64 {
	high, low := bits.Mul64(count, uint64(part))
	quotient, _ := bits.Div64(high, low, uint64(fixed.One))
	return quotient
}

func (r *randomImitator) Next(state *bargain.State) bargain.Outcome {
	next := r.imitate(state)
	if _, ok := state.Others(r.self, r.older); !ok {
		return r.rational(next)
	}
	domain, u := r.preferences.Domain(), r.preferences.Utility()
	for at := range domain.Len() {
		issue := domain.Issue(at)
		if !issue.IsOrdered() {
			continue
		}
		index := domain.Value(next, at)
		distance := r.random.Below(r.Most + share(issue.Count, r.Share) + 1)
		up := domain.With(next, at, index+min(distance, issue.Count-1-index))
		down := domain.With(next, at, index-min(distance, index))
		// The direction of falling utility favors the opponent.
		if u.Of(up) < u.Of(down) {
			next = up
		} else {
			next = down
		}
	}
	return r.rational(next)
}
