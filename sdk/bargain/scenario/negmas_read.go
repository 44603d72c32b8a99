package scenario

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// value is a node of a YAML or JSON document (JSON is YAML). Scalars keep their text, so that no number
// becomes a float.
type value struct {
	*yaml.Node
	path string
}

func parseYAML(data []byte) (value, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return value{}, invalid("YAML: %v", err)
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return value{}, invalid("YAML: the document is empty")
	}
	return value{document.Content[0], "document"}, nil
}

// get returns the value of a key; false if there is none, or null.
func (v value) get(key string) (value, bool) {
	if v.Node == nil || v.Kind != yaml.MappingNode {
		return value{}, false
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		if v.Content[i].Value == key {
			child := value{v.Content[i+1], v.path + "." + key}
			return child, child.Tag != "!!null"
		}
	}
	return value{}, false
}

// list returns the elements of a sequence.
func (v value) list() (list []value, err error) {
	if v.Kind != yaml.SequenceNode {
		return nil, invalid("%s is not a list", v.path)
	}
	for i, child := range v.Content {
		list = append(list, value{child, v.path + "[" + strconv.Itoa(i) + "]"})
	}
	return list, nil
}

func (v value) text() (string, error) {
	if v.Kind != yaml.ScalarNode {
		return "", invalid("%s is not a single value", v.path)
	}
	return v.Value, nil
}

func (v value) number() (fixed.Number, error) {
	text, err := v.text()
	if err != nil {
		return 0, err
	}
	switch strings.ToLower(strings.TrimPrefix(text, "+")) {
	case "-.inf", "-inf", "-infinity":
		return -bargain.MaxUtility, nil
	case ".inf", "inf", "infinity":
		return bargain.MaxUtility, nil
	}
	n, err := fixed.Parse(text)
	if err != nil {
		return 0, invalid("%s is %q, which is not a decimal number within the limits", v.path, text)
	}
	return n, nil
}

// optional returns the number of a key, or another if there is none.
func (v value) optional(key string, otherwise fixed.Number) (fixed.Number, error) {
	child, ok := v.get(key)
	if !ok {
		return otherwise, nil
	}
	return child.number()
}

// class returns the last part of the type: NegMAS writes "type" or "__python_class__", with or without the
// module.
func (v value) class() string {
	for _, key := range []string{"type", "__python_class__"} {
		if class, ok := v.get(key); ok {
			return class.Value[strings.LastIndex(class.Value, ".")+1:]
		}
	}
	return ""
}

