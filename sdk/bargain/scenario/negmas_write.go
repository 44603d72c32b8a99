package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// Format is a notation of NegMAS' documents.
type Format uint8

// The formats.
const (
	YAML Format = iota
	JSON
)

// WriteNegmasDomain writes a domain as a NegMAS outcome space.
func WriteNegmasDomain(name string, domain *bargain.Domain, format Format) ([]byte, error) {
	var issues []*yaml.Node
	for at := range domain.Len() {
		issue := domain.Issue(at)
		class, values := "categorical_issue.CategoricalIssue", []*yaml.Node(nil)
		var more []any
		switch issue.Kind {
		case bargain.KindReal:
			class = "continuous_issue.ContinuousIssue"
			if issue.Count < 2 {
				return nil, invalid("issue %q has one number; a real issue of NegMAS has a range", issue.Name)
			}
			values = append(values, numberNode(issue.Number(0)), numberNode(issue.Number(issue.Count-1)))
			more = append(more, "n_levels", integerNode(strconv.FormatUint(issue.Count-1, 10)))
		case bargain.KindPrice, bargain.KindInteger:
			class = "contiguous_issue.ContiguousIssue"
			values = append(values, integerNode(issue.Text(0)), integerNode(issue.Text(issue.Count-1)))
			if issue.Tick != 1 {
				values = append(values, integerNode(strconv.FormatUint(issue.Tick, 10)))
			}
		case bargain.KindOrdered:
			class = "ordinal_issue.DiscreteOrdinalIssue"
		}
		for _, value := range issue.Names {
			values = append(values, textNode(value))
		}
		pairs := append([]any{"type", "negmas.outcomes." + class, "name", textNode(issue.Name),
			"values", listNode(yaml.FlowStyle, values...)}, more...)
		issues = append(issues, mapNode(pairs...))
	}
	return encode(mapNode("type", "negmas.outcomes.outcome_space.CartesianOutcomeSpace", "name", textNode(name),
		"issues", listNode(0, issues...)), format)
}

// WriteNegmasProfile writes preferences as a NegMAS utility function. NegMAS and this package's reader compute
// the same utilities from it. It can write additive utilities, tables with at most 65,536 outcomes and
// hyper-rectangles. Outcome tables, and real numbers' values on no straight line, become hyper-rectangles:
// NegMAS cannot read its own MappingUtilityFunction from a file. If an issue counts more than 65,536 values,
// they must be linear. A discount must be a factor or a cost, not both.
//
// JSON allows only string keys, but NegMAS needs integer keys for hyper-rectangles and integer tables: in JSON,
// these are errors, unless the integers' values are linear.
func WriteNegmasProfile(name string, p *bargain.Preferences, format Format) ([]byte, error) {
	class, pairs, err := negmasUtility(p, format)
	if err != nil {
		return nil, err
	}
	pairs = append(pairs, "reserved_value", numberNode(p.Reservation()))
	head := func(class string) []any {
		return []any{"type", "negmas.preferences." + class, "name", textNode(name)}
	}
	discount := p.Discount()
	factor, cost := discount.Factor, discount.Cost
	if cost != 0 && factor == fixed.One {
		factor = 0 // no factor
	}
	switch {
	case factor != 0 && cost != 0:
		return nil, invalid("NegMAS knows no discount with both a factor and a cost")
	case factor == 0 && cost == 0:
		return encode(mapNode(append(head(class), pairs...)...), format)
	}
	outer := append(head("discounted.ExpDiscountedUFun"), "discount", numberNode(factor))
	if cost != 0 {
		outer = append(head("discounted.LinDiscountedUFun"), "cost", numberNode(cost))
	}
	unit := "relative_time"
	if discount.PerStep {
		unit = "step"
	}
	outer = append(outer, "factor", unit, "dynamic_reservation", boolNode(!discount.KeepReservation))
	// If it lacked a reservation value, the inner function would value no agreement at minus infinity.
	outer = append(outer, "ufun", mapNode(append([]any{"type", "negmas.preferences." + class}, pairs...)...),
		"reserved_value", numberNode(p.Reservation()))
	return encode(mapNode(outer...), format)
}

