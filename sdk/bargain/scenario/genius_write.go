package scenario

import (
	"bytes"
	"encoding/xml"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// WriteGeniusDomain writes a domain in GENIUS' format. Names become discrete issues, and so do at most 65,536
// integers or prices with a tick other than 1.
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

// WriteGeniusProfile writes preferences in GENIUS' format, which supports discounts over the whole time only,
// and no negative additive utilities. The values of an additive utility must form a straight line over integers
// and reals. Tables with at most 65,536 outcomes, hyper-rectangles, and additive utilities that sum these, must
// depend on integers only and not exceed 1.
//
// GENIUS and this package's reader compute the same utilities from the result. NegMAS 0.16 differs in two
// cases: it counts an integer's slope from 0 instead of the lowest value, and leaves out the ends of a
// hyper-rectangle's ranges.
func WriteGeniusProfile(name string, p *bargain.Preferences) ([]byte, error) {
	discount := p.Discount()
	isTimed := discount.Factor != 0 && discount.Factor != fixed.One
	if isTimed && (discount.PerStep || discount.KeepReservation) || discount.Cost != 0 {
		return nil, invalid("GENIUS knows only a discount factor for the whole time, " +
			"which discounts the reservation value, too")
	}
	domain := p.Domain()
	objective, err := geniusIssues(name, domain)
	if err != nil {
		return nil, err
	}
	space := node("utility_space", "number_of_issues", strconv.Itoa(domain.Len()))
	constant, values, isAdditive := additiveOf(p)
	bent := bentIssue(domain, values)
	if isAdditive && bent == nil {
		err = weigh(domain, &objective, constant, values)
	} else {
		space.Attributes = append(space.Attributes, attributes("type", "nonlinear")...)
		var sum element
		sum, err = nonlinear(p)
		objective.Children = append(objective.Children, sum)
		if err != nil && bent != nil {
			err = invalid("issue %q has no straight line of values, as GENIUS needs it", bent.Name)
		}
	}
	if err != nil {
		return nil, err
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

// bentIssue finds an integer or real issue with nonlinear values; nil if none.
func bentIssue(domain *bargain.Domain, values []utility.Values) *bargain.Issue {
	for at, part := range values {
		if issue := domain.Issue(at); geniusKind(issue) != "discrete" {
			if _, _, ok := straight(issue, part); !ok {
				return issue
			}
		}
	}
	return nil
}

// weigh adds an additive utility's evaluations and weights to the issues. The constant and negative values
// move to the first issue, changing all the issue's values by the same amount.
func weigh(domain *bargain.Domain, objective *element, rest fixed.Number, values []utility.Values) error {
	shifts, isShifted := make([]fixed.Number, len(values)), rest != 0
	for at, part := range values {
		shifts[at] = part.Of(0)
		if line, ok := part.(utility.Line); ok {
			shifts[at] = min(line.First, line.Last)
		} else {
			for index := range domain.Issue(at).Count {
				shifts[at] = min(shifts[at], part.Of(index))
			}
		}
		isShifted = isShifted || shifts[at] < 0
	}
	if !isShifted {
		clear(shifts)
	}
	for _, shift := range shifts {
		rest = rest.Add(shift)
	}
	if rest < 0 {
		return invalid("the lowest utility is %s; GENIUS knows none below 0", rest)
	}
	shifts[0] = shifts[0].Sub(rest)
	for at, part := range values {
		weight, err := evaluate(&objective.Children[at], domain.Issue(at), part, shifts[at])
		if err != nil {
			return err
		}
		objective.Children = append(objective.Children,
			node("weight", "index", index(at), "value", weight.String()))
	}
	return nil
}

// evaluate adds an issue's evaluations to the element, and returns the weight: the highest value. It first
// subtracts shift from the values.
func evaluate(
	e *element, issue *bargain.Issue, values utility.Values, shift fixed.Number,
) (weight fixed.Number, err error) {
	// places is a number of decimals that loses nothing in the product with the weight.
	places := fixed.Decimals
	part := func(value *big.Rat) string {
		if weight == 0 {
			return "0"
		}
		return decimals(new(big.Rat).Quo(value, exact(weight)), places)
	}
	if geniusKind(issue) == "discrete" {
		for index := range issue.Count {
			weight = max(weight, values.Of(index).Sub(shift))
		}
		if weight >= fixed.One {
			places += len(strconv.FormatInt(int64(weight/fixed.One), 10))
		}
		for index := range e.Children {
			evaluation := part(exact(values.Of(uint64(index)).Sub(shift)))
			item := &e.Children[index]
			item.Attributes = append(item.Attributes, attributes("evaluation", evaluation)...)
		}
		return weight, nil
	}
	slope, bias, _ := straight(issue, values)
	places = many
	first := values.Of(0).Sub(shift)
	weight = max(first, values.Of(issue.Count-1).Sub(shift))
	line := node("evaluator", "ftype", "linear", "offset", part(exact(first)), "slope", part(slope))
	if issue.Kind == bargain.KindReal {
		bias.Sub(bias, exact(shift))
		line = node("evaluator", "ftype", "linear", "parameter0", part(bias), "parameter1", part(slope))
	}
	e.Children = append(e.Children, line)
	return weight, nil
}

// index is an issue's index in GENIUS' format, counted from 1.
func index(at int) string { return strconv.Itoa(at + 1) }

// geniusKind returns GENIUS' name for an issue's type. GENIUS' integers do not support ticks.
func geniusKind(issue *bargain.Issue) string {
	switch {
	case issue.Kind == bargain.KindReal:
		return "real"
	case issue.IsNumeric() && issue.Tick == 1:
		return "integer"
	}
	return "discrete"
}

func geniusIssues(name string, domain *bargain.Domain) (element, error) {
	objective := node("objective", "index", "0", "name", name, "type", "objective", "etype", "objective")
	for at := range domain.Len() {
		issue, kind := domain.Issue(at), geniusKind(domain.Issue(at))
		e := node("issue", "index", index(at), "name", issue.Name)
		switch {
		case kind == "discrete" && issue.IsNumeric() && issue.Count > maxTable:
			return e, invalid("issue %q has %d values and the tick %d, which GENIUS does not know; "+
				"the limit of a list of values is %d", issue.Name, issue.Count, issue.Tick, maxTable)
		case kind == "discrete":
			for at := range issue.Count {
				e.Children = append(e.Children, node("item", "index", index(int(at)), "value", issue.Text(at)))
			}
		case kind == "real":
			if issue.Count < 2 {
				return e, invalid("issue %q has one number; a real issue of GENIUS has a range", issue.Name)
			}
			e.Children = []element{
				node("range", "lowerbound", issue.Text(0), "upperbound", issue.Text(issue.Count-1)),
			}
		default:
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

// invalidAttribute finds an attribute inside the element with a value that XML cannot express.
func invalidAttribute(e *element) (string, bool) {
	for _, a := range e.Attributes {
		if !utf8.ValidString(a.Value) || strings.ContainsFunc(a.Value, func(r rune) bool {
			return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
		}) {
			return a.Value, true
		}
	}
	for i := range e.Children {
		if text, ok := invalidAttribute(&e.Children[i]); ok {
			return text, true
		}
	}
	return "", false
}

func document(root element) ([]byte, error) {
	if text, ok := invalidAttribute(&root); ok {
		return nil, invalid("XML cannot express the text %q", text)
	}
	buffer := bytes.NewBufferString(xml.Header)
	encoder := xml.NewEncoder(buffer)
	encoder.Indent("", "  ")
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	buffer.WriteByte('\n')
	return buffer.Bytes(), nil
}
