// Package scenario reads and writes negotiation scenarios: GENIUS' XML, and NegMAS' YAML and JSON. It works
// on bytes, and does not open files. Numbers are read as decimals, never as floats.
//
// A scenario has a domain and a profile for each party. What the engine does not know is an error that names
// it, not ignored: another utility type, a missing value, a number out of range.
package scenario

import (
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// ErrFormat reports a document that is not a scenario's, or has something the engine does not know.
var ErrFormat = errors.New("scenario: invalid document")

// Options are the choices that the formats leave open. The zero value is ready.
type Options struct {
	// Levels is the number of values of a real issue. If zero, 101 is used.
	Levels int64
}

func (o Options) levels() int64 {
	if o.Levels < 2 {
		return 101
	}
	return o.Levels
}

// maxTable is the number of values up to which a numeric issue's utility is a table.
const maxTable = 1 << 16

func invalid(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, values...))
}

// real returns the issue of a range, divided into the options' number of values.
func (o Options) real(name string, least, most fixed.Number) (bargain.Issue, error) {
	width := most.Sub(least)
	if width <= 0 || width >= fixed.Max {
		return bargain.Issue{}, invalid("issue %q has the range %s to %s", name, least, most)
	}
	return bargain.Real(name, least, most, max(width/fixed.Number(o.levels()-1), 1)), nil
}

// number returns the value of a numeric issue's index. It returns false beyond the range of a number.
func number(issue *bargain.Issue, index uint64) (fixed.Number, bool) {
	if issue.Kind == bargain.KindReal {
		return issue.Number(index), true
	}
	n := issue.Int(index)
	if issue.Kind == bargain.KindPrice && n < 0 {
		return 0, false
	}
	value := fixed.Int(n)
	return value, value < fixed.Max && value > fixed.Min
}

// tabulate returns the values of a function of an issue's numbers: a table, or a straight line through its
// ends for an issue with many values.
func tabulate(issue *bargain.Issue, of func(x fixed.Number) fixed.Number) (utility.Values, error) {
	if !issue.IsNumeric() {
		return nil, invalid("issue %q has no numbers", issue.Name)
	}
	at := func(index uint64) (fixed.Number, error) {
		x, ok := number(issue, index)
		if !ok {
			return 0, invalid("issue %q has numbers beyond the limit", issue.Name)
		}
		return of(x), nil
	}
	if issue.Count > maxTable {
		first, err := at(0)
		if err != nil {
			return nil, err
		}
		last, err := at(issue.Count - 1)
		return utility.Line{First: first, Last: last, Count: issue.Count}, err
	}
	table := make(utility.Table, issue.Count)
	for index := range table {
		value, err := at(uint64(index))
		if err != nil {
			return nil, err
		}
		table[index] = value
	}
	return table, nil
}

// additive returns an additive utility's values, or an error that names the format.
func additive(p *bargain.Preferences, format string) (*utility.Additive, error) {
	u, ok := p.Utility().(*utility.Additive)
	if !ok {
		return nil, invalid("%s can have additive utilities only, not %T", format, p.Utility())
	}
	return u, nil
}