// ReadNegmasDomain reads a NegMAS outcome space in YAML or JSON.
func ReadNegmasDomain(data []byte, options Options) (*bargain.Domain, error) {
	root, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	list, ok := root.get("issues")
	if !ok {
		return nil, invalid("the domain has no issues")
	}
	elements, err := list.list()
	if err != nil {
		return nil, err
	}
	var issues []bargain.Issue
	for _, element := range elements {
		issue, err := element.issue(options)
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

func (v value) issue(options Options) (issue bargain.Issue, err error) {
	nameValue, ok := v.get("name")
	values, hasValues := v.get("values")
	if !ok || !hasValues {
		return issue, invalid("%s has no name or no values", v.path)
	}
	name := nameValue.Value
	if values.Kind == yaml.ScalarNode { // n stands for 0 to n-1
		n, err := values.integer()
		return bargain.Integer(name, 0, n-1), err
	}
	list, err := values.list()
	if err != nil {
		return issue, err
	}
	class := v.class()
	switch class {
	case "CategoricalIssue", "",
		"OrdinalIssue", "DiscreteOrdinalIssue", "CardinalIssue", "DiscreteCardinalIssue":
		var names []string
		for _, element := range list {
			text, err := element.text()
			if err != nil {
				return issue, err
			}
			names = append(names, text)
		}
		if class == "CategoricalIssue" || class == "" {
			return bargain.Categorical(name, names...), nil
		}
		return bargain.Ordered(name, names...), nil
	case "ContiguousIssue", "ContinuousIssue":
		if len(list) != 2 {
			return issue, invalid("%s has %d values; a range has two", v.path, len(list))
		}
		if class == "ContiguousIssue" {
			low, err := list[0].integer()
			if err != nil {
				return issue, err
			}
			high, err := list[1].integer()
			return bargain.Integer(name, low, high), err
		}
		low, err := list[0].number()
		if err != nil {
			return issue, err
		}
		high, err := list[1].number()
		if err != nil {
			return issue, err
		}
		return options.real(name, low, high)
	}
	return issue, invalid("%s has the unknown type %q", v.path, class)
}

func (v value) integer() (int64, error) {
	text, err := v.text()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, invalid("%s is %q, which is not an integer", v.path, text)
	}
	return n, nil
}

// ReadNegmasProfile reads a NegMAS utility function in YAML or JSON as preferences over a domain. Without a
// reservation value, or with minus infinity, it is the lowest possible one.
func ReadNegmasProfile(domain *bargain.Domain, data []byte) (*bargain.Preferences, error) {
	root, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	reservation, err := root.optional("reserved_value", -bargain.MaxUtility)
	if err != nil {
		return nil, err
	}
	var discount bargain.Discount
	if root, discount, err = root.discount(); err != nil {
		return nil, err
	}
	u, err := root.utility(domain)
	if err != nil {
		return nil, err
	}
	p, err := bargain.NewDiscounted(domain, u, reservation, discount)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return p, nil
}

// discount returns the utility inside a discounted one, and the discount.
func (v value) discount() (inner value, d bargain.Discount, err error) {
	class := v.class()
	if class != "ExpDiscountedUFun" && class != "LinDiscountedUFun" {
		return v, d, nil
	}
	inner, ok := v.get("ufun")
	if !ok {
		return v, d, invalid("%s has no ufun", v.path)
	}
	key := "discount"
	if class == "LinDiscountedUFun" {
		key = "cost"
		if power, err := v.optional("power", fixed.One); err != nil || power != fixed.One {
			return v, d, invalid("%s has a power other than 1", v.path)
		}
	}
	amount, err := v.optional(key, 0)
	if err != nil {
		return v, d, err
	}
	d.Factor, d.PerStep = amount, true
	if key == "cost" {
		d.Factor, d.Cost = 0, amount
	}
	if factor, ok := v.get("factor"); ok {
		switch factor.Value {
		case "step":
		case "relative_time":
			d.PerStep = false
		default:
			return v, d, invalid("%s is %q; the engine knows step and relative_time",
				factor.path, factor.Value)
		}
	}
	if dynamic, ok := v.get("dynamic_reservation"); ok {
		d.KeepReservation = dynamic.Value == "false"
	}
	return inner, d, nil
}

func (v value) utility(domain *bargain.Domain) (bargain.Utility, error) {
	switch class := v.class(); class {
	case "LinearAdditiveUtilityFunction", "LinearUtilityAggregationFunction":
		return v.additive(domain)
	case "HyperRectangleUtilityFunction":
		return v.rectangles(domain)
	default:
		return nil, invalid("%s has the unknown type %q", v.path, class)
	}
}

// perIssue returns the elements of a list, or of a mapping by the issues' names, in the domain's order.
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

func (v value) additive(domain *bargain.Domain) (bargain.Utility, error) {
	functions, ok := v.get("values")
	if !ok {
		return nil, invalid("%s has no values", v.path)
	}
	list, err := functions.perIssue(domain)
	if err != nil {
		return nil, err
	}
	var values []utility.Values
	for at, function := range list {
		part, err := function.function(domain.Issue(at))
		if err != nil {
			return nil, err
		}
		values = append(values, part)
	}
	var weights []fixed.Number
	if given, ok := v.get("weights"); ok {
		if list, err = given.perIssue(domain); err != nil {
			return nil, err
		}
		for _, weight := range list {
			n, err := weight.number()
			if err != nil {
				return nil, err
			}
			weights = append(weights, n)
		}
	}
	bias, err := v.optional("bias", 0)
	if err != nil {
		return nil, err
	}
	u, err := utility.NewAdditive(domain, bias, weights, values...)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return u, nil
}

// function returns the values of a value function.
func (v value) function(issue *bargain.Issue) (utility.Values, error) {
	slope, bias := fixed.One, fixed.Number(0)
	var err error
	switch class := v.class(); class {
	case "TableFun":
		return v.table(issue)
	case "IdentityFun":
	case "ConstFun":
		slope = 0
		bias, err = v.optional("bias", 0)
		if err == nil && !issue.IsNumeric() {
			table := make(utility.Table, issue.Count)
			for index := range table {
				table[index] = bias
			}
			return table, nil
		}
	case "AffineFun", "LinearFun":
		if bias, err = v.optional("bias", 0); err == nil {
			slope, err = v.optional("slope", fixed.One)
		}
	default:
		return nil, invalid("%s has the unknown type %q", v.path, class)
	}
	if err != nil {
		return nil, err
	}
	return tabulate(issue, func(x fixed.Number) fixed.Number { return slope.Mul(x).Add(bias) })
}

func (v value) table(issue *bargain.Issue) (utility.Values, error) {
	mapping, ok := v.get("mapping")
	if !ok || mapping.Kind != yaml.MappingNode {
		return nil, invalid("%s has no mapping", v.path)
	}
	found := map[string]value{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := mapping.Content[i].Value
		found[key] = value{mapping.Content[i+1], mapping.path + "." + key}
	}
	if issue.Count > uint64(len(found)) {
		return nil, invalid("%s has %d values of %d", mapping.path, len(found), issue.Count)
	}
	table := make(utility.Table, issue.Count)
	for index := range table {
		entry, ok := found[issue.Text(uint64(index))]
		if !ok {
			return nil, invalid("%s has no value of %q", mapping.path, issue.Text(uint64(index)))
		}
		var err error
		if table[index], err = entry.number(); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// rectangles returns a sum of constants over ranges: outcome_ranges has a mapping from an issue's name or
// number to a list of its lowest and highest value.
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
	if len(boxes) != len(amounts) || weights != nil && len(weights) != len(boxes) {
		return nil, invalid("%s has %d ranges, %d utilities and %d weights",
			v.path, len(boxes), len(amounts), len(weights))
	}
	list := make([]utility.Rectangle, len(boxes))
	for i, box := range boxes {
		if list[i].Value, err = amounts[i].number(); err != nil {
			return nil, err
		}
		if weights != nil {
			weight, err := weights[i].number()
			if err != nil {
				return nil, err
			}
			list[i].Value = list[i].Value.Mul(weight)
		}
		for at := range domain.Len() {
			r, found, err := box.rangeOf(domain.Issue(at), at)
			if err != nil {
				return nil, err
			}
			if found {
				list[i].Ranges = append(list[i].Ranges, r)
			}
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

// rangeOf returns the range of an issue's integers in a box; false if the box does not limit it.
func (v value) rangeOf(issue *bargain.Issue, at int) (r utility.Range, found bool, err error) {
	entry, found := v.get(issue.Name)
	if !found {
		if entry, found = v.get(strconv.Itoa(at)); !found {
			return r, false, nil
		}
	}
	list, err := entry.list()
	if err != nil {
		return r, false, err
	}
	if len(list) != 2 || issue.Kind != bargain.KindInteger {
		return r, false, invalid("%s is not a range of the integers of issue %q", entry.path, issue.Name)
	}
	low, err := list[0].integer()
	if err != nil {
		return r, false, err
	}
	high, err := list[1].integer()
	if err != nil {
		return r, false, err
	}
	if low < issue.Int(0) || high < low {
		return r, false, invalid("%s is not a range of the integers of issue %q", entry.path, issue.Name)
	}
	first := uint64(low) - issue.First
	return utility.Range{Issue: at, First: first, Last: first + (uint64(high) - uint64(low))}, true, nil
}
