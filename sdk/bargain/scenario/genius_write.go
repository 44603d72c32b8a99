package scenario

import (
	"bytes"
	"encoding/xml"
	"strconv"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// WriteGeniusDomain writes a domain in GENIUS' format. Names of values become discrete issues. A price is
// written as integers if its tick is 1, otherwise it is an error.
func WriteGeniusDomain(name string, domain *bargain.Domain) ([]byte, error) {
	objective, err := geniusIssues(name, domain)
	if err != nil {
		return nil, err
	}
	space := node("utility_space", "number_of_issues", strconv.Itoa(domain.Len()))
	space.Children = []element{objective}
	root := node("negotiation_template")
	root.Children = []element{space}
	return document(root)
}

// WriteGeniusProfile writes preferences with an additive utility in GENIUS' format, which knows only values
// from 0, no constant, and a discount over the whole time. A reader that divides by the highest evaluation
// gets the same utilities up to the last decimals.
func WriteGeniusProfile(name string, p *bargain.Preferences) ([]byte, error) {
	u, err := additive(p, "GENIUS")
	if err != nil {
		return nil, err
	}
	discount := p.Discount()
	if u.Constant() != 0 || discount.PerStep || discount.Cost != 0 || discount.KeepReservation {
		return nil, invalid("GENIUS knows no constant and only a discount factor for the whole time")
	}
	domain := p.Domain()
	objective, err := geniusIssues(name, domain)
	if err != nil {
		return nil, err
	}
	space := node("utility_space", "number_of_issues", strconv.Itoa(domain.Len()))
	for at := range domain.Len() {
		weight, err := evaluate(&objective.Children[at], domain.Issue(at), u.Values(at))
		if err != nil {
			return nil, err
		}
		objective.Children = append(objective.Children,
			node("weight", "index", strconv.Itoa(at+1), "value", weight.String()))
	}
	factor := discount.Factor
	if factor == 0 {
		factor = fixed.One
	}
	space.Children = []element{
		objective, node("discount_factor", "value", factor.String()),
		node("reservation", "value", p.Reservation().String()),
	}
	return document(space)
}

// evaluate adds an issue's evaluation to its element, and returns its weight: the highest value.
func evaluate(e *element, issue *bargain.Issue, values utility.Values) (weight fixed.Number, err error) {
	first, last := values.Of(0), values.Of(issue.Count-1)
	for index := range min(issue.Count, maxTable) {
		if values.Of(index) < 0 || last < 0 {
			return 0, invalid("issue %q has negative values, which GENIUS does not know", issue.Name)
		}
		weight = max(weight, values.Of(index), last)
	}
	part := func(value fixed.Number) fixed.Number {
		if weight == 0 {
			return 0
		}
		return value.Div(weight)
	}
	if !issue.IsNumeric() {
		for index := range e.Children {
			value := part(values.Of(uint64(index)))
			item := &e.Children[index]
			item.Attributes = append(item.Attributes, attributes("evaluation", value.String())...)
		}
		return weight, nil
	}
	low, _ := number(issue, 0)
	high, _ := number(issue, issue.Count-1)
	slope := (part(last) - part(first)).Div(max(high.Sub(low), 1))
	for index := range min(issue.Count, maxTable) {
		x, _ := number(issue, index)
		gap := part(values.Of(index)) - part(first) - slope.Mul(x.Sub(low))
		if gap > maxGap || gap < -maxGap {
			return 0, invalid("issue %q has no straight line of values, as GENIUS needs it", issue.Name)
		}
	}
	line := node("evaluator", "ftype", "linear", "offset", part(first).String(), "slope", slope.String())
	if issue.Kind == bargain.KindReal {
		line = node("evaluator", "ftype", "linear", "parameter0", part(first).Sub(slope.Mul(low)).String(),
			"parameter1", slope.String())
	}
	e.Children = append(e.Children, line)
	return weight, nil
}

// maxGap is the distance from a straight line that rounding explains.
const maxGap = fixed.One / 1_000_000

func geniusIssues(name string, domain *bargain.Domain) (element, error) {
	objective := node("objective", "index", "0", "name", name, "type", "objective", "etype", "objective")
	for at := range domain.Len() {
		issue := domain.Issue(at)
		e := node("issue", "index", strconv.Itoa(at+1), "name", issue.Name)
		kind := "discrete"
		switch {
		case !issue.IsNumeric():
			for index, value := range issue.Names {
				e.Children = append(e.Children, node("item", "index", strconv.Itoa(index+1), "value", value))
			}
		case issue.Kind == bargain.KindReal:
			kind = "real"
			e.Children = []element{
				node("range", "lowerbound", issue.Text(0), "upperbound", issue.Text(issue.Count-1)),
			}
		case issue.Tick != 1:
			return e, invalid("issue %q has the tick %d, which GENIUS does not know", issue.Name, issue.Tick)
		default:
			kind = "integer"
			bounds := attributes("lowerbound", issue.Text(0), "upperbound", issue.Text(issue.Count-1))
			e.Attributes = append(e.Attributes, bounds...)
		}
		e.Attributes = append(e.Attributes, attributes("type", kind, "etype", kind, "vtype", kind)...)
		objective.Children = append(objective.Children, e)
	}
	return objective, nil
}

func node(name string, pairs ...string) element {
	return element{XMLName: xml.Name{Local: name}, Attributes: attributes(pairs...)}
}

func attributes(pairs ...string) (list []xml.Attr) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, xml.Attr{Name: xml.Name{Local: pairs[i]}, Value: pairs[i+1]})
	}
	return list
}

func document(root element) ([]byte, error) {
	buffer := bytes.NewBufferString(xml.Header)
	encoder := xml.NewEncoder(buffer)
	encoder.Indent("", "  ")
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	buffer.WriteByte('\n')
	return buffer.Bytes(), nil
}
