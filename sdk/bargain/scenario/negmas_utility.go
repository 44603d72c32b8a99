package scenario

import (
	"math/big"

	"go.yaml.in/yaml/v3"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// utility reads a document's undiscounted utility.
func (v value) utility(domain *bargain.Domain) (bargain.Utility, error) {
	switch class := v.class(); class {
	case "LinearAdditiveUtilityFunction", "LinearUtilityAggregationFunction":
		functions, ok := v.get("values")
		if !ok {
			return nil, invalid("%s has no values", v.path)
		}
		list, err := functions.perIssue(domain)
		if err != nil {
			return nil, err
		}
		return v.additive(domain, list, big.NewRat(1, 1))
	case "LinearUtilityFunction", "AffineUtilityFunction":
		return v.additive(domain, nil, big.NewRat(1, int64(domain.Len())))
	case "HyperRectangleUtilityFunction":
		return v.rectangles(domain)
	case "MappingUtilityFunction":
		return v.outcomes(domain)
	case "ConstUtilityFunction":
		constant, err := v.optional("value", 0)
		if err != nil {
			return nil, err
		}
		values := make([]utility.Values, domain.Len())
		for at := range values {
			values[at] = utility.Line{Count: domain.Issue(at).Count}
		}
		u, err := utility.NewAdditive(domain, constant, nil, values...)
		if err != nil {
			return nil, invalid("%v", err)
		}
		return u, nil
	default:
		return nil, invalid("%s has the unknown type %q", v.path, class)
	}
}

// exactNumber reads a number, possibly beyond [fixed.Number].
func (v value) exactNumber() (*big.Rat, error) {
	text, err := v.text()
	if err != nil {
		return nil, err
	}
	n, ok := parseExact(text)
	if !ok {
		return nil, invalid("%s is %q, which is not a decimal number", v.path, text)
	}
	return n, nil
}

// perIssue returns the elements from a list, or from a mapping by issue name, in the domain's order.
func (v value) perIssue(domain *bargain.Domain) ([]value, error) {
	if v.Kind != yaml.MappingNode {
		list, err := v.list()
		if err == nil && len(list) != domain.Len() {
			err = invalid("%s has %d elements for %d issues", v.path, len(list), domain.Len())
		}
		return list, err
	}
	list := make([]value, domain.Len())
	for at := range list {
		child, ok := v.get(domain.Issue(at).Name)
		if !ok {
			return nil, invalid("%s has nothing for the issue %q", v.path, domain.Issue(at).Name)
		}
		list[at] = child
	}
	return list, nil
}

// additive returns the weighted sum of the listed functions or, if the list is nil, of the issues' numbers.
func (v value) additive(
	domain *bargain.Domain, functions []value, otherwise *big.Rat,
) (bargain.Utility, error) {
	weights := make([]*big.Rat, domain.Len())
	for at := range weights {
		weights[at] = otherwise
	}
	if given, ok := v.get("weights"); ok {
		list, err := given.perIssue(domain)
		if err != nil {
			return nil, err
		}
		for at, weight := range list {
			if weights[at], err = weight.exactNumber(); err != nil {
				return nil, err
			}
		}
	}
	values := make([]utility.Values, domain.Len())
	for at := range values {
		var err error
		if functions == nil {
			identity := affine(big.NewRat(1, 1), new(big.Rat))
			values[at], err = tabulate(domain.Issue(at), identity, weights[at])
		} else {
			values[at], err = functions[at].function(domain.Issue(at), weights[at])
		}
		if err != nil {
			return nil, err
		}
	}
	bias, err := v.optional("bias", 0)
	if err != nil {
		return nil, err
	}
	u, err := utility.NewAdditive(domain, bias, nil, values...)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return u, nil
}

// function computes a value function's values, multiplied by weight.
func (v value) function(issue *bargain.Issue, weight *big.Rat) (values utility.Values, err error) {
	slope, bias := big.NewRat(1, 1), new(big.Rat)
	exactly := func(key string, otherwise *big.Rat) *big.Rat {
		child, ok := v.get(key)
		if !ok || err != nil {
			return otherwise
		}
		var n *big.Rat
		if n, err = child.exactNumber(); err != nil {
			return otherwise
		}
		return n
	}
	switch class := v.class(); class {
	case "TableFun":
		return v.table(issue, weight)
	case "IdentityFun":
	case "ConstFun":
		slope, bias = new(big.Rat), exactly("bias", bias)
		if err == nil && !issue.IsNumeric() {
			table := make(utility.Table, issue.Count)
			for index := range table {
				table[index] = rounded(new(big.Rat).Mul(bias, weight))
			}
			return table, nil
		}
	case "AffineFun", "LinearFun":
		slope, bias = exactly("slope", slope), exactly("bias", bias)
	default:
		return nil, invalid("%s has the unknown type %q", v.path, class)
	}
	if err != nil {
		return nil, err
	}
	return tabulate(issue, affine(slope, bias), weight)
}

func (v value) table(issue *bargain.Issue, weight *big.Rat) (utility.Values, error) {
	mapping, ok := v.get("mapping")
	if !ok || mapping.Kind != yaml.MappingNode {
		return nil, invalid("%s has no mapping", v.path)
	}
	if entries := len(mapping.Content) / 2; issue.Count > uint64(entries) {
		return nil, invalid("%s has %d values of %d", mapping.path, entries, issue.Count)
	}
	products, found, finder := utility.NewProducts(issue.Count), make([]bool, issue.Count), newFinder(issue)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := mapping.Content[i].Value
		index, ok := finder.find(key)
		if !ok {
			continue // NegMAS never looks it up
		}
		n, err := value{mapping.Content[i+1], mapping.path + "." + key}.exactNumber()
		if err != nil {
			return nil, err
		}
		products.Set(index, rounded(new(big.Rat).Mul(n, weight)), weight, n)
		found[index] = true
	}
	for index, ok := range found {
		if !ok {
			return nil, invalid("%s has no value of %q", mapping.path, issue.Text(uint64(index)))
		}
	}
	return products, nil
}

// outcomes reads an outcome table. The keys are lists with a value per issue, or single values if there is only
// one issue.
func (v value) outcomes(domain *bargain.Domain) (bargain.Utility, error) {
	mapping, ok := v.get("mapping")
	if !ok || mapping.Kind != yaml.MappingNode {
		return nil, invalid("%s has no mapping", v.path)
	}
	otherwise, err := v.optional("default", -bargain.MaxUtility)
	if err != nil {
		return nil, err
	}
	if domain.Size() > maxTable {
		return nil, invalid("%s is for %d outcomes; the limit is %d", mapping.path, domain.Size(), maxTable)
	}
	values := make([]fixed.Number, domain.Size())
	for o := range values {
		values[o] = otherwise
	}
	finders := newFinders(domain)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		parts := key.Content
		if key.Kind == yaml.ScalarNode {
			parts = []*yaml.Node{key}
		}
		indices := make([]uint64, len(parts))
		isKnown := len(parts) == domain.Len()
		for at := 0; at < len(parts) && isKnown; at++ {
			indices[at], isKnown = finders[at].find(parts[at].Value)
		}
		if !isKnown {
			return nil, invalid("%s has a key in line %d that is no outcome", mapping.path, key.Line)
		}
		path := mapping.path + "[" + domain.Text(domain.Outcome(indices...)) + "]"
		if values[domain.Outcome(indices...)], err = (value{mapping.Content[i+1], path}).number(); err != nil {
			return nil, err
		}
	}
	u, err := utility.NewMapping(domain, values)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return u, nil
}
