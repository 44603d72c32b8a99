package scenario

import (
	"bytes"
	"encoding/xml"
	"io"
	"math/big"
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
		// ISO 8859-1 encodes the first 256 Unicode characters. UTF-8 input is not passed here.
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
			return a.Value
		}
	}
	return ""
}

// word reads an attribute without surrounding white space: everything but names.
func (e *element) word(name string) string { return strings.TrimSpace(e.attribute(name)) }

func (e *element) number(name string) (fixed.Number, error) {
	text := e.word(name)
	n, err := fixed.Parse(text)
	if err != nil {
		return 0, invalid("<%s> has %s=%q, which is not a decimal number within the limits",
			e.XMLName.Local, name, text)
	}
	return n, nil
}

// exactNumber reads a number, possibly beyond [fixed.Number].
func (e *element) exactNumber(name string) (*big.Rat, error) {
	n, ok := parseExact(e.word(name))
	if !ok {
		return nil, invalid("<%s> has %s=%q, which is not a decimal number", e.XMLName.Local, name, e.word(name))
	}
	return n, nil
}

// find returns all elements with a name at any depth, in document order.
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

// kind reads an issue's type. If "type" and "vtype" differ, GENIUS uses "type".
func (e *element) kind() string {
	for _, name := range []string{"type", "vtype", "etype"} {
		if kind := strings.ToLower(e.word(name)); kind != "" {
			return kind
		}
	}
	return "discrete"
}

// bounds returns the element holding a numeric issue's bounds: the <range> child, or the issue itself.
func (e *element) bounds() *element {
	if r := e.child("range"); r != nil {
		return r
	}
	return e
}

// isGeniusDomain reports whether data is a GENIUS domain. For a profile it returns false; for anything else, an
// error.
func isGeniusDomain(data []byte) (bool, error) {
	root, err := parseXML(data)
	if err != nil {
		return false, err
	}
	switch root.XMLName.Local {
	case "negotiation_template":
		return true, nil
	case "utility_space":
		return false, nil
	}
	return false, invalid("<%s> is neither a domain nor a profile", root.XMLName.Local)
}

// ReadGeniusDomain reads a GENIUS domain, or a profile's domain. Discrete issues are categorical.
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
	case "integer":
		least, err := e.bounds().exactNumber("lowerbound")
		if err != nil {
			return issue, err
		}
		most, err := e.bounds().exactNumber("upperbound")
		if err != nil {
			return issue, err
		}
		return integers(name, decimals(least, many), decimals(most, many), "1")
	case "real":
		least, err := e.bounds().number("lowerbound")
		if err != nil {
			return issue, err
		}
		most, err := e.bounds().number("upperbound")
		if err != nil {
			return issue, err
		}
		return options.real(name, least, most, 0)
	default:
		return issue, invalid("issue %q has the unknown type %q", name, kind)
	}
}

// items reads a discrete issue's values.
func (e *element) items() (items []*element) {
	for i := range e.Children {
		if strings.EqualFold(e.Children[i].XMLName.Local, "item") {
			items = append(items, &e.Children[i])
		}
	}
	return items
}

