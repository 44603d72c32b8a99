package scenario

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// value is a node in a YAML or JSON document (JSON is YAML). Scalars keep their text, to avoid converting
// numbers to floats.
type value struct {
	*yaml.Node
	path string
}

// pair matches two escapes that encode a single character beyond 16 bits, as in Python's JSON.
var pair = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

func parseYAML(data []byte) (value, error) {
	var document yaml.Node
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		data = pair.ReplaceAllFunc(data, func(escapes []byte) []byte {
			var char string
			if json.Unmarshal([]byte(`"`+string(escapes)+`"`), &char) == nil {
				return []byte(char)
			}
			return escapes
		})
	}
	if err := yaml.Unmarshal(data, &document); err != nil {
		return value{}, invalid("YAML: %v", err)
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return value{}, invalid("YAML: the document is empty")
	}
	return value{document.Content[0], "document"}, nil
}

// get returns the value at key, and false for missing keys and null. Among duplicates the last key counts, as
// in Python.
func (v value) get(key string) (value, bool) {
	if v.Node == nil || v.Kind != yaml.MappingNode {
		return value{}, false
	}
	for i := len(v.Content) - 2; i >= 0; i -= 2 {
		if v.Content[i].Value == key && v.Content[i].Kind == yaml.ScalarNode {
			child := value{v.Content[i+1], v.path + "." + key}
			return child, child.Tag != "!!null"
		}
	}
	return value{}, false
}

// list reads a sequence's elements.
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

// optional reads a key's number, or returns otherwise if the key is missing.
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

// isNegmasDomain reports whether data is a NegMAS outcome space. If data is a utility function, it returns
// false; if neither, an error.
func isNegmasDomain(data []byte) (bool, error) {
	root, err := parseYAML(data)
	if err != nil {
		return false, err
	}
	class := root.class()
	if strings.HasSuffix(class, "Function") || strings.HasSuffix(class, "UFun") {
		return false, nil
	}
	if _, hasIssues := root.get("issues"); hasIssues || strings.HasSuffix(class, "OutcomeSpace") {
		return true, nil
	}
	return false, invalid("the document is neither an outcome space nor a utility function")
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
	name, class := nameValue.Value, v.class()
	var texts []string
	if values.Kind == yaml.ScalarNode && (class == "ContiguousIssue" || class == "") { // n stands for 0 to n-1
		n, err := strconv.ParseInt(values.Value, 10, 64)
		if err != nil || n < 1 {
			return issue, invalid("%s is %q, which is not a number of values", values.path, values.Value)
		}
		texts, class = []string{"0", strconv.FormatInt(n-1, 10)}, "ContiguousIssue"
	} else {
		list, err := values.list()
		if err != nil {
			return issue, err
		}
		for _, element := range list {
			text, err := element.text()
			if err != nil {
				return issue, err
			}
			texts = append(texts, text)
		}
	}
	switch class {
	case "CategoricalIssue", "":
		return bargain.Categorical(name, texts...), nil
	case "OrdinalIssue", "DiscreteOrdinalIssue", "CardinalIssue", "DiscreteCardinalIssue":
		return bargain.Ordered(name, texts...), nil
	case "ContiguousIssue":
		step := "1"
		if given, ok := v.get("step"); ok {
			step = given.Value
		}
		if len(texts) == 3 {
			texts, step = texts[:2], texts[2]
		}
		if len(texts) != 2 {
			return issue, invalid("%s has %d values; a range has two, and a step", v.path, len(texts))
		}
		return integers(name, texts[0], texts[1], step)
	case "ContinuousIssue":
		return v.realIssue(name, values, options)
	}
	return issue, invalid("%s has the unknown type %q", v.path, class)
}

// realIssue returns the issue for an interval of real numbers. NegMAS' n_levels counts steps.
func (v value) realIssue(name string, values value, options Options) (issue bargain.Issue, err error) {
	list, err := values.list()
	if err != nil {
		return issue, err
	}
	if len(list) != 2 {
		return issue, invalid("%s has %d values; a range has two", v.path, len(list))
	}
	low, err := list[0].number()
	if err != nil {
		return issue, err
	}
	high, err := list[1].number()
	if err != nil {
		return issue, err
	}
	levels := int64(0)
	if given, ok := v.get("n_levels"); ok {
		steps, err := strconv.ParseInt(given.Value, 10, 64)
		if err != nil || steps < 1 || steps > 1<<62 {
			return issue, invalid("%s is %q, which is not a number of steps", given.path, given.Value)
		}
		levels = steps + 1
	}
	return options.real(name, low, high, levels)
}

// ReadNegmasProfile reads a NegMAS utility function in YAML or JSON as preferences over a domain. If the
// reservation value is missing or minus infinity, the lowest possible value is used. A discounted utility
// function defaults to the inner function's reservation value.
func ReadNegmasProfile(domain *bargain.Domain, data []byte) (*bargain.Preferences, error) {
	outer, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	inner, discount, err := outer.discount()
	if err != nil {
		return nil, err
	}
	reservation, err := inner.optional("reserved_value", -bargain.MaxUtility)
	if err == nil {
		reservation, err = outer.optional("reserved_value", reservation)
	}
	if err != nil {
		return nil, err
	}
	u, err := inner.utility(domain)
	if err != nil {
		return nil, err
	}
	p, err := bargain.NewDiscounted(domain, u, reservation, discount)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return p, nil
}

// discount splits a discounted utility into inner utility and discount.
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
