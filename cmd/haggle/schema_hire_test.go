package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

const (
	// hireSchemas is the folder with the schemas of HIRE/1.0.
	hireSchemas = schemas + "/hire"
	messageFile = "message.json"
)

// hireSchema returns the schemas of HIRE's values.
func hireSchema(kind reflect.Type) *jsonschema.Schema {
	pattern := func(form string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Pattern: form} }
	switch kind {
	case reflect.TypeFor[hire.Text]():
		return &jsonschema.Schema{Type: "string"}
	case reflect.TypeFor[hire.Hash]():
		return pattern(hire.HashPattern)
	case reflect.TypeFor[hire.Time]():
		return pattern(hire.TimePattern)
	case reflect.TypeFor[hire.Price]():
		return pattern(hire.PricePattern)
	case reflect.TypeFor[hire.Base58]():
		return pattern(hire.Base58Pattern)
	case reflect.TypeFor[hire.Units]():
		return pattern(hire.UnitsPattern)
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{Type: "object"}
	}
	return nil
}

// hire returns the HIRE/1.0 schemas by file name: message.json, and a schema for each payload.
func (g schemaGenerator) hire() map[string][]byte {
	reflector := &jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, Mapper: hireSchema, LookupComment: g.comments.of,
	}
	message := reflector.ReflectFromType(reflect.TypeFor[hire.Envelope]())
	message.Title = "A message of HIRE/1.0"
	message.Required = append(message.Required, "signature")
	all := map[string][]byte{}
	for _, sent := range hire.Types() {
		name := string(sent) + ".json"
		payload := reflector.ReflectFromType(reflect.TypeOf(hire.NewPayload(sent)).Elem())
		payload.Title = fmt.Sprintf("The payload of a message of type %s", sent)
		all[name] = g.encode(payload)
		properties := jsonschema.NewProperties()
		properties.Set("type", &jsonschema.Schema{Const: sent})
		properties.Set("payload", &jsonschema.Schema{Ref: name})
		message.OneOf = append(message.OneOf, &jsonschema.Schema{Properties: properties})
	}
	all[messageFile] = g.encode(message)
	return all
}

// docs/schemas/hire contains exactly the HIRE/1.0 schemas.
func TestHireSchemasAreUpToDate(t *testing.T) {
	checkFiles(t, hireSchemas, newSchemaGenerator(t).hire())
}

// The protocol document's messages pass the schemas unchanged. Parse also refuses whatever the schemas
// refuse.
func TestHireMessagesPassTheirSchema(t *testing.T) {
	samples, err := filepath.Glob(checkout + "/sdk/hire/testdata/flow-*.json")
	require.NoError(t, err)
	require.Len(t, samples, 5)
	for _, path := range samples {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		valid := strings.Join(strings.Fields(string(content)), " ") // as a single line
		require.NoError(t, validate(hireSchemas, []byte(valid), messageFile), path)
		_, err = hire.Parse([]byte(valid))
		require.NoError(t, err)
		for _, change := range [][2]string{
			{`"HIRE/1.0"`, `"HIRE/2.0"`}, {`"type": "`, `"type": "x`}, {`"payload": {`, `"payload": {"more": 1, `},
			{`"from": "agent_`, `"from": "", "x": "`}, {`"sig_..."`, `""`}, {`"sig_..."`, `1`}, {`Z"`, `"`},
			{`, "signature": "sig_..."`, ``}, {`"protocol"`, `"Protocol"`},
			{`"payload": {`, `"payload": {"in_reply_to": "x", `},
		} {
			invalid := strings.Replace(valid, change[0], change[1], 1)
			require.NotEqual(t, valid, invalid, change)
			require.Error(t, validate(hireSchemas, []byte(invalid), messageFile), invalid)
			_, err = hire.Parse([]byte(invalid))
			require.Error(t, err, invalid)
		}
	}
}
