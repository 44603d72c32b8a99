package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// rules are an API's rules for the schemas of structured outputs.
type rules struct {
	// keywords lists supported keywords, and formats the supported string formats.
	keywords, formats []string
	// allRequired demands that objects require all their properties.
	allRequired bool
	// recursive permits schemas that refer to themselves.
	recursive bool
	// smallMinItems permits only 0 and 1 as the least number of items.
	smallMinItems bool
}

const (
	// maxDepth and maxProperties are OpenAI's limits.
	maxDepth      = 10
	maxProperties = 5000
	// maxNodes bounds the work for one schema, whose references are expanded.
	maxNodes = 20000
)

var (
	commonKeywords = strings.Fields(`$defs $ref additionalProperties anyOf const definitions description enum format
		items minItems pattern properties required title type`)
	commonFormats = strings.Fields(`date-time time date duration email hostname ipv4 ipv6 uuid`)

	openAIRules = rules{
		keywords: append(strings.Fields(`exclusiveMaximum exclusiveMinimum maxItems maximum minimum multipleOf`),
			commonKeywords...),
		formats: commonFormats, allRequired: true, recursive: true,
	}
	anthropicRules = rules{
		keywords: append(strings.Fields(`allOf default`), commonKeywords...),
		formats:  append([]string{"uri"}, commonFormats...), smallMinItems: true,
	}
)

// check returns a schema's first broken rule.
func (r rules) check(schema json.RawMessage) error {
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		return errors.New("schema is missing or not JSON")
	}
	fields, isObject := root.(map[string]any)
	if !isObject || fields["type"] != "object" {
		return errors.New("schema must be a JSON Schema of 'type: \"object\"'")
	}
	c := check{rules: r, root: root}
	if err := c.node(root, 1, nil); err != nil {
		return err
	}
	for _, name := range []string{"$defs", "definitions"} {
		definitions, _ := fields[name].(map[string]any)
		for _, definition := range definitions {
			if err := c.node(definition, 1, nil); err != nil {
				return err
			}
		}
	}
	if c.properties > maxProperties {
		return fmt.Errorf("schema has more than %d properties", maxProperties)
	}
	return nil
}

type check struct {
	rules
	root              any
	properties, nodes int
}

func (c *check) node(node any, depth int, references []string) error {
	fields, isObject := node.(map[string]any)
	if c.nodes++; !isObject || c.nodes > maxNodes {
		return errors.New("schema must consist of objects, and not be too complex")
	}
	if depth > maxDepth {
		return fmt.Errorf("schema has more than %d levels of nesting", maxDepth)
	}
	for name := range fields {
		if !slices.Contains(c.keywords, name) {
			return fmt.Errorf("keyword '%s' is not permitted", name)
		}
	}
	if reference, isReference := fields["$ref"].(string); isReference {
		return c.reference(reference, references, depth)
	}
	if err := c.simple(fields); err != nil {
		return err
	}
	if err := c.object(fields, depth, references); err != nil {
		return err
	}
	for _, name := range []string{"anyOf", "allOf"} {
		variants, _ := fields[name].([]any)
		for _, variant := range variants {
			if err := c.node(variant, depth, references); err != nil {
				return err
			}
		}
	}
	if items, has := fields["items"]; has {
		return c.node(items, depth+1, references)
	}
	return nil
}

// reference checks that a reference can be resolved and, where recursion is forbidden, follows it.
func (c *check) reference(reference string, references []string, depth int) error {
	target := resolve(c.root, reference)
	if target == nil {
		return fmt.Errorf("reference '%s' cannot be resolved", reference)
	}
	if c.recursive {
		return nil
	}
	if slices.Contains(references, reference) || reference == "#" {
		return errors.New("recursive schemas are not supported")
	}
	return c.node(target, depth, append(slices.Clone(references), reference))
}

// resolve returns the node named by a reference within the schema, or nil.
func resolve(root any, reference string) any {
	path, isLocal := strings.CutPrefix(reference, "#")
	if !isLocal {
		return nil
	}
	node := root
	for _, name := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		if name == "" {
			continue
		}
		fields, _ := node.(map[string]any)
		node = fields[name]
	}
	return node
}

// simple checks the type and the restrictions of values that are no objects.
func (c *check) simple(fields map[string]any) error {
	typed := slices.ContainsFunc([]string{"type", "anyOf", "allOf", "enum", "const"}, func(name string) bool {
		return fields[name] != nil
	})
	if !typed {
		return errors.New("schema must have a 'type' key")
	}
	if format, has := fields["format"].(string); has && !slices.Contains(c.formats, format) {
		return fmt.Errorf("format '%s' is not supported", format)
	}
	if values, has := fields["enum"].([]any); has {
		if len(values) == 0 || len(values) > 1000 {
			return errors.New("enum must have 1 to 1000 values")
		}
		for _, value := range values {
			switch value.(type) {
			case map[string]any, []any:
				return errors.New("enum values must be primitive")
			}
		}
	}
	if least, has := fields["minItems"].(float64); has && c.smallMinItems && least != 0 && least != 1 {
		return errors.New("for 'array' type, 'minItems' values other than 0 or 1 are not supported")
	}
	if fields["type"] == "array" && fields["items"] == nil {
		return errors.New("array schema missing items")
	}
	return nil
}

func (c *check) object(fields map[string]any, depth int, references []string) error {
	if !isOfType(fields["type"], "object") {
		return nil
	}
	if fields["additionalProperties"] != false {
		return errors.New("'additionalProperties' is required to be supplied and to be false")
	}
	properties, _ := fields["properties"].(map[string]any)
	listed, _ := fields["required"].([]any)
	required := map[string]bool{}
	for _, name := range listed {
		text, isText := name.(string)
		if _, has := properties[text]; !isText || !has {
			return fmt.Errorf("'required' names an unknown property '%v'", name)
		}
		required[text] = true
	}
	for name, property := range properties {
		if c.properties++; c.allRequired && !required[name] {
			return fmt.Errorf("'required' must be an array of all properties: missing '%s'", name)
		}
		if err := c.node(property, depth+1, references); err != nil {
			return err
		}
	}
	return nil
}

func isOfType(given any, kind string) bool {
	kinds, _ := given.([]any)
	return given == kind || slices.Contains(kinds, any(kind))
}
