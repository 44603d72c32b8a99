package bargain

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// MaxUtility is the largest absolute utility: 1,000,000.
const MaxUtility = 1_000_000 * fixed.One

// Utility gives a party's value for every outcome in a domain, undiscounted and within +-[MaxUtility]. It
// does not change, and several goroutines can use it.
type Utility interface {
	// Of returns an outcome's utility.
	Of(o Outcome) fixed.Number
}

// Bounded is a [Utility] with known bounds, needing no enumeration.
type Bounded interface {
	Utility
	// Extremes returns the outcomes with the lowest and the highest utility. Among equals it picks the lowest
	// number.
	Extremes() (worst, best Outcome)
}

// Additive is a [Utility] that sums a part per issue.
type Additive interface {
	Bounded
	// Part returns an issue's part of the utility for the value with an index. The sum of the parts is the
	// utility.
	Part(issue int, index uint64) fixed.Number
	// Direction returns 1 if an issue's part never falls with the index, -1 if it never rises, and 0 if neither
	// is known.
	Direction(issue int) int
}

// Tabled is an [Additive] utility that stores some parts, saving a call per part.
type Tabled interface {
	Additive
	// Table returns an issue's stored parts by index, or nil if they are not stored. All can be less than
	// Part's results by the same constant. The table is shared and must not be modified.
	Table(issue int) []fixed.Number
}

// Listed is a [Bounded] utility that stores the utilities of all outcomes, saving a call per outcome.
type Listed interface {
	Bounded
	// Utilities returns the utilities by the outcomes' numbers. They are shared: do not change them.
	Utilities() []fixed.Number
}

// Discount reduces an agreement's value over time. The zero value does not discount.
type Discount struct {
	// Factor multiplies the utility once per time unit: see PerStep. It must lie between 0 and 1. If zero, 1
	// is used.
	Factor fixed.Number
	// Cost is a utility subtracted per time unit, after the factor: Rubinstein's fixed cost. It must lie
	// within +-[MaxUtility].
	Cost fixed.Number
	// PerStep reports whether the unit is a step, as in NegMAS. If false, the unit is the whole negotiation's
	// time, as in GENIUS: u * Factor^t for t from 0 to 1.
	PerStep bool
	// KeepReservation reports whether the reservation value stays undiscounted.
	KeepReservation bool
}

// At returns u discounted.
func (d Discount) At(u fixed.Number, step int, time fixed.Number) fixed.Number {
	if d.PerStep {
		time = fixed.Int(int64(step))
	}
	if d.Factor > 0 && d.Factor < fixed.One {
		u = u.Mul(fixed.Pow(d.Factor, time))
	}
	return u.Sub(d.Cost.Mul(time))
}

// reverse returns the utility with the discounted value u, or the lowest number if there is none.
func (d Discount) reverse(u fixed.Number, step int, time fixed.Number) fixed.Number {
	if d.PerStep {
		time = fixed.Int(int64(step))
	}
	u = u.Add(d.Cost.Mul(time))
	if d.Factor > 0 && d.Factor < fixed.One {
		u = u.Div(fixed.Pow(d.Factor, time))
	}
	return u
}

// Preferences describes a party's side in a negotiation. The values do not change, and several sessions and
// goroutines can use them.
type Preferences struct {
	domain      *Domain
	utility     Utility
	reservation fixed.Number
	discount    Discount

	// least and most are the utility's bounds. Unless the utility is [Bounded], the first Inverse call sets
	// them.
	least, most       fixed.Number
	isBounded, isLazy bool
	// isNegmas reports whether outcomes of the same utility have NegMAS' order.
	isNegmas bool

	reused atomic.Bool
	memos  atomic.Pointer[memo]

	// lazyMemory is used if isLazy is true, inverse otherwise.
	lazyMemory
	once    sync.Once
	inverse Inverse

	// unreserved is the inverse of Unreserved if isNegmas is true.
	unreservedOnce sync.Once
	unreserved     Inverse
}

// ErrPreferences reports invalid preferences.
var ErrPreferences = errors.New("bargain: invalid preferences")

// NewPreferences returns undiscounted preferences. reservation is the utility of no agreement. It returns the
// same errors as [NewDiscounted].
func NewPreferences(domain *Domain, utility Utility, reservation fixed.Number) (*Preferences, error) {
	return NewDiscounted(domain, utility, reservation, Discount{})
}

// NewDiscounted returns preferences with a discount. It returns [ErrPreferences] if domain or utility is nil,
// if the reservation value or the cost is beyond +-[MaxUtility], or if the factor is not in [0, 1].
func NewDiscounted(
	domain *Domain, utility Utility, reservation fixed.Number, discount Discount,
) (*Preferences, error) {
	switch {
	case domain == nil || utility == nil:
		return nil, fmt.Errorf("%w: domain or utility not set", ErrPreferences)
	case reservation > MaxUtility || reservation < -MaxUtility:
		return nil, fmt.Errorf("%w: reservation value %s exceeds the limit", ErrPreferences, reservation)
	case discount.Factor < 0 || discount.Factor > fixed.One:
		return nil, fmt.Errorf("%w: discount factor %s is not in [0, 1]", ErrPreferences, discount.Factor)
	case discount.Cost < -MaxUtility || discount.Cost > MaxUtility:
		return nil, fmt.Errorf("%w: cost %s exceeds the limit", ErrPreferences, discount.Cost)
	}
	p := &Preferences{domain: domain, utility: utility, reservation: reservation, discount: discount}
	if bounded, ok := utility.(Bounded); ok {
		worst, best := bounded.Extremes()
		p.least, p.most, p.isBounded = utility.Of(worst), utility.Of(best), true
		p.isLazy = isLazy(domain, utility, p.least, p.most)
	}
	return p, nil
}

