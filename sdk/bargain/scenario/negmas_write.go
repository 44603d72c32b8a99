package scenario

import (
	"bytes"
	"encoding/json"

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

// decimal is a number that is written with all its decimals.
type decimal fixed.Number

// MarshalYAML implements yaml.Marshaler.
func (d decimal) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: fixed.Number(d).String()}, nil
}

// MarshalJSON implements json.Marshaler.
func (d decimal) MarshalJSON() ([]byte, error) { return []byte(fixed.Number(d).String()), nil }

type negmasDomain struct {
	Type   string        `json:"type" yaml:"type"`
	Name   string        `json:"name" yaml:"name"`
	Issues []negmasIssue `json:"issues" yaml:"issues"`
}

type negmasIssue struct {
	Type   string `json:"type" yaml:"type"`
	Name   string `json:"name" yaml:"name"`
	Values []any  `json:"values" yaml:"values,flow"`
}

// WriteNegmasDomain writes a domain as a NegMAS outcome space. A real issue loses its number of values, and a
// price whose tick is not 1 is an error.
func WriteNegmasDomain(name string, domain *bargain.Domain, format Format) ([]byte, error) {
	document := negmasDomain{Type: "negmas.outcomes.outcome_space.CartesianOutcomeSpace", Name: name}
	for at := range domain.Len() {
		issue := domain.Issue(at)
		out := negmasIssue{Name: issue.Name}
		switch {
		case issue.Kind == bargain.KindReal:
			out.Type = "negmas.outcomes.continuous_issue.ContinuousIssue"
			out.Values = []any{decimal(issue.Number(0)), decimal(issue.Number(issue.Count - 1))}
		case issue.IsNumeric() && issue.Tick == 1:
			out.Type = "negmas.outcomes.contiguous_issue.ContiguousIssue"
			out.Values = []any{json.Number(issue.Text(0)), json.Number(issue.Text(issue.Count - 1))}
			if format == YAML {
				out.Values = []any{issue.Int(0), issue.Int(issue.Count - 1)}
			}
		case issue.IsNumeric():
			return nil, invalid("issue %q: NegMAS does not know the tick %d", issue.Name, issue.Tick)
		default:
			out.Type = "negmas.outcomes.categorical_issue.CategoricalIssue"
			if issue.Kind == bargain.KindOrdered {
				out.Type = "negmas.outcomes.ordinal_issue.OrdinalIssue"
			}
			for _, value := range issue.Names {
				out.Values = append(out.Values, value)
			}
		}
		document.Issues = append(document.Issues, out)
	}
	return encode(document, format)
}

type negmasProfile struct {
	Type      string           `json:"type" yaml:"type"`
	Name      string           `json:"name,omitempty" yaml:"name,omitempty"`
	Discount  *decimal         `json:"discount,omitempty" yaml:"discount,omitempty"`
	Cost      *decimal         `json:"cost,omitempty" yaml:"cost,omitempty"`
	Factor    string           `json:"factor,omitempty" yaml:"factor,omitempty"`
	Dynamic   *bool            `json:"dynamic_reservation,omitempty" yaml:"dynamic_reservation,omitempty"`
	Values    []negmasFunction `json:"values,omitempty" yaml:"values,omitempty"`
	Weights   []decimal        `json:"weights,omitempty" yaml:"weights,omitempty,flow"`
	Bias      *decimal         `json:"bias,omitempty" yaml:"bias,omitempty"`
	UFun      *negmasProfile   `json:"ufun,omitempty" yaml:"ufun,omitempty"`
	Reserved  *decimal         `json:"reserved_value,omitempty" yaml:"reserved_value,omitempty"`
	Rectangle []map[string]any `json:"outcome_ranges,omitempty" yaml:"outcome_ranges,omitempty"`
	Utilities []decimal        `json:"utilities,omitempty" yaml:"utilities,omitempty,flow"`
}

type negmasFunction struct {
	Type    string   `json:"type" yaml:"type"`
	Mapping *mapping `json:"mapping,omitempty" yaml:"mapping,omitempty"`
	Slope   *decimal `json:"slope,omitempty" yaml:"slope,omitempty"`
	Bias    *decimal `json:"bias,omitempty" yaml:"bias,omitempty"`
}

// mapping is a table of an issue's values, in their order.
type mapping struct {
	issue  *bargain.Issue
	values utility.Values
}

// MarshalYAML implements yaml.Marshaler. The keys of integers are integers.
func (m *mapping) MarshalYAML() (any, error) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	tag := "!!str"
	if m.issue.IsNumeric() {
		tag = "!!int"
	}
	for index := range m.issue.Count {
		key, number := new(yaml.Node), new(yaml.Node)
		key.SetString(m.issue.Text(index))
		key.Tag = tag
		if err := number.Encode(decimal(m.values.Of(index))); err != nil {
			return nil, err
		}
		node.Content = append(node.Content, key, number)
	}
	return node, nil
}

