package bargain

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Kind is the kind of values in an issue.
type Kind uint8

// The kinds.
const (
	// KindPrice: amounts in base units of a mint.
	KindPrice Kind = iota
	// KindInteger: integers.
	KindInteger
	// KindReal: a grid of decimal numbers.
	KindReal
	// KindCategorical: unordered names.
	KindCategorical
	// KindOrdered: ordered names.
	KindOrdered
)

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

var kindNames = [...]string{"price", "integer", "real", "categorical", "ordered"}

// Issue is a negotiation subject. Values are numbered from 0.
type Issue struct {
	// Name is unique in the domain.
	Name string
	Kind Kind
	// Count is the number of values.
	Count uint64
	// Names lists the values if the issue is categorical or ordered.
	Names []string
	// First and Tick are a numeric issue's first value and the step from value to value: base units for a
	// price, an int64 in two's complement for an integer, and a [fixed.Number] in two's complement for a
	// real.
	First, Tick uint64
}

// Price returns an issue with the prices least, least+tick, ... up to most, in base units. A tick of 0 is 1.
func Price(name string, least, most, tick uint64) Issue {
	tick = max(tick, 1)
	values := count(most >= least, most-least, tick)
	return Issue{Name: name, Kind: KindPrice, Count: values, First: least, Tick: tick}
}

// Integer returns an issue with the integers least to most.
func Integer(name string, least, most int64) Issue {
	values := count(most >= least, uint64(most)-uint64(least), 1)
	return Issue{Name: name, Kind: KindInteger, Count: values, First: uint64(least), Tick: 1}
}

// Real returns an issue with the numbers least, least+tick, ... up to most. The tick must be positive.
func Real(name string, least, most, tick fixed.Number) Issue {
	if tick <= 0 {
		return Issue{Name: name, Kind: KindReal}
	}
	values := count(most >= least, uint64(most)-uint64(least), uint64(tick))
	return Issue{Name: name, Kind: KindReal, Count: values, First: uint64(least), Tick: uint64(tick)}
}

// Categorical returns an issue with unordered names.
func Categorical(name string, values ...string) Issue {
	return Issue{Name: name, Kind: KindCategorical, Count: uint64(len(values)), Names: values}
}

// Ordered returns an issue with ordered names.
func Ordered(name string, values ...string) Issue {
	return Issue{Name: name, Kind: KindOrdered, Count: uint64(len(values)), Names: values}
}

// count returns the number of values; 0 if there is none or too many.
func count(ordered bool, distance, tick uint64) uint64 {
	if !ordered {
		return 0
	}
	return distance/tick + 1 // 0 for all 2^64 numbers
}

// IsNumeric reports whether the values are numbers.
func (i *Issue) IsNumeric() bool { return i.Kind <= KindReal }

// IsOrdered reports whether the values are ordered: all but categorical values.
func (i *Issue) IsOrdered() bool { return i.Kind != KindCategorical }

// Amount returns the price at index, in base units.
func (i *Issue) Amount(index uint64) uint64 { return i.First + index*i.Tick }

// Int returns the integer with an index.
func (i *Issue) Int(index uint64) int64 { return int64(i.First + index*i.Tick) }

// Number returns the real number with an index.
func (i *Issue) Number(index uint64) fixed.Number { return fixed.Number(i.First + index*i.Tick) }

// Text formats the value at index.
func (i *Issue) Text(index uint64) string {
	switch {
	case index >= i.Count:
		return "none"
	case i.Kind == KindPrice:
		return strconv.FormatUint(i.Amount(index), 10)
	case i.Kind == KindInteger:
		return strconv.FormatInt(i.Int(index), 10)
	case i.Kind == KindReal:
		return i.Number(index).String()
	}
	return i.Names[index]
}

// Nearest returns the index of the price next to an amount, the lower one of two.
func (i *Issue) Nearest(amount uint64) uint64 {
	if amount <= i.First {
		return 0
	}
	distance := amount - i.First
	index := distance / i.Tick
	if rest := distance % i.Tick; rest > i.Tick-rest {
		index++
	}
	return min(index, i.Count-1)
}

// between returns the indices of the lowest and highest price in a range, or false if the range contains no
// price.
func (i *Issue) between(least, most uint64) (first, last uint64, ok bool) {
	if most < i.First {
		return 0, 0, false
	}
	if least > i.First {
		first = (least - i.First) / i.Tick
		if i.Amount(first) < least {
			first++
		}
	}
	last = min((most-i.First)/i.Tick, i.Count-1)
	return first, last, first <= last
}

// Outcome is a combination with a value per issue: the combination's index in the [Domain]. The last issue's
// value changes fastest.
type Outcome uint64

// NoOutcome stands for no offer or no agreement.
const NoOutcome Outcome = 1<<64 - 1

// Domain is the set of possible outcomes. It does not change.
type Domain struct {
	issues  []Issue
	strides []uint64
	few     [4]uint64 // memory for four issues' strides
	size    uint64
}

// ErrDomain reports an invalid domain.
var ErrDomain = errors.New("bargain: invalid domain")