// Domain returns the domain.
func (p *Preferences) Domain() *Domain { return p.domain }

// Utility returns the undiscounted utility.
func (p *Preferences) Utility() Utility { return p.utility }

// Reservation returns the undiscounted reservation value: the utility of no agreement.
func (p *Preferences) Reservation() fixed.Number { return p.reservation }

// Discount returns the discount.
func (p *Preferences) Discount() Discount { return p.discount }

// Of returns an outcome's undiscounted utility, and the reservation value for [NoOutcome].
func (p *Preferences) Of(o Outcome) fixed.Number {
	if o == NoOutcome {
		return p.reservation
	}
	return p.utility.Of(o)
}

// IsRational reports whether o is at least as good as no agreement.
func (p *Preferences) IsRational(o Outcome) bool { return p.Of(o) >= p.reservation }

// ValueAt returns the discounted value, at a step and a relative time, of an outcome or of no agreement.
func (p *Preferences) ValueAt(o Outcome, step int, time fixed.Number) fixed.Number {
	if o == NoOutcome && p.discount.KeepReservation {
		return p.reservation
	}
	return p.discount.At(p.Of(o), step, time)
}

// Inverse returns the utility's inverse, for finding outcomes. The call builds it, or, for a [Bounded]
// utility, the queries build it in parts. Both can take time in large domains: see the package comment.
func (p *Preferences) Inverse() Inverse {
	if p.isLazy {
		return (*lazy)(p)
	}
	p.once.Do(func() {
		if p.isNegmas {
			p.inverse = newNegmas(p.domain, p.utility, p.reservation)
		} else {
			p.inverse = newInverse(p.domain, p.utility)
		}
		if !p.isBounded {
			p.least = p.utility.Of(p.inverse.AtLeast(fixed.Min))
			p.most = p.utility.Of(p.inverse.AtMost(fixed.Max))
		}
	})
	return p.inverse
}

// Extremes returns the outcomes with the lowest and the highest utility. Among equals it picks the lowest
// number, or the outermost outcome in NegMAS' order. If the domain is too large to sort it searches a sample,
// unless the utility is [Bounded].
func (p *Preferences) Extremes() (worst, best Outcome) {
	if bounded, ok := p.utility.(Bounded); ok && !p.isNegmas {
		return bounded.Extremes()
	}
	inverse := p.Inverse()
	return inverse.AtLeast(fixed.Min), inverse.AtMost(fixed.Max)
}

// Bounds returns the lowest and the highest utility, reached at Extremes.
func (p *Preferences) Bounds() (least, most fixed.Number) {
	if !p.isBounded {
		p.Inverse()
	}
	return p.least, p.most
}

// Range returns the rational utility range: the reservation value or lowest utility, whichever is higher, and
// the highest utility. It returns false if no outcome is rational.
func (p *Preferences) Range() (least, most fixed.Number, ok bool) {
	least, most = p.Bounds()
	return max(least, p.reservation), most, most >= p.reservation
}

// Target returns the utility at a level in the rational range: 0 is the low end, [fixed.One] the high end.
func (p *Preferences) Target(level fixed.Number) fixed.Number {
	least, most, _ := p.Range()
	return least + level.Mul(most-least)
}

// Level is the inverse function of Target: it returns a utility's level in the rational range, limited to [0,
// 1]. If the range is a point it returns 1 at this point and above.
func (p *Preferences) Level(u fixed.Number) fixed.Number {
	least, most, _ := p.Range()
	switch {
	case u >= most:
		return fixed.One
	case u <= least:
		return 0
	}
	return (u - least).Div(most - least)
}

// IsReused reports whether it has been called before. Bidders call it once, when a session starts, and if it
// returns true, build tables that save time only in later sessions.
func (p *Preferences) IsReused() bool { return p.reused.Load() || p.reused.Swap(true) }

// memo is a list of values kept by Memo. Preferences keep only a few: with one or two values, a map would
// cost more than a short session.
type memo struct {
	key, value any
	earlier    *memo
	count      int
}

// maxMemos bounds what Memo keeps.
const maxMemos = 128

// Memo returns build's value for a key, a comparable value of a type defined by the caller. It keeps up to
// 128 values, allowing strategies to compute their tables once for all sessions. The value must depend only
// on the preferences and the key, and several sessions use it at the same time.
func (p *Preferences) Memo(key any, build func() any) any {
	known := p.memos.Load()
	for m := known; m != nil; m = m.earlier {
		if m.key == key {
			return m.value
		}
	}
	m := &memo{key: key, value: build(), earlier: known, count: 1}
	if known != nil {
		m.count += known.count
	}
	if m.count <= maxMemos {
		// If another session has added a value meanwhile, m is not kept.
		p.memos.CompareAndSwap(known, m)
	}
	return m.value
}
