package mcp

import (
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// textOf returns the schema for a string with these values.
func textOf[T any](values ...T) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "string"}
	for _, value := range values {
		schema.Enum = append(schema.Enum, value)
	}
	return schema
}

// purposeNames returns the names of all purposes.
func purposeNames() (names []string) {
	for _, purpose := range terms.Purposes() {
		names = append(names, purpose.String())
	}
	return names
}

func whole(most float64, description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Minimum: new(0.0), Maximum: &most, Description: description}
}

// termsSchema returns the schema for license terms, with the ranges that [terms.Terms.Validate] checks.
func termsSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type:     "object",
		Required: []string{"price_per_fetch_micro", "token_ttl_seconds", "burst_rps", "purposes"},
		Properties: map[string]*jsonschema.Schema{
			"price_per_fetch_micro": whole(terms.MaxPrice, "price of a fetch in micro units: 1800 is 0.0018"),
			"token_ttl_seconds":     whole(terms.MaxTTLSeconds, "lifetime of an access token in seconds"),
			"burst_rps":             whole(terms.MaxRPS, "highest rate of requests per second"),
			"purposes": {Type: "array", Items: textOf(purposeNames()...), MinItems: new(1), UniqueItems: true,
				Description: "permitted uses"},
			"prepaid_fetches": whole(terms.MaxFetches, "number of fetches that are paid in advance; default 0"),
		},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
}

// schemaOf returns the schema for arguments or an answer.
func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[terms.Terms]():   termsSchema(),
		reflect.TypeFor[terms.Purpose](): textOf(purposeNames()...),
		reflect.TypeFor[waitSeconds]():   whole(maxWait, waitHelp),
		reflect.TypeFor[time.Time]():     {Type: "string", Format: "date-time"},
		reflect.TypeFor[engine.Action](): textOf(engine.Accept, engine.Counter, engine.Reject, engine.Approve,
			engine.Timeout, engine.Pending),
		reflect.TypeFor[engine.Status]():      textOf(engine.Statuses()...),
		reflect.TypeFor[engine.LeaveReason](): textOf(engine.LeaveReasons()...),
		reflect.TypeFor[engine.ReasonCode]():  textOf(engine.ReasonCodes()...),
		reflect.TypeFor[engine.Style]():       textOf(engine.Styles()...),
		reflect.TypeFor[engine.Party](): textOf(engine.PartyClient, engine.PartyPublisher,
			engine.PartySystem),
	}})
	if err != nil {
		panic(err) // the types are those of this package, and a test makes all schemas
	}
	return schema
}
