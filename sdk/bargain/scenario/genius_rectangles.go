package scenario

import (
	"math/big"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// rectangles reads a nonlinear utility: the sum of the rectangles' utilities relative to maxutility. GENIUS
// limits the utility to 1; the engine does not.
func rectangles(domain *bargain.Domain, root *element) (bargain.Utility, error) {
	_, positions, err := indexed(domain, root)
	if err != nil {
		return nil, err
	}
	if len(root.find("evaluator"))+len(root.find("item")) > 0 && len(root.find("weight")) > 0 {
		return nil, invalid("it has evaluations beside its hyper-rectangles")
	}
	reader := &rectangleReader{domain: domain, positions: positions}
	for _, name := range []string{"utility", "utility_function"} { // GENIUS' name, and NegMAS' name in exports
		for _, e := range root.find(name) {
			most := big.NewRat(1, 1)
			if text := e.word("maxutility"); text != "" {
				if most, err = e.exactNumber("maxutility"); err != nil {
					return nil, err
				}
			}
			switch {
			case name == "utility_function" && most.Cmp(big.NewRat(-1, 1)) == 0:
				most.SetInt64(1) // NegMAS' export does not know it
			case most.Sign() <= 0:
				return nil, invalid("maxutility is %s", decimals(most, many))
			}
			// GENIUS takes the first child and ignores the weight.
			if len(e.Children) != 1 || !e.Children[0].isWhole() {
				return nil, invalid("<%s> must have one <ufun> with the weight 1", name)
			}
			if err := reader.read(e, most.Inv(most)); err != nil {
				return nil, err
			}
		}
	}
	u, err := utility.NewHyperRectangle(domain, 0, reader.list...)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return u, nil
}

// isWhole reports whether the element's weight is absent or 1.
func (e *element) isWhole() bool {
	weight, ok := parseExact(e.word("weight"))
	return e.word("weight") == "" || ok && weight.Cmp(big.NewRat(1, 1)) == 0
}

type rectangleReader struct {
	domain    *bargain.Domain
	positions map[string]int
	list      []utility.Rectangle
}

// read reads the rectangles inside an element, multiplying utilities by weight.
func (r *rectangleReader) read(e *element, weight *big.Rat) error {
	for i := range e.Children {
		child, product := &e.Children[i], weight
		if child.word("weight") != "" {
			own, err := child.exactNumber("weight")
			if err != nil {
				return err
			}
			product = own.Mul(own, weight)
		}
		switch strings.ToLower(child.XMLName.Local) {
		case "ufun":
			if sum := child.word("aggregation"); sum != "" && !strings.EqualFold(sum, "sum") {
				return invalid("<ufun> has aggregation=%q; the engine knows sum", sum)
			}
			if err := r.read(child, product); err != nil {
				return err
			}
		case "hyperrectangle":
			if err := r.rectangle(child, product); err != nil {
				return err
			}
		default:
			return invalid("<%s> has a <%s>", e.XMLName.Local, child.XMLName.Local)
		}
	}
	return nil
}

func (r *rectangleReader) rectangle(e *element, weight *big.Rat) error {
	name := "utility"
	if e.word(name) == "" {
		name = "utility_function"
	}
	value, err := e.exactNumber(name)
	if err != nil {
		return err
	}
	rectangle := utility.Rectangle{Value: rounded(value.Mul(value, weight))}
	for i := range e.Children {
		child := &e.Children[i]
		if !strings.EqualFold(child.XMLName.Local, "INCLUDES") {
			return invalid("<hyperRectangle> has a <%s>; the engine knows INCLUDES", child.XMLName.Local)
		}
		at, ok := r.positions[child.word("index")]
		if !ok {
			return invalid("<INCLUDES> has index=%q, which no issue has", child.word("index"))
		}
		issue := r.domain.Issue(at)
		if !issue.IsNumeric() {
			return invalid("<INCLUDES> has a range of issue %q, whose values are names", issue.Name)
		}
		low, err := child.exactNumber("min")
		if err != nil {
			return err
		}
		high, err := child.exactNumber("max")
		if err != nil {
			return err
		}
		if low.Cmp(high) > 0 {
			return invalid("<INCLUDES> of issue %q has the range %s to %s",
				issue.Name, decimals(low, many), decimals(high, many))
		}
		first, last := indices(issue, low, high, true)
		if first > last {
			return nil // no outcome lies in it
		}
		rectangle.Ranges = append(rectangle.Ranges, utility.Range{Issue: at, First: first, Last: last})
	}
	r.list = append(r.list, rectangle)
	return nil
}

// nonlinear returns the <utility> for hyper-rectangles or an outcome table. GENIUS limits utilities to 1.
func nonlinear(p *bargain.Preferences) (element, error) {
	domain := p.Domain()
	constant, list, err := rectanglesOf(p)
	if err != nil {
		return element{}, err
	}
	highest := constant
	for _, rectangle := range list {
		highest = highest.Add(max(rectangle.Value, 0))
	}
	if highest > fixed.One {
		if _, most := p.Bounds(); most > fixed.One || !p.Inverse().Exact() {
			return element{}, invalid("the utility can exceed 1, to which GENIUS limits it")
		}
	}
	if constant != 0 {
		list = append(list, utility.Rectangle{Value: constant})
	}
	sum := node("ufun", "type", "PlainUfun", "weight", "1", "aggregation", "sum")
	for _, rectangle := range list {
		box := node("hyperRectangle", "utility", rectangle.Value.String())
		for _, r := range rectangle.Ranges {
			issue := domain.Issue(r.Issue)
			if geniusKind(issue) != "integer" {
				return element{}, invalid("issue %q: GENIUS knows ranges of integers only", issue.Name)
			}
			box.Children = append(box.Children, node("INCLUDES", "index", index(r.Issue),
				"min", issue.Text(r.First), "max", issue.Text(r.Last)))
		}
		sum.Children = append(sum.Children, box)
	}
	top := node("utility", "maxutility", "1")
	top.Children = []element{sum}
	return top, nil
}
