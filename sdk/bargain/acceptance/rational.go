package acceptance

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Rational accepts every offer worth the reservation value or more: NegMAS' AcceptAnyRational.
type Rational struct{}

// Acceptor implements [bargain.Acceptance].
func (Rational) Acceptor(seat bargain.Seat) bargain.Acceptor { return Time{}.Acceptor(seat) }

// Better accepts the first rational offer, and then only offers that are better than all it has accepted:
// NegMAS' AcceptBetterRational. In a session of two parties it is [Rational].
type Better struct{}

// Acceptor implements [bargain.Acceptance].
func (Better) Acceptor(seat bargain.Seat) bargain.Acceptor {
	return &raising{preferences: seat.Preferences, least: seat.Preferences.Reservation(), step: 1}
}

// NotWorse accepts rational offers that are not worse than any it has accepted: NegMAS'
// AcceptNotWorseRational.
type NotWorse struct{}

// Acceptor implements [bargain.Acceptance].
func (NotWorse) Acceptor(seat bargain.Seat) bargain.Acceptor {
	return &raising{preferences: seat.Preferences, least: seat.Preferences.Reservation()}
}

type raising struct {
	preferences *bargain.Preferences
	least, step fixed.Number
}

func (r *raising) Reason() string {
	if r.step > 0 {
		return "at least the reservation value, and better than all that it has accepted"
	}
	return "at least the reservation value, and not worse than any that it has accepted"
}

func (r *raising) Accepts(state *bargain.State, _ bargain.Plan) bool {
	u := r.preferences.Of(state.Offer)
	if u < r.least || r.preferences.Seen(state.Offer, state) < r.preferences.Reservation() {
		return false
	}
	r.least = u + r.step
	return true
}

// Best accepts only an outcome with the highest utility.
type Best struct{}

// Acceptor implements [bargain.Acceptance].
func (Best) Acceptor(seat bargain.Seat) bargain.Acceptor {
	_, most, ok := seat.Preferences.Range()
	if !ok {
		return never{}
	}
	return &constant{Const{Utility: most}, seat.Preferences, "as good as the best outcome"}
}
