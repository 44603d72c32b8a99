// Package scenario reads and writes negotiation scenarios: GENIUS' XML, and NegMAS' YAML and JSON. It works
// on bytes, and does not open files. Numbers are read as decimals, never as floats.
//
// A scenario consists of a domain and a profile per party. Unsupported input is reported as an error, not
// ignored: an unknown utility type, a missing value, a number out of bounds. Domains and utilities that a
// format cannot express are errors, too.
//
// The formats know fewer kinds of issues than the engine. A price is read back as integers with the same
// numbers; in GENIUS' XML ordered names become unordered, and integers with a tick other than 1 become names,
// written as their numbers.
package scenario

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// ErrFormat reports a document that does not belong to a scenario, or contains unsupported parts.
var ErrFormat = errors.New("scenario: invalid document")

// Options sets the choices left open by the formats. The zero value is ready.
type Options struct {
	// Levels is the number of values per real issue. If zero, the file's number is used, or 101 if the file
	// lacks a number.
	Levels int64
}

// IsDomain reports whether a document in GENIUS' XML, or NegMAS' YAML or JSON, is a domain. For a profile,
// IsDomain returns false; for anything else, an error.
func IsDomain(data []byte) (bool, error) {
	if isXML(data) {
		return isGeniusDomain(data)
	}
	return isNegmasDomain(data)
}

// ReadDomain reads a domain in GENIUS' XML, or NegMAS' YAML or JSON.
func ReadDomain(data []byte, options Options) (*bargain.Domain, error) {
	if isXML(data) {
		return ReadGeniusDomain(data, options)
	}
	return ReadNegmasDomain(data, options)
}

// ReadProfile reads a party's preferences over a domain in GENIUS' XML, or NegMAS' YAML or JSON.
func ReadProfile(domain *bargain.Domain, data []byte) (*bargain.Preferences, error) {
	if isXML(data) {
		return ReadGeniusProfile(domain, data)
	}
	return ReadNegmasProfile(domain, data)
}

func isXML(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, "\ufeff \t\r\n"), []byte("<"))
}

func invalid(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, values...))
}

// real returns the issue for an interval, divided into the options' number of values, or else the file's,
// levels. If the file lacks a number, levels is 0.
func (o Options) real(name string, least, most fixed.Number, levels int64) (bargain.Issue, error) {
	switch {
	case o.Levels >= 2:
		levels = o.Levels
	case levels < 2:
		levels = 101
	}
	width := most.Sub(least)
	if width <= 0 || width >= fixed.Max {
		return bargain.Issue{}, invalid("issue %q has the range %s to %s", name, least, most)
	}
	return bargain.Real(name, least, most, max(width/fixed.Number(levels-1), 1)), nil
}

// rectanglesOf converts a utility to a constant and a sum over rectangles. A table with at most 65,536 outcomes
// yields a rectangle per outcome with a nonzero value, an additive utility a rectangle per issue value.
func rectanglesOf(p *bargain.Preferences) (constant fixed.Number, list []utility.Rectangle, err error) {
	unknown := invalid("the utility is neither additive nor a table nor a sum of hyper-rectangles")
	domain := p.Domain()
	switch u := p.Utility().(type) {
	case *utility.HyperRectangle:
		for _, rectangle := range u.Rectangles() {
			if ranges, ok := intersection(domain, rectangle.Ranges); ok {
				list = append(list, utility.Rectangle{Ranges: ranges, Value: rectangle.Value})
			}
		}
		return u.Constant(), list, nil
	case *utility.Mapping:
		if domain.Size() > maxTable {
			return 0, nil, invalid("the utility is a table of %d outcomes; the limit is %d", domain.Size(), maxTable)
		}
		for o := range bargain.Outcome(domain.Size()) {
			if u.Of(o) == 0 {
				continue
			}
			var ranges []utility.Range
			for at := range domain.Len() {
				if index := domain.Value(o, at); domain.Issue(at).Count > 1 {
					ranges = append(ranges, utility.Range{Issue: at, First: index, Last: index})
				}
			}
			list = append(list, utility.Rectangle{Ranges: ranges, Value: u.Of(o)})
		}
		return 0, list, nil
	case *utility.Additive:
		for at := range domain.Len() {
			if domain.Issue(at).Count > maxTable {
				return 0, nil, unknown
			}
			for index := range domain.Issue(at).Count {
				if value := u.Values(at).Of(index); value != 0 {
					ranges, _ := intersection(domain, []utility.Range{{Issue: at, First: index, Last: index}})
					list = append(list, utility.Rectangle{Ranges: ranges, Value: value})
				}
			}
		}
		return u.Constant(), list, nil
	}
	return 0, nil, unknown
}

// intersection merges ranges to a single range per limited issue, in issue order. It returns false if they
// contain no outcome.
func intersection(domain *bargain.Domain, ranges []utility.Range) (list []utility.Range, ok bool) {
	for at := range domain.Len() {
		all := utility.Range{Issue: at, Last: domain.Issue(at).Count - 1}
		both := all
		for _, r := range ranges {
			if r.Issue == at {
				both.First, both.Last = max(both.First, r.First), min(both.Last, r.Last)
			}
		}
		if both.First > both.Last {
			return nil, false
		}
		if both != all {
			list = append(list, both)
		}
	}
	return list, true
}

// additiveOf returns the constant and values of additive utilities and of tables over a single issue, and
// false if the utility is neither.
func additiveOf(p *bargain.Preferences) (constant fixed.Number, values []utility.Values, ok bool) {
	switch u := p.Utility().(type) {
	case *utility.Additive:
		for at := range p.Domain().Len() {
			values = append(values, u.Values(at))
		}
		return u.Constant(), values, true
	case *utility.Mapping:
		if p.Domain().Len() != 1 {
			return 0, nil, false
		}
		table := make(utility.Table, p.Domain().Size())
		for index := range table {
			table[index] = u.Of(bargain.Outcome(index))
		}
		return 0, []utility.Values{table}, true
	}
	return 0, nil, false
}
