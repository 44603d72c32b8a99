package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/jsonview"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The schemas that others refer to.
const (
	amountFile = "amount.json"
	eventFile  = "event.json"
)

// schemaGenerator generates JSON Schemas (2020-12) of the documents that commands print with --json, with the
// comments of the Go types as descriptions.
type schemaGenerator struct {
	t        *testing.T
	comments comments
}

func newSchemaGenerator(t *testing.T) schemaGenerator {
	return schemaGenerator{t, comments{t, map[string]string{}}}
}

// of returns the schema for a document containing one of these types.
func (g schemaGenerator) of(title string, types ...reflect.Type) []byte {
	reflector := &jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: len(types) == 1, Mapper: mappedSchema, LookupComment: g.comments.of,
	}
	schema := reflector.ReflectFromType(types[0])
	if len(types) > 1 {
		schema = &jsonschema.Schema{Version: jsonschema.Version, Definitions: jsonschema.Definitions{}}
		for _, kind := range types {
			single := reflector.ReflectFromType(kind)
			for name, definition := range single.Definitions {
				schema.Definitions[name] = definition
			}
			schema.AnyOf = append(schema.AnyOf, &jsonschema.Schema{Ref: single.Ref})
		}
	}
	schema.Title = title
	return g.encode(schema)
}

func (g schemaGenerator) encode(schema *jsonschema.Schema) []byte {
	g.t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(g.t, encoder.Encode(schema))
	return text.Bytes()
}

// The formats for values written as strings.
const (
	base58Digit   = "[1-9A-HJ-NP-Za-km-z]"
	integerDigits = "^[0-9]+$"
)

func addressSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: "^" + base58Digit + "{32,44}$"}
}