// negmasUtility converts an undiscounted utility to class and fields.
func negmasUtility(p *bargain.Preferences, format Format) (class string, pairs []any, err error) {
	domain := p.Domain()
	if constant, values, ok := additiveOf(p); ok && (format == JSON || !hasBentReal(domain, values)) {
		var functions, weights []*yaml.Node
		for at, part := range values {
			function, err := negmasFunction(domain.Issue(at), part, format)
			if err != nil {
				return "", nil, err
			}
			functions, weights = append(functions, function), append(weights, numberNode(fixed.One))
		}
		return "crisp.linear.LinearAdditiveUtilityFunction", []any{"values", listNode(0, functions...),
			"weights", listNode(yaml.FlowStyle, weights...), "bias", numberNode(constant)}, nil
	}
	constant, rectangles, err := rectanglesOf(p)
	if err != nil {
		return "", nil, err
	}
	var boxes, amounts []*yaml.Node
	for _, rectangle := range rectangles {
		var box []any
		for _, r := range rectangle.Ranges {
			if format == JSON {
				return "", nil, invalid("NegMAS reads no hyper-rectangles from JSON, whose keys are text: use YAML")
			}
			values, err := boxOf(domain.Issue(r.Issue), r)
			if err != nil {
				return "", nil, err
			}
			box = append(box, integerNode(strconv.Itoa(r.Issue)), values)
		}
		boxes, amounts = append(boxes, mapNode(box...)), append(amounts, numberNode(rectangle.Value))
	}
	return "crisp.nonlinear.HyperRectangleUtilityFunction", []any{"outcome_ranges", listNode(0, boxes...),
		"utilities", listNode(yaml.FlowStyle, amounts...), "bias", numberNode(constant)}, nil
}

// isSteep reports whether a line exceeds the utility limits at 0; NegMAS' floats would then lose decimals.
func isSteep(bias *big.Rat) bool {
	n := rounded(bias)
	return n > bargain.MaxUtility || n < -bargain.MaxUtility
}

// hasBentReal reports whether any real issue's values lie on no straight line, or on a line that is too
// steep. NegMAS lacks value functions for these, but supports hyper-rectangles.
func hasBentReal(domain *bargain.Domain, values []utility.Values) bool {
	for at, part := range values {
		if issue := domain.Issue(at); issue.Kind == bargain.KindReal && issue.Count <= maxTable {
			if _, bias, ok := straight(issue, part); !ok || isSteep(bias) {
				return true
			}
		}
	}
	return false
}

// negmasFunction converts an issue's value function.
func negmasFunction(issue *bargain.Issue, values utility.Values, format Format) (*yaml.Node, error) {
	isReal, isLong := issue.Kind == bargain.KindReal, issue.Count > maxTable
	isText := format == JSON && issue.IsNumeric()
	if !isReal && !isLong && !isText {
		var pairs []any
		for index := range issue.Count {
			key := integerNode(issue.Text(index))
			if !issue.IsNumeric() {
				key = textNode(issue.Names[index])
			}
			pairs = append(pairs, key, numberNode(values.Of(index)))
		}
		return mapNode("type", "negmas.preferences.value_fun.TableFun", "mapping", mapNode(pairs...)), nil
	}
	slope, bias, ok := new(big.Rat), new(big.Rat), false
	if issue.IsNumeric() {
		slope, bias, ok = straight(issue, values)
	}
	switch {
	case !ok && isLong:
		return nil, invalid("issue %q has %d values, which are no straight line; the limit of a table is %d",
			issue.Name, issue.Count, maxTable)
	case !ok:
		return nil, invalid("issue %q has no straight line of values, and NegMAS reads no table of numbers "+
			"from JSON, whose keys are text: use YAML", issue.Name)
	case isSteep(bias):
		return nil, invalid("issue %q has numbers that are too large for a straight line in NegMAS' floats",
			issue.Name)
	}
	return mapNode("type", "negmas.preferences.value_fun.AffineFun", "slope", decimalNode(slope),
		"bias", decimalNode(bias)), nil
}

