package bargain

import (
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// ErrOrder reports preferences that cannot follow NegMAS' outcome order.
var ErrOrder = errors.New("bargain: no order as in NegMAS")

// AsNegmas returns preferences that make NegMAS' strategies decide as in NegMAS 0.16 if outcomes tie, or
// utilities are discounted.
//
// Sessions in most real domains depend on the order among equal utilities. It follows numpy's sort for
// processors lacking vector instructions. NegMAS sorts sums of floats, with rounding errors that distinguish
// equal utilities: the order is the same if the utility implements [Floats].
//
// NegMAS' time-based negotiators compare discounted utilities with targets between the first turn's
// utilities; its tit-for-tat negotiator measures discounted utilities in the undiscounted range; and all
// compare discounted utilities with the undiscounted reservation value.
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

// Seen returns the utility that the party's negotiator compares with targets: an outcome's undiscounted
// utility, or, in preferences returned by [Preferences.AsNegmas], the discounted utility.
func (p *Preferences) Seen(o Outcome, s *State) fixed.Number {
	if !p.isNegmas {
		return p.Of(o)
	}
	return p.discount.At(p.Of(o), s.Step, s.Time)
}

// SeenRange converts a rational range to the utilities that the party's negotiator uses in the first turn:
// see Seen.
func (p *Preferences) SeenRange(least, most fixed.Number, first *State) (seenLeast, seenMost fixed.Number) {
	if !p.isNegmas {
		return least, most
	}
	lowest, _ := p.Bounds()
	return max(p.discount.At(lowest, first.Step, first.Time), p.reservation), p.discount.At(most, first.Step, first.Time)
}

// Unseen returns the undiscounted utility for a utility used by the party's negotiator: the reverse of Seen.
func (p *Preferences) Unseen(u fixed.Number, s *State) fixed.Number {
	if !p.isNegmas {
		return u
	}
	return p.discount.reverse(u, s.Step, s.Time)
}

// Unreserved returns the inverse used by NegMAS' aspiration and tit-for-tat negotiators. They sort all
// outcomes together; all other negotiators sort the rational outcomes separately, changing the order at equal
// utility. It equals [Preferences.Inverse] unless [Preferences.AsNegmas] returned the preferences.
func (p *Preferences) Unreserved() Inverse {
	if !p.isNegmas {
		return p.Inverse()
	}
	p.unreservedOnce.Do(func() { p.unreserved = newNegmas(p.domain, p.utility, fixed.Min) })
	return p.unreserved
}
