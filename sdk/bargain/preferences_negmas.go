package bargain

import (
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// ErrOrder reports preferences whose outcomes cannot have NegMAS' order.
var ErrOrder = errors.New("bargain: no order as in NegMAS")

// AsNegmas returns the preferences with which NegMAS' strategies decide as in NegMAS 0.16 where outcomes have the same
// utility, or utilities are discounted.
//
// The order among equal utilities, on which the sessions of most real domains depend, is that of numpy's sort for
// processors without vector instructions. NegMAS sorts sums of floats, whose rounding errors tell equal utilities
// apart: the order is the same if the utility is one of [Floats].
//
// NegMAS' time-based negotiators compare discounted utilities with targets between the utilities of their first turn;
// its tit-for-tat negotiator measures discounted utilities in the undiscounted range; and all compare discounted
// utilities with the undiscounted reservation value.
//
// It returns [ErrOrder] for more than [MaxSorted] outcomes.
func (p *Preferences) AsNegmas() (*Preferences, error) {
	if p.domain.Size() > MaxSorted {
		return nil, fmt.Errorf("%w: the domain has %d outcomes, more than %d", ErrOrder, p.domain.Size(), uint64(MaxSorted))
	}
	ordered, err := NewDiscounted(p.domain, p.utility, p.reservation, p.discount)
	if err != nil {
		return nil, err
	}
	ordered.isNegmas, ordered.isLazy = true, false
	return ordered, nil
}

// Seen returns the utility that the party's negotiator compares with its targets: the undiscounted one of an outcome, or,
// in the preferences of [Preferences.AsNegmas], the discounted one.
func (p *Preferences) Seen(o Outcome, s *State) fixed.Number {
	if !p.isNegmas {
		return p.Of(o)
	}
	return p.discount.At(p.Of(o), s.Step, s.Time)
}

// SeenRange returns a rational range in the eyes of the party's negotiator at its first turn: see Seen.
func (p *Preferences) SeenRange(least, most fixed.Number, first *State) (seenLeast, seenMost fixed.Number) {
	if !p.isNegmas {
		return least, most
	}
	lowest, _ := p.Bounds()
	return max(p.discount.At(lowest, first.Step, first.Time), p.reservation), p.discount.At(most, first.Step, first.Time)
}

// Unseen returns the undiscounted utility that has a value in the eyes of the party's negotiator: the reverse of Seen.
func (p *Preferences) Unseen(u fixed.Number, s *State) fixed.Number {
	if !p.isNegmas {
		return u
	}
	return p.discount.reverse(u, s.Step, s.Time)
}

// Unreserved returns the inverse that NegMAS' aspiration and tit-for-tat negotiators use. They sort all outcomes
// together, the other negotiators the rational ones by themselves, which changes the order of equal ones. It is the
// same as [Preferences.Inverse] unless the preferences are those of [Preferences.AsNegmas].
func (p *Preferences) Unreserved() Inverse {
	if !p.isNegmas {
		return p.Inverse()
	}
	p.unreservedOnce.Do(func() { p.unreserved = newNegmas(p.domain, p.utility, fixed.Min) })
	return p.unreserved
}