// ReadGeniusProfile reads a GENIUS utility space as preferences over a given domain. Evaluations are relative
// to the issue's highest evaluation, as in GENIUS; NegMAS uses them unchanged, so the two agree if every
// issue's highest evaluation is 1. The default reservation value is 0, the default discount factor 1.
//
// It reads what NegMAS exports as GENIUS' XML, with two exceptions, which GENIUS does not know either: a
// linear cost, and a weight that belongs to no issue.
func ReadGeniusProfile(domain *bargain.Domain, data []byte) (*bargain.Preferences, error) {
	root, err := parseXML(data)
	if err != nil {
		return nil, err
	}
	var u bargain.Utility
	if len(root.find("ufun")) > 0 {
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
	if found := root.find("cost"); len(found) > 0 {
		return nil, invalid("it has a <cost>, which GENIUS does not know")
	}
	if found := root.find("discount_factor"); len(found) > 0 {
		if unit := found[0].word("variable"); unit != "" && unit != "relative_time" {
			return nil, invalid("<discount_factor> has variable=%q; GENIUS knows relative_time", unit)
		}
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

// indexed sorts a profile's issues by index attribute, converted to domain positions.
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
		positions[e.word("index")] = at
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
	// An objective is a group of issues. GENIUS ignores an objective's own weight.
	objectives := map[string]bool{}
	for _, e := range root.find("objective") {
		objectives[e.word("index")] = true
	}
	weights := make([]*big.Rat, domain.Len())
	for at := range weights {
		weights[at] = new(big.Rat)
	}
	for _, e := range root.find("weight") {
		at, ok := positions[e.word("index")]
		if !ok && objectives[e.word("index")] {
			continue
		}
		if !ok {
			return nil, invalid("<weight> has index=%q, which no issue has", e.word("index"))
		}
		if weights[at], err = e.exactNumber("value"); err != nil {
			return nil, err
		}
	}
	var values []utility.Values
	for at, e := range elements {
		value, err := e.values(domain.Issue(at), weights[at])
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	u, err := utility.NewAdditive(domain, 0, nil, values...)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return u, nil
}

// values returns the evaluations, between 0 and 1, of the issue's values, multiplied by weight.
func (e *element) values(issue *bargain.Issue, weight *big.Rat) (utility.Values, error) {
	items := e.items()
	if issue.IsNumeric() && len(items) == 0 {
		return e.evaluator(issue, weight)
	}
	// NegMAS exports also integers as items.
	if len(items) < 1<<32 && issue.Count > uint64(len(items)) {
		return nil, invalid("issue %q has %d evaluations of %d values", issue.Name, len(items), issue.Count)
	}
	evaluations, most, finder := make([]*big.Rat, issue.Count), new(big.Rat), newFinder(issue)
	for _, item := range items {
		evaluation, err := item.exactNumber("evaluation")
		if err != nil {
			return nil, err
		}
		if index, ok := finder.find(item.attribute("value")); ok {
			evaluations[index] = evaluation
		}
		if evaluation.Cmp(most) > 0 {
			most = evaluation
		}
	}
	products := utility.NewProducts(issue.Count)
	for index, evaluation := range evaluations {
		if evaluation == nil {
			return nil, invalid("issue %q has no evaluation of %q", issue.Name, issue.Text(uint64(index)))
		}
		if most.Sign() > 0 {
			part := new(big.Rat).Quo(evaluation, most)
			products.Set(uint64(index), rounded(new(big.Rat).Mul(part, weight)), weight, part)
		}
	}
	return products, nil
}

// evaluator reads a numeric issue's evaluations, limited to 0 to 1, multiplied by its weight. A slope counts
// from the lower bound for integers and from 0 for reals, as in GENIUS.
func (e *element) evaluator(issue *bargain.Issue, weight *big.Rat) (utility.Values, error) {
	evaluator := e.child("evaluator")
	if evaluator == nil {
		return nil, invalid("issue %q has no <evaluator>", issue.Name)
	}
	names, kind := []string{"parameter0", "parameter1", "parameter2"}, strings.ToLower(evaluator.word("ftype"))
	isOffset := kind == "linear" && evaluator.word("slope") != ""
	switch {
	case isOffset:
		names = []string{"offset", "slope"}
	case kind == "linear":
		names = names[:2]
	case kind == "constant":
		names = names[:1]
	case kind != "triangular":
		return nil, invalid("issue %q has the unknown evaluator type %q", issue.Name, kind)
	}
	var parameters []*big.Rat
	for _, name := range names {
		parameter, err := evaluator.exactNumber(name)
		if err != nil {
			return nil, err
		}
		parameters = append(parameters, parameter)
	}
	var f function
	switch kind {
	case "linear":
		f = affine(parameters[1], parameters[0])
		if isOffset && issue.Kind != bargain.KindReal {
			base := numberOf(issue, 0)
			base.Mul(base, parameters[1])
			f = affine(parameters[1], base.Sub(parameters[0], base))
		}
	case "constant":
		f = affine(new(big.Rat), parameters[0])
	case "triangular":
		f.of = func(x *big.Rat) *big.Rat { return triangular(x, parameters[0], parameters[1], parameters[2]) }
	}
	whole := big.NewRat(1, 1)
	isInside := func(x *big.Rat) bool { return x.Sign() >= 0 && x.Cmp(whole) <= 0 }
	limited := function{of: func(x *big.Rat) *big.Rat {
		switch y := f.of(x); {
		case isInside(y):
			return y
		case y.Sign() < 0:
			return new(big.Rat)
		}
		return big.NewRat(1, 1)
	}}
	if f.isStraight {
		limited.isStraight = isInside(f.of(numberOf(issue, 0))) && isInside(f.of(numberOf(issue, issue.Count-1)))
	}
	return tabulate(issue, limited, weight)
}

// triangular rises from low to 1 at top, and falls to high.
func triangular(x, low, high, top *big.Rat) *big.Rat {
	share := func(part, from, to *big.Rat) *big.Rat {
		result := new(big.Rat).Sub(part, from)
		return result.Quo(result, new(big.Rat).Sub(to, from))
	}
	switch {
	case x.Cmp(low) < 0 || x.Cmp(high) >= 0:
		return new(big.Rat)
	case x.Cmp(top) < 0:
		return share(x, low, top)
	case top.Cmp(high) == 0:
		return big.NewRat(1, 1)
	}
	return share(x, high, top)
}