// mappedSchema returns the schemas of types that write their JSON themselves.
func mappedSchema(kind reflect.Type) *jsonschema.Schema {
	switch kind {
	case reflect.TypeFor[solana.PublicKey](), reflect.TypeFor[solana.Hash]():
		return addressSchema()
	case reflect.TypeFor[solana.Signature]():
		return &jsonschema.Schema{Type: "string", Pattern: "^" + base58Digit + "{64,88}$"}
	case reflect.TypeFor[amount.Tokens]():
		return &jsonschema.Schema{Ref: amountFile}
	case reflect.TypeFor[fixed.Number]():
		return &jsonschema.Schema{Type: "string", Pattern: `^-?[0-9]+(\.[0-9]+)?$`}
	case reflect.TypeFor[llm.Value]():
		return &jsonschema.Schema{Type: "number"}
	case reflect.TypeFor[jsonview.List]():
		return &jsonschema.Schema{Ref: eventFile}
	}
	if kind.Kind() == reflect.Uint64 && kind.Implements(reflect.TypeFor[json.Marshaler]()) {
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// amount returns the schema of [amount.Tokens].
func (g schemaGenerator) amount() []byte {
	properties := jsonschema.NewProperties()
	properties.Set("units", &jsonschema.Schema{
		Type: "string", Pattern: integerDigits,
		Description: "The amount in base units of the mint: an integer below 2^64.",
	})
	properties.Set("decimals", &jsonschema.Schema{
		Type: "integer", Minimum: "0", Maximum: "255",
		Description: "The mint's number of decimals: a token has ten to this power of base units.",
	})
	properties.Set("tokens", &jsonschema.Schema{
		Type: "string", Pattern: `^[0-9]+(\.[0-9]+)?$`,
		Description: "The amount in tokens, exactly, with all decimals.",
	})
	properties.Set("symbol", &jsonschema.Schema{
		Type:        "string",
		Description: "The mint's symbol for people, or its shortened address. It does not identify the mint.",
	})
	return g.encode(&jsonschema.Schema{
		Version: jsonschema.Version, Title: "An amount of tokens", Type: "object", Properties: properties,
		Required: []string{"units", "decimals", "tokens"}, AdditionalProperties: jsonschema.FalseSchema,
	})
}

// recordedEvents returns several events for each type, as the program writes them.
func recordedEvents(t *testing.T) (all []protocol.Event) {
	t.Helper()
	content, err := os.ReadFile(checkout + "/sdk/protocol/testdata/fixtures.json")
	require.NoError(t, err)
	var fixtures struct{ Events []struct{ Data string } }
	require.NoError(t, json.Unmarshal(content, &fixtures))
	for _, fixture := range fixtures.Events {
		data, err := hex.DecodeString(fixture.Data)
		require.NoError(t, err)
		event, err := protocol.DecodeEvent(data)
		require.NoError(t, err)
		all = append(all, event)
	}
	return all
}

// event returns the schema for the program's events, with IDL names in IDL order.
func (g schemaGenerator) event() []byte {
	g.t.Helper()
	schema := &jsonschema.Schema{
		Version: jsonschema.Version, Title: "An event of the program",
		Description: "Amounts are base units of the mint as decimal strings, " +
			"times Unix seconds of the chain's clock, addresses base 58, other bytes hex.",
	}
	done := map[string]bool{}
	for _, event := range recordedEvents(g.t) {
		if done[event.EventName()] {
			continue
		}
		done[event.EventName()] = true
		properties := jsonschema.NewProperties()
		properties.Set("event", &jsonschema.Schema{Const: event.EventName()})
		required := []string{"event"}
		kind := reflect.TypeOf(event).Elem()
		for i, field := range jsonview.Of(event) {
			property := g.value(kind.Field(i).Type)
			property.Description = g.comments.of(kind, kind.Field(i).Name)
			properties.Set(field.Name, property)
			required = append(required, field.Name)
		}
		schema.OneOf = append(schema.OneOf, &jsonschema.Schema{
			Type: "object", Title: event.EventName(), Description: g.comments.of(kind, ""), Properties: properties,
			Required: required, AdditionalProperties: jsonschema.FalseSchema,
		})
	}
	return g.encode(schema)
}

// value returns the schema for a value written by [jsonview.Of].
func (g schemaGenerator) value(kind reflect.Type) *jsonschema.Schema {
	isByteArray := kind.Kind() == reflect.Array && kind.Elem().Kind() == reflect.Uint8
	switch {
	case kind == reflect.TypeFor[solana.PublicKey]():
		return addressSchema()
	case kind.Implements(reflect.TypeFor[fmt.Stringer]()):
		return &jsonschema.Schema{Type: "string"}
	case kind.Kind() == reflect.Uint64:
		return &jsonschema.Schema{Type: "string", Pattern: integerDigits}
	case isByteArray:
		return &jsonschema.Schema{Type: "string", Pattern: fmt.Sprintf("^[0-9a-f]{%d}$", 2*kind.Len())}
	case kind.Kind() == reflect.Array:
		count := uint64(kind.Len())
		return &jsonschema.Schema{Type: "array", Items: g.value(kind.Elem()), MinItems: &count, MaxItems: &count}
	case kind.Kind() == reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case kind.ConvertibleTo(reflect.TypeFor[int64]()):
		return &jsonschema.Schema{Type: "integer"}
	}
	require.FailNow(g.t, "no schema for type", kind)
	return nil
}

func TestEveryEventOfTheIDLHasASchema(t *testing.T) {
	content, err := os.ReadFile(checkout + "/idl/haggle.json")
	require.NoError(t, err)
	var idl struct{ Events []struct{ Name string } }
	require.NoError(t, json.Unmarshal(content, &idl))
	var schema struct{ OneOf []struct{ Title string } }
	require.NoError(t, json.Unmarshal(newSchemaGenerator(t).event(), &schema))
	var want, have []string
	for _, event := range idl.Events {
		want = append(want, event.Name)
	}
	for _, event := range schema.OneOf {
		have = append(have, event.Title)
	}
	require.Equal(t, want, have)
}

// sampleView is a document for the tests.
type sampleView struct {
	// Price is the price.
	Price amount.Tokens `json:"price"`
	Left  *int64        `json:"left,omitempty"`
}

type sampleEventView struct {
	Event jsonview.List `json:"event"`
}

func TestDocumentsAreValidated(t *testing.T) {
	folder, g := t.TempDir(), newSchemaGenerator(t)
	for name, content := range map[string][]byte{
		amountFile: g.amount(), eventFile: g.event(),
		"sample.json": g.of("sample", reflect.TypeFor[sampleView](), reflect.TypeFor[sampleEventView]()),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	for _, event := range recordedEvents(t) {
		fields := append(jsonview.List{{Name: "event", Value: event.EventName()}}, jsonview.Of(event)...)
		document, err := json.Marshal(sampleEventView{fields})
		require.NoError(t, err)
		require.NoError(t, validate(folder, document, "sample.json"))
	}
	valid := `{"price":{"units":"5","decimals":0,"tokens":"5"}}`
	require.NoError(t, validate(folder, []byte(valid+"\n"+valid+"\n"), "sample.json"))
	for _, document := range []string{
		`{}`, `{"price":5}`, `{"price":{"units":5,"decimals":0,"tokens":"5"}}`,
		`{"price":{"units":"5","decimals":0,"tokens":"5"},"more":1}`,
		`{"event":{"event":"Unknown"}}`, `{"event":{"event":"OfferSubmitted"}}`, `not JSON`, valid + valid, "\n",
	} {
		require.Error(t, validate(folder, []byte(document), "sample.json"), document)
	}
}