func scalar(tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}

func integerNode(text string) *yaml.Node { return scalar("!!int", text) }

func numberNode(n fixed.Number) *yaml.Node { return scalar("!!float", n.String()) }

func decimalNode(r *big.Rat) *yaml.Node { return scalar("!!float", decimals(r, many)) }

func boolNode(b bool) *yaml.Node { return scalar("!!bool", strconv.FormatBool(b)) }

// plain matches texts that need no quotation marks, except words.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// words lists truth values and null in YAML 1.1, as read by NegMAS.
var words = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}

// textNode makes a node that all YAML versions read as a string.
func textNode(text string) *yaml.Node {
	node := scalar("!!str", text)
	if !plain.MatchString(text) || slices.Contains(words, strings.ToLower(text)) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

func listNode(style yaml.Style, nodes ...*yaml.Node) *yaml.Node {
	if len(nodes) == 0 {
		style = yaml.FlowStyle
	}
	return &yaml.Node{Kind: yaml.SequenceNode, Style: style, Content: nodes}
}

// mapNode makes a mapping from alternating keys and values, given as nodes or strings.
func mapNode(pairs ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode}
	if len(pairs) == 0 {
		node.Style = yaml.FlowStyle
	}
	for _, part := range pairs {
		switch part := part.(type) {
		case string:
			node.Content = append(node.Content, scalar("!!str", part))
		case *yaml.Node:
			node.Content = append(node.Content, part)
		}
	}
	return node
}

func encode(document *yaml.Node, format Format) ([]byte, error) {
	if text, ok := invalidText(document); ok {
		return nil, invalid("the text %q is not UTF-8", text)
	}
	buffer := new(bytes.Buffer)
	if format == JSON {
		if err := appendJSON(buffer, document); err != nil {
			return nil, err
		}
		indented := new(bytes.Buffer)
		err := json.Indent(indented, buffer.Bytes(), "", "  ")
		indented.WriteByte('\n')
		return indented.Bytes(), err
	}
	encoder := yaml.NewEncoder(buffer)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	return buffer.Bytes(), encoder.Close()
}

// invalidText finds text within the node that is not UTF-8.
func invalidText(node *yaml.Node) (string, bool) {
	if !utf8.ValidString(node.Value) {
		return node.Value, true
	}
	for _, child := range node.Content {
		if text, ok := invalidText(child); ok {
			return text, true
		}
	}
	return "", false
}

// appendJSON writes a node as JSON. Numbers keep all their digits.
func appendJSON(buffer *bytes.Buffer, node *yaml.Node) error {
	switch {
	case node.Kind == yaml.ScalarNode && node.Tag != "!!str":
		buffer.WriteString(node.Value)
		return nil
	case node.Kind == yaml.ScalarNode:
		text, err := json.Marshal(node.Value)
		for _, char := range string(text) {
			if unicode.IsControl(char) || char == 0xFEFF { // YAML only reads these escaped
				fmt.Fprintf(buffer, `\u%04x`, char)
				continue
			}
			buffer.WriteRune(char)
		}
		return err
	}
	ends := "[]"
	if node.Kind == yaml.MappingNode {
		ends = "{}"
	}
	buffer.WriteByte(ends[0])
	for i, child := range node.Content {
		switch {
		case node.Kind == yaml.MappingNode && i%2 == 1:
			buffer.WriteByte(':')
		case i > 0:
			buffer.WriteByte(',')
		}
		if err := appendJSON(buffer, child); err != nil {
			return err
		}
	}
	buffer.WriteByte(ends[1])
	return nil
}
