package scenario

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// element is any XML element.
type element struct {
	XMLName    xml.Name
	Attributes []xml.Attr `xml:",any,attr"`
	Children   []element  `xml:",any"`
}

func parseXML(data []byte) (*element, error) {
	decoder := xml.NewDecoder(bytes.NewReader(data))
	decoder.CharsetReader = func(charset string, input io.Reader) (io.Reader, error) {
		// ISO 8859-1 has the first 256 characters of Unicode. UTF-8 does not come here.
		if !strings.EqualFold(charset, "iso-8859-1") {
			return nil, invalid("unknown character set %q", charset)
		}
		text, err := io.ReadAll(input)
		var runes []rune
		for _, char := range text {
			runes = append(runes, rune(char))
		}
		return strings.NewReader(string(runes)), err
	}
	root := new(element)
	if err := decoder.Decode(root); err != nil {
		return nil, invalid("XML: %v", err)
	}
	return root, nil
}

func (e *element) attribute(name string) string {
	for _, a := range e.Attributes {
		if strings.EqualFold(a.Name.Local, name) {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

func (e *element) number(name string) (fixed.Number, error) {
	text := e.attribute(name)
	n, err := fixed.Parse(text)
	if err != nil {
		return 0, invalid("<%s> has %s=%q, which is not a decimal number within the limits",
			e.XMLName.Local, name, text)
	}
	return n, nil
}

// find returns all elements with a name at any depth, in the order of the document.
func (e *element) find(name string) (found []*element) {
	for i := range e.Children {
		child := &e.Children[i]
		if strings.EqualFold(child.XMLName.Local, name) {
			found = append(found, child)
		}
		found = append(found, child.find(name)...)
	}
	return found
}

// child returns the first child with a name, or nil.
func (e *element) child(name string) *element {
	for i := range e.Children {
		if strings.EqualFold(e.Children[i].XMLName.Local, name) {
			return &e.Children[i]
		}
	}
	return nil
}

// kind returns an issue's type.
func (e *element) kind() string {
	for _, name := range []string{"vtype", "type", "etype"} {
		if kind := strings.ToLower(e.attribute(name)); kind != "" {
			return kind
		}
	}
	return "discrete"
}

// bounds returns a numeric issue's range: attributes of the issue or of its <range>.
func (e *element) bounds() (least, most fixed.Number, err error) {
	of := e
	if r := e.child("range"); r != nil {
		of = r
	}
	if least, err = of.number("lowerbound"); err == nil {
		most, err = of.number("upperbound")
	}
	return least, most, err
}

// ReadGeniusDomain reads a GENIUS domain, or the domain of a profile. Discrete issues are categorical.
func ReadGeniusDomain(data []byte, options Options) (*bargain.Domain, error) {
	root, err := parseXML(data)
	if err != nil {
		return nil, err
	}
	return geniusDomain(root, options)
}

func geniusDomain(root *element, options Options) (*bargain.Domain, error) {
	var issues []bargain.Issue
	for _, e := range root.find("issue") {
		issue, err := e.issue(options)
		if err != nil {
			return nil, err
		}
		issues = append(issues, issue)
	}
	domain, err := bargain.NewDomain(issues...)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return domain, nil
}

func (e *element) issue(options Options) (issue bargain.Issue, err error) {
	name := e.attribute("name")
	switch kind := e.kind(); kind {
	case "discrete":
		var values []string
		for _, item := range e.items() {
			values = append(values, item.attribute("value"))
		}
		return bargain.Categorical(name, values...), nil
	case "integer", "real":
		least, most, err := e.bounds()
		switch {
		case err != nil:
			return issue, err
		case kind == "real":
			return options.real(name, least, most)
		case least%fixed.One != 0 || most%fixed.One != 0:
			return issue, invalid("issue %q has the range %s to %s, which is not one of integers",
				name, least, most)
		}
		return bargain.Integer(name, int64(least/fixed.One), int64(most/fixed.One)), nil
	default:
		return issue, invalid("issue %q has the unknown type %q", name, kind)
	}
}

// items returns the values of a discrete issue.
func (e *element) items() (items []*element) {
	for i := range e.Children {
		if strings.EqualFold(e.Children[i].XMLName.Local, "item") {
			items = append(items, &e.Children[i])
		}
	}
	return items
}

// ReadGeniusProfile reads a GENIUS utility space as preferences over a domain that has been read before. An
// evaluation counts relative to the highest of its issue, as in GENIUS. The reservation value is 0 if there
// is none, and the discount factor 1.
func ReadGeniusProfile(domain *bargain.Domain, data []byte) (*bargain.Preferences, error) {
	root, err := parseXML(data)
	if err != nil {
		return nil, err
	}
	var u bargain.Utility
	if len(root.find("hyperRectangle")) > 0 {
		u, err = rectangles(domain, root)
	} else {
		u, err = evaluations(domain, root)
	}
	if err != nil {
		return nil, err
	}
	reservation, discount := fixed.Number(0), bargain.Discount{}
	if found := root.find("reservation"); len(found) > 0 {
		if reservation, err = found[0].number("value"); err != nil {
			return nil, err
		}
	}
	if found := root.find("discount_factor"); len(found) > 0 {
		if discount.Factor, err = found[0].number("value"); err != nil {
			return nil, err
		}
	}
	p, err := bargain.NewDiscounted(domain, u, reservation, discount)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return p, nil
}

// indexed returns the issues of a profile by their index attribute, as positions in the domain.
func indexed(
	domain *bargain.Domain, root *element,
) (elements []*element, positions map[string]int, err error) {
	elements = make([]*element, domain.Len())
	positions = map[string]int{}
	names := map[string]int{}
	for at := range domain.Len() {
		names[domain.Issue(at).Name] = at
	}
	for _, e := range root.find("issue") {
		at, ok := names[e.attribute("name")]
		if !ok {
			return nil, nil, invalid("the domain has no issue %q", e.attribute("name"))
		}
		elements[at] = e
		positions[e.attribute("index")] = at
	}
	for at, e := range elements {
		if e == nil {
			return nil, nil, invalid("issue %q is missing", domain.Issue(at).Name)
		}
	}
	return elements, positions, nil
}

func evaluations(domain *bargain.Domain, root *element) (bargain.Utility, error) {
	elements, positions, err := indexed(domain, root)
	if err != nil {
		return nil, err
	}
	// An objective is a group of issues, whose own weight GENIUS does not use.
	objectives := map[string]bool{}
	for _, e := range root.find("objective") {
		objectives[e.attribute("index")] = true
	}
	weights := make([]fixed.Number, domain.Len())
	for _, e := range root.find("weight") {
		at, ok := positions[e.attribute("index")]
		if !ok && objectives[e.attribute("index")] {
			continue
		}
		if !ok {
			return nil, invalid("<weight> has index=%q, which no issue has", e.attribute("index"))
		}
		if weights[at], err = e.number("value"); err != nil {
			return nil, err
		}
	}
	var values []utility.Values
	for at, e := range elements {
		value, err := e.values(domain.Issue(at))
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	u, err := utility.NewAdditive(domain, 0, weights, values...)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return u, nil
}

// values returns the evaluation of an issue's values, from 0 to 1.
func (e *element) values(issue *bargain.Issue) (utility.Values, error) {
	if issue.IsNumeric() {
		return e.evaluator(issue)
	}
	table, most := make(utility.Table, issue.Count), fixed.Number(0)
	found := map[string]fixed.Number{}
	for _, item := range e.items() {
		value, err := item.number("evaluation")
		if err != nil {
			return nil, err
		}
		found[item.attribute("value")] = value
		most = max(most, value)
	}
	for index, name := range issue.Names {
		value, ok := found[name]
		if !ok {
			return nil, invalid("issue %q has no evaluation of %q", issue.Name, name)
		}
		if most > 0 {
			table[index] = value.Div(most)
		}
	}
	return table, nil
}

// evaluator returns a numeric issue's evaluation, limited to 0 to 1. A slope counts from the lower bound for
// integers and from 0 for reals, as in GENIUS.
func (e *element) evaluator(issue *bargain.Issue) (utility.Values, error) {
	function := e.child("evaluator")
	if function == nil {
		return nil, invalid("issue %q has no <evaluator>", issue.Name)
	}
	var parameters [3]fixed.Number
	read := func(names ...string) (err error) {
		for i, name := range names {
			if parameters[i], err = function.number(name); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	first, _ := number(issue, 0)
	var of func(x fixed.Number) fixed.Number
	switch kind := strings.ToLower(function.attribute("ftype")); {
	case kind == "linear" && function.attribute("slope") != "":
		err = read("offset", "slope")
		of = func(x fixed.Number) fixed.Number { return parameters[0].Add(parameters[1].Mul(x.Sub(first))) }
	case kind == "linear":
		err = read("parameter0", "parameter1")
		of = func(x fixed.Number) fixed.Number { return parameters[0].Add(parameters[1].Mul(x)) }
	case kind == "constant":
		err = read("parameter0")
		of = func(fixed.Number) fixed.Number { return parameters[0] }
	case kind == "triangular":
		err = read("parameter0", "parameter1", "parameter2")
		of = func(x fixed.Number) fixed.Number {
			return triangular(x, parameters[0], parameters[1], parameters[2])
		}
	default:
		return nil, invalid("issue %q has the unknown evaluator type %q", issue.Name, kind)
	}
	if err != nil {
		return nil, err
	}
	return tabulate(issue, func(x fixed.Number) fixed.Number { return of(x).Clamp(0, fixed.One) })
}

// triangular rises from low to 1 at top, and falls to high.
func triangular(x, low, high, top fixed.Number) fixed.Number {
	switch {
	case x < low || x >= high:
		return 0
	case x < top:
		return x.Sub(low).Div(top.Sub(low))
	}
	return fixed.One - x.Sub(top).Div(high.Sub(top))
}

// rectangles returns a nonlinear utility: the sum of the rectangles' utilities relative to maxutility.
func rectangles(domain *bargain.Domain, root *element) (bargain.Utility, error) {
	_, positions, err := indexed(domain, root)
	if err != nil {
		return nil, err
	}
	most := fixed.One
	for _, e := range root.find("utility") {
		if e.attribute("maxutility") != "" {
			if most, err = e.number("maxutility"); err != nil {
				return nil, err
			}
		}
	}
	if most <= 0 {
		return nil, invalid("maxutility is %s", most)
	}
	var list []utility.Rectangle
	for _, e := range root.find("hyperRectangle") {
		value, err := e.number("utility")
		if err != nil {
			return nil, err
		}
		rectangle := utility.Rectangle{Value: value.Div(most)}
		for _, r := range e.find("INCLUDES") {
			at, ok := positions[r.attribute("index")]
			if !ok {
				return nil, invalid("<INCLUDES> has index=%q, which no issue has", r.attribute("index"))
			}
			issue := domain.Issue(at)
			low, errLow := strconv.ParseInt(r.attribute("min"), 10, 64)
			high, errHigh := strconv.ParseInt(r.attribute("max"), 10, 64)
			if errLow != nil || errHigh != nil || issue.Kind != bargain.KindInteger || low < issue.Int(0) {
				return nil, invalid("<INCLUDES> of issue %q has no range of its integers", issue.Name)
			}
			first := uint64(low) - issue.First
			rectangle.Ranges = append(rectangle.Ranges, utility.Range{
				Issue: at, First: first, Last: first + (uint64(high) - uint64(low)),
			})
		}
		list = append(list, rectangle)
	}
	u, err := utility.NewHyperRectangle(domain, 0, list...)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return u, nil
}