// MarshalJSON implements json.Marshaler.
func (m *mapping) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for index := range m.issue.Count {
		if index > 0 {
			text = append(text, ',')
		}
		key, err := json.Marshal(m.issue.Text(index))
		if err != nil {
			return nil, err
		}
		text = append(append(text, key...), ':')
		text = append(text, m.values.Of(index).String()...)
	}
	return append(text, '}'), nil
}

// WriteNegmasProfile writes preferences as a NegMAS utility function. It can write additive and
// hyper-rectangle utilities, and a discount factor or a cost, not both.
func WriteNegmasProfile(name string, p *bargain.Preferences, format Format) ([]byte, error) {
	document, err := negmasUtility(p)
	if err != nil {
		return nil, err
	}
	discount := p.Discount()
	factor, cost := decimal(discount.Factor), decimal(discount.Cost)
	const discounted = "negmas.preferences.discounted."
	outer := document
	switch {
	case factor != 0 && cost != 0:
		return nil, invalid("NegMAS knows no discount with both a factor and a cost")
	case factor != 0:
		outer = &negmasProfile{Type: discounted + "ExpDiscountedUFun", Discount: &factor, UFun: document}
	case cost != 0:
		outer = &negmasProfile{Type: discounted + "LinDiscountedUFun", Cost: &cost, UFun: document}
	}
	if outer != document {
		dynamic := !discount.KeepReservation
		outer.Dynamic, outer.Factor = &dynamic, "step"
		if !discount.PerStep {
			outer.Factor = "relative_time"
		}
	}
	outer.Name = name
	reserved := decimal(p.Reservation())
	outer.Reserved = &reserved
	return encode(outer, format)
}

func negmasUtility(p *bargain.Preferences) (*negmasProfile, error) {
	if h, ok := p.Utility().(*utility.HyperRectangle); ok {
		return negmasRectangles(p.Domain(), h), nil
	}
	u, err := additive(p, "this writer of NegMAS' format")
	if err != nil {
		return nil, err
	}
	bias := decimal(u.Constant())
	document := &negmasProfile{
		Type: "negmas.preferences.crisp.linear.LinearAdditiveUtilityFunction", Bias: &bias,
	}
	for at := range p.Domain().Len() {
		function, err := negmasValues(p.Domain().Issue(at), u.Values(at))
		if err != nil {
			return nil, err
		}
		document.Values = append(document.Values, function)
		document.Weights = append(document.Weights, decimal(fixed.One))
	}
	return document, nil
}

func negmasValues(issue *bargain.Issue, values utility.Values) (negmasFunction, error) {
	if issue.Count <= maxTable && issue.Kind != bargain.KindReal {
		table := &mapping{issue: issue, values: values}
		return negmasFunction{Type: "negmas.preferences.value_fun.TableFun", Mapping: table}, nil
	}
	low, _ := number(issue, 0)
	high, ok := number(issue, issue.Count-1)
	first, last := values.Of(0), values.Of(issue.Count-1)
	slope := (last - first).Div(max(high.Sub(low), 1))
	for index := range min(issue.Count, maxTable) {
		x, _ := number(issue, index)
		gap := values.Of(index) - first - slope.Mul(x.Sub(low))
		if !ok || gap > maxGap || gap < -maxGap {
			return negmasFunction{}, invalid("issue %q: neither a table nor a straight line", issue.Name)
		}
	}
	affine, bias := decimal(slope), decimal(first.Sub(slope.Mul(low)))
	return negmasFunction{Type: "negmas.preferences.value_fun.AffineFun", Slope: &affine, Bias: &bias}, nil
}

func negmasRectangles(domain *bargain.Domain, h *utility.HyperRectangle) *negmasProfile {
	bias := decimal(h.Constant())
	document := &negmasProfile{
		Type: "negmas.preferences.crisp.nonlinear.HyperRectangleUtilityFunction", Bias: &bias,
	}
	for _, rectangle := range h.Rectangles() {
		box := map[string]any{}
		for _, r := range rectangle.Ranges {
			issue := domain.Issue(r.Issue)
			box[issue.Name] = []int64{issue.Int(r.First), issue.Int(r.Last)}
		}
		document.Rectangle = append(document.Rectangle, box)
		document.Utilities = append(document.Utilities, decimal(rectangle.Value))
	}
	return document
}

func encode(document any, format Format) ([]byte, error) {
	buffer := new(bytes.Buffer)
	if format == JSON {
		encoder := json.NewEncoder(buffer)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(document)
		return buffer.Bytes(), err
	}
	encoder := yaml.NewEncoder(buffer)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	return buffer.Bytes(), encoder.Close()
}
