package scenario

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// rectangles reads a sum of constants over boxes: outcome_ranges maps issue positions to values. As computed by
// NegMAS 0.16, two numbers mean a range, ends excluded; any other list holds the matching values, or such
// ranges.
func (v value) rectangles(domain *bargain.Domain) (bargain.Utility, error) {
	ranges, ok := v.get("outcome_ranges")
	utilities, ok2 := v.get("utilities")
	if !ok || !ok2 {
		return nil, invalid("%s has no outcome_ranges or no utilities", v.path)
	}
	boxes, err := ranges.list()
	if err != nil {
		return nil, err
	}
	amounts, err := utilities.list()
	if err != nil {
		return nil, err
	}
	var weights []value
	if given, ok := v.get("weights"); ok {
		if weights, err = given.list(); err != nil {
			return nil, err
		}
	}
	if len(boxes) != len(amounts) || len(weights) > 0 && len(weights) != len(boxes) {
		return nil, invalid("%s has %d ranges, %d utilities and %d weights",
			v.path, len(boxes), len(amounts), len(weights))
	}
	finders := newFinders(domain)
	var list []utility.Rectangle
	for i, box := range boxes {
		amount, err := amounts[i].exactNumber()
		if err != nil {
			return nil, err
		}
		if len(weights) > 0 {
			weight, err := weights[i].exactNumber()
			if err != nil {
				return nil, err
			}
			amount.Mul(amount, weight)
		}
		parts, err := box.box(domain, finders)
		if err != nil {
			return nil, err
		}
		for _, ranges := range parts {
			list = append(list, utility.Rectangle{Ranges: ranges, Value: rounded(amount)})
		}
		if len(list) > maxTable {
			return nil, invalid("%s has more than %d rectangles", ranges.path, maxTable)
		}
	}
	bias, err := v.optional("bias", 0)
	if err != nil {
		return nil, err
	}
	u, err := utility.NewHyperRectangle(domain, bias, list...)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return u, nil
}

// box converts a box to rectangles: several if an issue's values contain gaps, none if the box contains no
// outcome.
func (v value) box(domain *bargain.Domain, finders []*finder) (rectangles [][]utility.Range, err error) {
	rectangles = [][]utility.Range{nil}
	if v.Tag == "!!null" {
		return rectangles, nil // no condition
	}
	if v.Kind != yaml.MappingNode {
		return nil, invalid("%s is not a mapping from issues to values", v.path)
	}
	done := make([]bool, domain.Len())
	for i := 0; i+1 < len(v.Content); i += 2 {
		key := v.Content[i]
		child := value{v.Content[i+1], v.path + "." + key.Value}
		at, err := child.position(domain, key)
		if err != nil {
			return nil, err
		}
		if done[at] {
			return nil, invalid("%s has the issue %q twice", v.path, domain.Issue(at).Name)
		}
		done[at] = true
		conditions, err := child.conditions(finders[at], at)
		if err != nil {
			return nil, err
		}
		var next [][]utility.Range
		for _, ranges := range rectangles {
			for _, condition := range conditions {
				next = append(next, append(slices.Clip(ranges), condition))
			}
		}
		if rectangles = next; len(rectangles) > maxTable {
			return nil, invalid("%s has more than %d rectangles", v.path, maxTable)
		}
	}
	return rectangles, nil
}

// position finds an issue's position: NegMAS' keys are positions from 0, written as strings in JSON. It accepts
// names, too.
func (v value) position(domain *bargain.Domain, key *yaml.Node) (int, error) {
	found := -1
	at, err := strconv.Atoi(key.Value)
	isPosition := err == nil && 0 <= at && at < domain.Len()
	for at := range domain.Len() {
		if key.Tag != "!!int" && domain.Issue(at).Name == key.Value {
			found = at
		}
	}
	switch {
	case isPosition && found >= 0 && found != at:
		return 0, invalid("%s can mean an issue's position and another issue's name", v.path)
	case isPosition:
		return at, nil
	case found < 0:
		return 0, invalid("%s: the domain has no such issue", v.path)
	}
	return found, nil
}

// conditions returns the box's ranges over an issue's values, sorted and not overlapping.
func (v value) conditions(finder *finder, at int) ([]utility.Range, error) {
	if v.Tag == "!!null" {
		return nil, nil // no value is accepted
	}
	elements := []value{v}
	if v.Kind == yaml.SequenceNode && !v.isRange() {
		elements, _ = v.list()
	}
	var list []utility.Range
	issue := finder.issue
	for _, element := range elements {
		values := []value{element}
		switch {
		case element.isRange():
			low, errLow := value{element.Content[0], element.path}.exactNumber()
			high, errHigh := value{element.Content[1], element.path}.exactNumber()
			if errLow != nil || errHigh != nil || !issue.IsNumeric() {
				return nil, invalid("%s is a range, but not of numbers of issue %q", element.path, issue.Name)
			}
			if first, last := indices(issue, low, high, false); first <= last {
				list = append(list, utility.Range{Issue: at, First: first, Last: last})
			}
			continue
		case element.Kind == yaml.SequenceNode:
			values, _ = element.list()
		}
		for _, single := range values {
			text, err := single.text()
			if err != nil {
				return nil, err
			}
			// NegMAS compares with all values: a value missing from the issue never matches.
			if index, ok := finder.find(text); ok {
				list = append(list, utility.Range{Issue: at, First: index, Last: index})
			}
		}
	}
	return union(list), nil
}

// isRange reports whether a list consists of two numbers.
func (v value) isRange() bool {
	return v.Kind == yaml.SequenceNode && len(v.Content) == 2 && isNumber(v.Content[0]) && isNumber(v.Content[1])
}

func isNumber(node *yaml.Node) bool { return node.Tag == "!!int" || node.Tag == "!!float" }

// union joins an issue's ranges that overlap or touch.
func union(list []utility.Range) (joined []utility.Range) {
	slices.SortFunc(list, func(a, b utility.Range) int {
		return cmp.Compare(a.First, b.First)
	})
	for _, r := range list {
		if last := len(joined) - 1; last >= 0 && r.First <= joined[last].Last+1 {
			joined[last].Last = max(joined[last].Last, r.Last)
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

// boxOf finds a range's issue values, as NegMAS reads them. The ends of number ranges lie half a step beyond
// the values, so both readings agree: NegMAS 0.16 excludes the ends, but the documentation includes them.
func boxOf(issue *bargain.Issue, r utility.Range) (*yaml.Node, error) {
	if !issue.IsNumeric() {
		var names []*yaml.Node
		for index := r.First; index <= r.Last; index++ {
			names = append(names, textNode(issue.Names[index]))
		}
		return listNode(yaml.FlowStyle, names...), nil
	}
	half := big.NewRat(1, 2)
	if issue.Kind == bargain.KindReal {
		half = new(big.Rat).Mul(half, exact(fixed.Number(issue.Tick)))
	}
	low, high := numberOf(issue, r.First), numberOf(issue, r.Last)
	low.Sub(low, half)
	high.Add(high, half)
	for _, end := range []*big.Rat{low, high} {
		near, _ := end.Float64()
		gap := new(big.Rat).SetFloat64(near)
		if gap.Sub(gap, end).Abs(gap).Cmp(half) >= 0 {
			return nil, invalid("issue %q: a range ends at numbers that are too large for NegMAS' floats", issue.Name)
		}
	}
	return listNode(yaml.FlowStyle, decimalNode(low), decimalNode(high)), nil
}