// NewDomain returns the domain of all combinations of the issues' values. It returns [ErrDomain] if there is
// no issue, if an issue is empty or repeats a name, or if there are more than 2^64-1 combinations.
func NewDomain(issues ...Issue) (*Domain, error) {
	if len(issues) == 0 {
		return nil, fmt.Errorf("%w: no issues", ErrDomain)
	}
	d := &Domain{issues: slices.Clone(issues), size: 1}
	if d.strides = d.few[:]; len(issues) > len(d.few) {
		d.strides = make([]uint64, len(issues))
	}
	for at := len(issues) - 1; at >= 0; at-- {
		issue := &d.issues[at]
		if err := issue.check(); err != nil {
			return nil, err
		}
		d.strides[at] = d.size
		high, low := bits.Mul64(d.size, issue.Count)
		if high != 0 {
			return nil, fmt.Errorf("%w: more than 2^64-1 outcomes", ErrDomain)
		}
		d.size = low
	}
	names := make([]string, 0, compared)
	for at := range issues {
		names = append(names, issues[at].Name)
	}
	if name, ok := repeated(names); ok {
		return nil, fmt.Errorf("%w: two issues are named %q", ErrDomain, name)
	}
	return d, nil
}

func (i *Issue) check() error {
	switch {
	case i.Kind > KindOrdered:
		return fmt.Errorf("%w: issue %q has unknown %s", ErrDomain, i.Name, i.Kind)
	case i.Count == 0:
		return fmt.Errorf("%w: issue %q has no values", ErrDomain, i.Name)
	case i.IsNumeric() && (i.Tick == 0 || i.overflows()):
		return fmt.Errorf("%w: issue %q has a tick of 0 or values beyond 64 bits", ErrDomain, i.Name)
	case i.IsNumeric():
		return nil
	case uint64(len(i.Names)) != i.Count:
		return fmt.Errorf("%w: issue %q has %d names for %d values", ErrDomain, i.Name, len(i.Names), i.Count)
	}
	if name, ok := repeated(i.Names); ok {
		return fmt.Errorf("%w: issue %q has the value %q twice", ErrDomain, i.Name, name)
	}
	return nil
}

// compared is the maximum number of names where comparing all pairs is faster than building a map.
const compared = 16

// repeated returns a name that occurs twice.
func repeated(names []string) (string, bool) {
	if len(names) <= compared {
		ends := uint64(0) // the last bytes so far, by their last six bits: only equal ones need a comparison
		for at, name := range names {
			end := uint64(1)
			if name != "" {
				end <<= name[len(name)-1] % 64
			}
			if ends&end != 0 && slices.Contains(names[:at], name) {
				return name, true
			}
			ends |= end
		}
		return "", false
	}
	seen := make(map[string]struct{}, len(names))
	for _, name := range names {
		if _, ok := seen[name]; ok {
			return name, true
		}
		seen[name] = struct{}{}
	}
	return "", false
}

// overflows reports whether the last value is beyond 64 bits.
func (i *Issue) overflows() bool {
	high, span := bits.Mul64(i.Count-1, i.Tick)
	last, carry := bits.Add64(i.First, span, 0)
	if i.Kind == KindPrice {
		return high != 0 || carry != 0
	}
	return high != 0 || int64(last) < int64(i.First)
}

// Size returns the number of outcomes.
func (d *Domain) Size() uint64 { return d.size }

// Len returns the number of issues.
func (d *Domain) Len() int { return len(d.issues) }

// Issue returns an issue, counted from 0. The result is shared and must not be modified.
func (d *Domain) Issue(at int) *Issue { return &d.issues[at] }

// Has reports whether the domain contains an outcome.
func (d *Domain) Has(o Outcome) bool { return uint64(o) < d.size }

// Value returns the value index for an issue in an outcome.
func (d *Domain) Value(o Outcome, at int) uint64 {
	rest := uint64(o)
	if at > 0 {
		rest %= d.strides[at-1]
	}
	return rest / d.strides[at]
}

// With returns the outcome with a single issue's value replaced. The index must be less than the issue's
// count.
func (d *Domain) With(o Outcome, at int, index uint64) Outcome {
	return o - Outcome(d.Value(o, at)*d.strides[at]) + Outcome(index*d.strides[at])
}

// Outcome returns the outcome with the given value indices, in issue order, or [NoOutcome] if any is invalid.
func (d *Domain) Outcome(indices ...uint64) Outcome {
	if len(indices) != len(d.issues) {
		return NoOutcome
	}
	var o uint64
	for at, index := range indices {
		if index >= d.issues[at].Count {
			return NoOutcome
		}
		o += index * d.strides[at]
	}
	return Outcome(o)
}

// Text returns an outcome as "name=value, name=value".
func (d *Domain) Text(o Outcome) string {
	if !d.Has(o) {
		return "none"
	}
	var text []byte
	for at := range d.issues {
		if at > 0 {
			text = append(text, ", "...)
		}
		text = append(text, d.issues[at].Name...)
		text = append(text, '=')
		text = append(text, d.issues[at].Text(d.Value(o, at))...)
	}
	return string(text)
}
