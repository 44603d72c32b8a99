package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// object returns the schema of an object with one property.
func object(property string) string {
	return `{"type":"object","properties":{"p":` + property + `},"required":["p"],"additionalProperties":false}`
}

// TestSchemaRules shows which schemas OpenAI and Anthropic accept. An empty string means that a schema is
// accepted.
func TestSchemaRules(t *testing.T) {
	t.Parallel()
	deep := `{"type":"string"}`
	for range maxDepth {
		deep = object(deep)
	}
	for _, c := range []struct{ schema, openAI, anthropic string }{
		{object(`{"type":"string"}`), "", ""},
		{object(`{"type":["string","null"],"description":"text"}`), "", ""},
		{object(`{"type":"string","enum":["a","b"]}`), "", ""},
		{object(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), "", ""},
		{object(`{"type":"array","items":` + object(`{"type":"integer"}`) + `,"minItems":1}`), "", ""},
		{object(`{"type":"string","format":"date-time"}`), "", ""},

		{object(`{"type":"integer","minimum":0}`), "", "'minimum' is not permitted"},
		{object(`{"type":"integer","maximum":9}`), "", "'maximum' is not permitted"},
		{object(`{"type":"array","items":{"type":"string"},"maxItems":3}`), "", "'maxItems' is not permitted"},
		{object(`{"type":"array","items":{"type":"string"},"minItems":2}`), "", "'minItems' values other"},
		{object(`{"type":"string","minLength":1}`), "'minLength' is not", "'minLength' is not"},
		{object(`{"type":"string","maxLength":9}`), "'maxLength' is not", "'maxLength' is not"},
		{object(`{"type":"string","default":""}`), "'default' is not permitted", ""},
		{object(`{"allOf":[{"type":"string"}]}`), "'allOf' is not permitted", ""},
		{object(`{"oneOf":[{"type":"string"}]}`), "'oneOf' is not permitted", "'oneOf' is not permitted"},
		{object(`{"type":"string","format":"uri"}`), "format 'uri'", ""},
		{object(`{"description":"no type"}`), "must have a 'type'", "must have a 'type'"},
		{object(`{"type":"string","enum":[]}`), "1 to 1000", "1 to 1000"},
		{object(`{"enum":[{}]}`), "primitive", "primitive"},
		{object(`{"type":"array"}`), "missing items", "missing items"},
		{object(`true`), "must consist of objects", "must consist of objects"},
		{deep, "levels of nesting", "levels of nesting"},

		{`{"type":"object","properties":{"p":{"type":"string"}},"required":[],"additionalProperties":false}`,
			"missing 'p'", ""},
		{`{"type":"object","properties":{},"required":["q"],"additionalProperties":false}`,
			"unknown property 'q'", "unknown property 'q'"},
		{`{"type":"object","properties":{}}`, "'additionalProperties' is", "'additionalProperties' is"},
		{object(`{"type":"object","properties":{},"additionalProperties":true}`),
			"'additionalProperties' is required", "'additionalProperties' is required"},
		{`{"anyOf":[` + object(`{"type":"string"}`) + `]}`, "must be a JSON Schema", "must be a JSON Schema"},
		{`[]`, "must be a JSON Schema of", "must be a JSON Schema of"},
		{``, "missing or not JSON", "missing or not JSON"},

		{defined(`{"type":"string"}`), "", ""},
		{defined(`{"type":"string","maxLength":1}`), "'maxLength'", "'maxLength'"},
		{defined(`{"type":"array","items":{"$ref":"#/$defs/d"}}`), "", "recursive"},
		{object(`{"$ref":"#"}`), "", "recursive"},
		{object(`{"$ref":"#/$defs/d"}`), "cannot be resolved", "cannot be resolved"},
		{object(`{"$ref":"https://a.example/s"}`), "cannot be resolved", "cannot be resolved"},
	} {
		for _, vendor := range []struct {
			name  string
			rules rules
			want  string
		}{{"OpenAI", openAIRules, c.openAI}, {"Anthropic", anthropicRules, c.anthropic}} {
			err := vendor.rules.check(json.RawMessage(c.schema))
			if vendor.want == "" {
				assert.NoError(t, err, "%s: %s", vendor.name, c.schema)
			} else {
				assert.ErrorContains(t, err, vendor.want, "%s: %s", vendor.name, c.schema)
			}
		}
	}
}

// defined returns the schema of an object whose property is a definition.
func defined(definition string) string {
	schema := strings.TrimSuffix(object(`{"$ref":"#/$defs/d"}`), "}")
	return schema + `,"$defs":{"d":` + definition + `}}`
}

// TestMinimalFollowsSchema shows that the output follows the schema if no script is set.
func TestMinimalFollowsSchema(t *testing.T) {
	t.Parallel()
	for index, schema := range []string{
		object(`{"type":"string"}`), object(`{"type":["integer","null"]}`), object(`{"type":"boolean"}`),
		object(`{"type":"string","enum":["b","a"]}`), object(`{"const":7}`), object(`{"type":"null"}`),
		object(`{"type":"array","items":{"type":"string"},"minItems":1}`), object(`{"anyOf":[{"type":"number"}]}`),
		object(object(`{"type":"array","items":{"type":"string"}}`)), defined(`{"type":"string","enum":["x"]}`),
	} {
		parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
		require.NoError(t, err)
		compiler := jsonschema.NewCompiler()
		name := fmt.Sprintf("schema%d.json", index)
		require.NoError(t, compiler.AddResource(name, parsed))
		compiled, err := compiler.Compile(name)
		require.NoError(t, err)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(Minimal([]byte(schema))))
		require.NoError(t, err)
		assert.NoError(t, compiled.Validate(value), schema)
	}
	assert.Equal(t, "null", Minimal(nil))
}
