// Package schema generates JSON Schemas (2020-12) of the documents that commands print with --json. Only tests
// import it: docs/schemas has its output.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/gagliardetto/solana-go"
	"github.com/invopop/jsonschema"

	"github.com/haggle-protocol/haggle/internal/cli/jsonview"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The schemas that others refer to.
const (
	AmountFile = "amount.json"
	EventFile  = "event.json"
)

// Generator generates schemas with the comments of the Go types as descriptions.
type Generator struct{ comments *comments }

// New returns a generator. Root is the folder of the module, from which it reads comments.
func New(root string) *Generator { return &Generator{&comments{root: root}} }

// Of returns the schema of a document that has one of these types.
func (g *Generator) Of(title string, types ...reflect.Type) ([]byte, error) {
	reflector := &jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: len(types) == 1, Mapper: mapped, LookupComment: g.comments.of,
	}
	schema := reflector.ReflectFromType(types[0])
	if len(types) > 1 {
		schema = &jsonschema.Schema{Version: jsonschema.Version, Definitions: jsonschema.Definitions{}}
		for _, kind := range types {
			one := reflector.ReflectFromType(kind)
			for name, definition := range one.Definitions {
				schema.Definitions[name] = definition
			}
			schema.AnyOf = append(schema.AnyOf, &jsonschema.Schema{Ref: one.Ref})
		}
	}
	schema.Title = title
	return encode(schema)
}

func encode(schema *jsonschema.Schema) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(schema); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// The forms of values as text.
const (
	base58  = "[1-9A-HJ-NP-Za-km-z]"
	decimal = "^[0-9]+$"
)

func address() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: "^" + base58 + "{32,44}$"}
}

// mapped returns the schemas of types that write their JSON themselves.
func mapped(kind reflect.Type) *jsonschema.Schema {
	switch kind {
	case reflect.TypeFor[solana.PublicKey](), reflect.TypeFor[solana.Hash]():
		return address()
	case reflect.TypeFor[solana.Signature]():
		return &jsonschema.Schema{Type: "string", Pattern: "^" + base58 + "{64,88}$"}
	case reflect.TypeFor[amount.Tokens]():
		return &jsonschema.Schema{Ref: AmountFile}
	case reflect.TypeFor[fixed.Number]():
		return &jsonschema.Schema{Type: "string", Pattern: `^-?[0-9]+(\.[0-9]+)?$`}
	case reflect.TypeFor[jsonview.List]():
		return &jsonschema.Schema{Ref: EventFile}
	}
	if kind.Kind() == reflect.Uint64 && kind.Implements(reflect.TypeFor[json.Marshaler]()) {
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// Amount returns the schema of [amount.Tokens].
func Amount() ([]byte, error) {
	properties := jsonschema.NewProperties()
	properties.Set("units", &jsonschema.Schema{
		Type: "string", Pattern: decimal, Description: "The amount in base units of the mint: an integer below 2^64.",
	})
	properties.Set("decimals", &jsonschema.Schema{
		Type: "integer", Minimum: "0", Maximum: "255",
		Description: "The mint's number of decimals: a token has ten to this power of base units.",
	})
	properties.Set("tokens", &jsonschema.Schema{
		Type: "string", Pattern: `^[0-9]+(\.[0-9]+)?$`, Description: "The amount in tokens, exactly, with all decimals.",
	})
	properties.Set("symbol", &jsonschema.Schema{
		Type: "string", Description: "The mint's symbol for people, or its shortened address. It does not identify the mint.",
	})
	return encode(&jsonschema.Schema{
		Version: jsonschema.Version, Title: "An amount of tokens", Type: "object", Properties: properties,
		Required: []string{"units", "decimals", "tokens"}, AdditionalProperties: jsonschema.FalseSchema,
	})
}

// events are all events of the IDL.
var events = []protocol.Event{
	&protocol.ConfigInitialized{},
	&protocol.ConfigUpdated{},
	&protocol.NegotiationCreated{},
	&protocol.InvitationAccepted{},
	&protocol.ZopaCommitted{},
	&protocol.ZopaRevealed{},
	&protocol.OfferSubmitted{},
	&protocol.OfferAccepted{},
	&protocol.MilestoneClaimed{},
	&protocol.MilestoneReleased{},
	&protocol.MilestoneDisputed{},
	&protocol.DisputeResolved{},
	&protocol.DeadlineSettled{},
	&protocol.AgreementSettled{},
	&protocol.NegotiationSettled{},
	&protocol.NegotiationExpired{},
	&protocol.NegotiationRejected{},
	&protocol.BondSettled{},
	&protocol.PayoutRecorded{},
	&protocol.PayoutClaimed{},
	&protocol.NegotiationClosed{},
}

// Event returns the schema of the program's events, with the names and the order of the IDL.
func (g *Generator) Event() ([]byte, error) {
	schema := &jsonschema.Schema{
		Version: jsonschema.Version, Title: "An event of the program",
		Description: "Amounts are base units of the mint as decimal strings, times Unix seconds of the chain's clock, " +
			"addresses base 58, other bytes hex.",
	}
	for _, event := range events {
		properties := jsonschema.NewProperties()
		properties.Set("event", &jsonschema.Schema{Const: event.EventName()})
		required := []string{"event"}
		kind := reflect.TypeOf(event).Elem()
		for i, field := range jsonview.Of(event) {
			property, err := valueSchema(kind.Field(i).Type)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", event.EventName(), field.Name, err)
			}
			property.Description = g.comments.of(kind, kind.Field(i).Name)
			properties.Set(field.Name, property)
			required = append(required, field.Name)
		}
		schema.OneOf = append(schema.OneOf, &jsonschema.Schema{
			Type: "object", Title: event.EventName(), Description: g.comments.of(kind, ""), Properties: properties,
			Required: required, AdditionalProperties: jsonschema.FalseSchema,
		})
	}
	return encode(schema)
}

// valueSchema returns the schema of a value as [jsonview.Of] writes it.
func valueSchema(kind reflect.Type) (*jsonschema.Schema, error) {
	isByteArray := kind.Kind() == reflect.Array && kind.Elem().Kind() == reflect.Uint8
	switch {
	case kind == reflect.TypeFor[solana.PublicKey]():
		return address(), nil
	case kind.Implements(reflect.TypeFor[fmt.Stringer]()):
		return &jsonschema.Schema{Type: "string"}, nil
	case kind.Kind() == reflect.Uint64:
		return &jsonschema.Schema{Type: "string", Pattern: decimal}, nil
	case isByteArray:
		return &jsonschema.Schema{Type: "string", Pattern: fmt.Sprintf("^[0-9a-f]{%d}$", 2*kind.Len())}, nil
	case kind.Kind() == reflect.Array:
		items, err := valueSchema(kind.Elem())
		count := uint64(kind.Len())
		return &jsonschema.Schema{Type: "array", Items: items, MinItems: &count, MaxItems: &count}, err
	case kind.Kind() == reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}, nil
	case kind.ConvertibleTo(reflect.TypeFor[int64]()):
		return &jsonschema.Schema{Type: "integer"}, nil
	}
	return nil, fmt.Errorf("no schema for type %s", kind)
}
