// Package bidding implements the ways to choose offers: by time, by the opponent's behavior, by resources,
// and by outcome rank. Every bidding is a small value that [bargain.BOA] composes with an opponent model and
// with an acceptance condition, unless the bidding brings a built-in condition.
package bidding

import (
	"sync/atomic"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Pick is the choice among outcomes that meet a target utility.
type Pick uint8

// The choices.
const (
	// PickLowest takes the outcome with the lowest utility from the target on, as NegMAS does.
	PickLowest Pick = iota
	// PickNearest takes the outcome with the utility closest to the target, as GENIUS does, but none below
	// the reservation value.
	PickNearest
	// PickRandom takes a random outcome from the target on.
	PickRandom
	// PickModel takes the outcome that the opponent model values most, among up to 64 random ones from the
	// target up to 5 % of the rational range above the target. If no model is set, it acts as PickLowest.
	PickModel
)

// TimeDependent is Faratin's time-dependent tactic: it offers an outcome for the curve's current target. Its
// built-in acceptance condition accepts offers worth the target or more, as NegMAS' time-based negotiators
// do.
type TimeDependent struct {
	Curve curve.Curve
	Pick  Pick
	// Tolerance is a utility subtracted from the targets, but limited by the reservation value. NegMAS uses
	// 0.0001 in time-based negotiators and 0.001 in aspiration negotiators.
	Tolerance fixed.Number
	// Unreserved reports whether it finds outcomes as NegMAS' aspiration negotiator: see
	// [bargain.Preferences.Unreserved].
	Unreserved bool
}

// Bidder implements [bargain.Bidding].
func (b TimeDependent) Bidder(seat bargain.Seat, model bargain.Model) bargain.Bidder {
	least, most, ok := seat.Range()
	if !ok {
		return none{}
	}
	t := &timeDependent{
		TimeDependent: b, preferences: seat.Preferences, random: seat.Random, model: model,
		least: least, most: most, table: curve.Tabulate(b.Curve, seat.Steps),
	}
	if b.Pick <= PickNearest && t.table.Len() > 0 && seat.Preferences.IsReused() {
		t.offers, _ = seat.Preferences.Memo(offersKey{b, seat.Steps, most}, func() any {
			return make(offers, t.table.Len())
		}).(offers)
	}
	return t
}

// offersKey identifies the offers by strategy and deadline among the preferences' memos.
type offersKey struct {
	TimeDependent
	steps   int
	opening fixed.Number
}

// offers lists the steps' outcomes, plus 1; 0 marks steps not yet reached by any session.
type offers []atomic.Uint64

type timeDependent struct {
	TimeDependent
	preferences *bargain.Preferences
	random      *bargain.Random
	model       bargain.Model
	least, most fixed.Number
	table       *curve.Table
	offers      offers
	// started reports whether least and most hold the first state's values.
	started bool
	// target is targetAt's last result, and time the matching relative time; initially both are 0.
	time, target fixed.Number
}

func (t *timeDependent) Next(state *bargain.State) bargain.Outcome {
	if t.offers == nil || !t.table.Has(state.Step, state.Time) {
		return t.offer(state)
	}
	known := &t.offers[state.Step]
	if o := known.Load(); o != 0 {
		return bargain.Outcome(o - 1)
	}
	o := t.offer(state)
	known.Store(uint64(o) + 1)
	return o
}

// picked lists the reasons for offers that follow a curve's target.
var picked = [...]string{
	PickLowest:  "lowest outcome that meets the curve's target",
	PickNearest: "outcome nearest to the curve's target",
	PickRandom:  "random outcome that meets the curve's target",
	PickModel:   "best outcome for the other side near the curve's target, by the model",
}

func (t *timeDependent) Sent(bargain.Outcome) string { return picked[t.Pick] }

// Reason implements [bargain.Acceptor].
func (*timeDependent) Reason() string { return "meets the curve's target" }

func (t *timeDependent) offer(state *bargain.State) bargain.Outcome {
	inverse := t.preferences.Inverse()
	if t.Unreserved {
		inverse = t.preferences.Unreserved()
	}
	return chooseFrom(inverse, t.preferences, t.Pick, t.preferences.Unseen(t.targetAt(state), state), t.random, t.model)
}

// Accepts implements [bargain.Acceptor].
func (t *timeDependent) Accepts(state *bargain.State, _ bargain.Plan) bool {
	return t.preferences.Seen(state.Offer, state) >= t.targetAt(state)
}

// targetAt returns the target at the state's time. It keeps the result, since every turn needs it twice.
func (t *timeDependent) targetAt(state *bargain.State) fixed.Number {
	if state.Time != t.time || state.Time == 0 {
		if !t.started {
			t.least, t.most = t.preferences.SeenRange(t.least, t.most, state)
			t.started = true
		}
		level := t.table.At(state.Step, state.Time)
		t.time, t.target = state.Time, max(t.least+level.Mul(t.most-t.least)-t.Tolerance, t.least)
	}
	return t.target
}

const candidates = 64

// choose returns an outcome for a target; the target must not be below the reservation value.
func choose(
	p *bargain.Preferences, pick Pick, target fixed.Number, random *bargain.Random, model bargain.Model,
) bargain.Outcome {
	return chooseFrom(p.Inverse(), p, pick, target, random, model)
}

// chooseFrom is choose with an inverse of the preferences.
func chooseFrom(
	inverse bargain.Inverse, p *bargain.Preferences, pick Pick, target fixed.Number, random *bargain.Random, model bargain.Model,
) bargain.Outcome {
	least, most, _ := p.Range()
	found := bargain.NoOutcome
	switch {
	case pick == PickNearest:
		if o := bargain.Closest(inverse, p.Utility(), target); o != bargain.NoOutcome && p.IsRational(o) {
			found = o
		}
	case pick == PickRandom:
		found = inverse.Within(target, most, random)
	case pick == PickModel && model != nil:
		high := min(target+(most-least)/20, most)
		for range candidates {
			o := inverse.Within(target, high, random)
			if o == bargain.NoOutcome {
				break
			}
			if found == bargain.NoOutcome || better(model, o, found) {
				found = o
			}
		}
	}
	if found == bargain.NoOutcome {
		found = inverse.AtLeast(target)
	}
	if found == bargain.NoOutcome {
		_, found = p.Extremes()
	}
	return found
}

// better reports whether u values a more than b; equally good outcomes are ordered by number.
func better(u bargain.Utility, a, b bargain.Outcome) bool {
	if x, y := u.Of(a), u.Of(b); x != y {
		return x > y
	}
	return a < b
}

// none is the bidder and acceptor for a party with no rational outcome.
type none struct{}

func (none) Accepts(*bargain.State, bargain.Plan) bool { return false }

func (none) Next(*bargain.State) bargain.Outcome { return bargain.NoOutcome }

func (none) Sent(bargain.Outcome) string { return "" }

func (none) Reason() string { return "" }
