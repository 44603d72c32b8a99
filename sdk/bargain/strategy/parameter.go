package strategy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Entry is a strategy with parameter values and the name used by commands, records and proofs.
type Entry struct {
	Name string
	// Aliases are other names that [Parse] reads. [Entry.String] never returns them.
	Aliases []string
	// Summary is a one-line description, not ending in a period.
	Summary string
	// HasOpening reports whether offers depend on the opening price. If false, the strategy begins at the
	// best price.
	HasOpening bool
	// Parameters lists the strategy parameters, in [Entry.String] order.
	Parameters []Parameter
	// New returns the strategy for parameter values, in Parameters order. It is nil if there are no
	// parameters.
	New func(values []fixed.Number) bargain.Strategy
	// Strategy is the strategy itself. [Register] sets it to New's result for the defaults, [Parse] to New's
	// result for the parsed values.
	Strategy bargain.Strategy

	// values holds the Parameters' values. If nil, the defaults apply.
	values []fixed.Number
}

// Parameter is a number that shapes a strategy.
type Parameter struct {
	Name string
	// Summary is a one-line description including any unit, not ending in a period.
	Summary string
	// Default is used if no value is given. Min and Max limit the value.
	Default, Min, Max fixed.Number
	// IsWhole reports whether the value must be a whole number.
	IsWhole bool
}

// Range describes the allowed values, and the default.
func (p Parameter) Range() string {
	kind := ""
	if p.IsWhole {
		kind = "whole, "
	}
	return fmt.Sprintf("%s%s to %s, default %s", kind, p.Min, p.Max, p.Default)
}

// limits describes the allowed values.
func (p Parameter) limits() string {
	if p.IsWhole {
		return fmt.Sprintf("a whole number from %s to %s", p.Min, p.Max)
	}
	return fmt.Sprintf("from %s to %s", p.Min, p.Max)
}

// allows reports whether a value is in range, and whole if required.
func (p Parameter) allows(value fixed.Number) bool {
	return p.Min <= value && value <= p.Max && (!p.IsWhole || value%fixed.One == 0)
}

// String returns the canonical text, which [Parse] reads back: the name, and the parameters that differ from
// their defaults, such as "negmas-boulware:e=6". Records, proofs and tournaments have this text.
func (e Entry) String() string {
	var given []string
	for i, p := range e.Parameters {
		if i < len(e.values) && e.values[i] != p.Default {
			given = append(given, p.Name+"="+e.values[i].String())
		}
	}
	if len(given) == 0 {
		return e.Name
	}
	return e.Name + ":" + strings.Join(given, ",")
}

// HasStep reports whether the strategy concedes rank by rank, making its offers on chain depend on a price
// step.
func (e Entry) HasStep() bool {
	b, ok := e.Strategy.(bargain.BOA)
	if !ok {
		return false
	}
	switch b.Bidding.(type) {
	case bidding.MiCRO, bidding.Conceding, bidding.Wasting:
		return true
	}
	return false
}

// goesBy reports whether name is the strategy's name or an alias.
func (e *Entry) goesBy(name string) bool { return e.Name == name || slices.Contains(e.Aliases, name) }

// with returns the strategy with the values of the arguments.
func (e Entry) with(given []argument) (Entry, error) {
	if len(given) == 0 {
		return e, nil
	}
	e.values = defaults(e.Parameters)
	set := make([]bool, len(e.Parameters))
	for _, argument := range given {
		at := slices.IndexFunc(e.Parameters, func(p Parameter) bool { return p.Name == argument.name })
		switch {
		case len(e.Parameters) == 0:
			return Entry{}, fmt.Errorf("%s has no parameters", e.Name)
		case at < 0:
			return Entry{}, fmt.Errorf("%s has no parameter %q: use %s", e.Name, argument.name, e.parameterNames())
		case set[at]:
			return Entry{}, fmt.Errorf("%s: %s is given twice", e.Name, argument.name)
		}
		value, err := e.Parameters[at].parse(argument.value)
		if err != nil {
			return Entry{}, fmt.Errorf("%s: %w", e.Name, err)
		}
		e.values[at], set[at] = value, true
	}
	e.Strategy = e.New(slices.Clone(e.values))
	return e, nil
}

func defaults(parameters []Parameter) []fixed.Number {
	values := make([]fixed.Number, len(parameters))
	for i, p := range parameters {
		values[i] = p.Default
	}
	return values
}

// parameterNames returns the names as a list.
func (e *Entry) parameterNames() string {
	var names []string
	for _, p := range e.Parameters {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
