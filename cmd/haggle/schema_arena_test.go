package main

import (
	"crypto/ed25519"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// arenaSchemas is the folder with the schemas of the arena's protocol.
const arenaSchemas = schemas + "/arena"

// arenaSchema returns the schemas of the arena's values.
func arenaSchema(kind reflect.Type) *jsonschema.Schema {
	number := func(least, most string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "integer", Minimum: json.Number(least), Maximum: json.Number(most)}
	}
	one := func(of ...any) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Enum: of} }
	switch kind {
	case reflect.TypeFor[arena.Price]():
		return number("1", "99")
	case reflect.TypeFor[arena.Side]():
		return one(arena.Buy, arena.Sell)
	case reflect.TypeFor[arena.Token]():
		return one(arena.Yes, arena.No)
	case reflect.TypeFor[arena.Outcome]():
		return one(arena.OutcomeYes, arena.OutcomeNo, arena.OutcomeVoid)
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{Type: "object"}
	case reflect.TypeFor[arena.Shown]():
		return &jsonschema.Schema{Ref: "event.json"}
	}
	return nil
}

// arena returns the schemas of the arena's messages, events and receipts by the names of their files.
func (g schemaGenerator) arena() map[string][]byte {
	reflector := &jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, Mapper: arenaSchema, LookupComment: g.comments.of,
	}
	// tagged returns an envelope schema, with a field containing one of the types named by kind.
	tagged := func(envelope reflect.Type, title, field string, kinds map[string]reflect.Type, names []string) []byte {
		schema := reflector.ReflectFromType(envelope)
		schema.Title = title
		schema.Definitions = jsonschema.Definitions{}
		for _, kind := range names {
			content := reflector.ReflectFromType(kinds[kind])
			for name, definition := range content.Definitions {
				schema.Definitions[name] = definition
			}
			content.Version, content.Definitions = "", nil
			schema.Definitions[kind] = content
			properties := jsonschema.NewProperties()
			properties.Set("kind", &jsonschema.Schema{Const: kind})
			properties.Set(field, &jsonschema.Schema{Ref: "#/$defs/" + kind})
			schema.OneOf = append(schema.OneOf, &jsonschema.Schema{Properties: properties})
		}
		return g.encode(schema)
	}
	actions, actionNames := kindsOf(arena.Actions())
	facts, factNames := kindsOf(arena.Facts())
	receipt := reflector.ReflectFromType(reflect.TypeFor[arena.Receipt]())
	receipt.Title = "The receipt of a message of the arena"
	// frame returns a frame schema with a single field.
	frame := func(kind reflect.Type, title string) []byte {
		schema := reflector.ReflectFromType(kind)
		schema.Title, schema.MinProperties, schema.MaxProperties = title, new(uint64(1)), new(uint64(1))
		if message, is := schema.Properties.Get("message"); is {
			*message = jsonschema.Schema{Ref: "message.json", Description: message.Description}
		}
		return g.encode(schema)
	}
	return map[string][]byte{
		"message.json":      tagged(reflect.TypeFor[arena.Envelope](), "A message of the arena", "action", actions, actionNames),
		"event.json":        tagged(reflect.TypeFor[arena.EventEnvelope](), "An event of the arena", "fact", facts, factNames),
		"receipt.json":      g.encode(receipt),
		"client-frame.json": frame(reflect.TypeFor[arena.ClientFrame](), "A frame of a client of the arena"),
		"server-frame.json": frame(reflect.TypeFor[arena.ServerFrame](), "A frame of a server of the arena"),
	}
}

func kindsOf[T interface{ Kind() string }](values []T) (types map[string]reflect.Type, names []string) {
	types = map[string]reflect.Type{}
	for _, value := range values {
		types[value.Kind()] = reflect.TypeOf(value)
		names = append(names, value.Kind())
	}
	return types, names
}

// docs/schemas/arena contains exactly the arena's schemas.
func TestArenaSchemasAreUpToDate(t *testing.T) {
	checkFiles(t, arenaSchemas, newSchemaGenerator(t).arena())
}

// What the schema of messages refuses, Parse refuses as well.
func TestArenaMessagesPassTheirSchema(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	for _, action := range arena.Actions() {
		m, err := arena.Sign(key, arena.Draft{Market: "m", Sequence: 1, Expires: time.Now(), Action: action})
		require.NoError(t, err)
		switch action.(type) { // these have required values
		case arena.Deposit, arena.Withdraw, arena.Join, arena.Pass, arena.Connect, arena.Leave, arena.Say, arena.Chat:
			require.NoError(t, validate(arenaSchemas, m.Text(), "message.json"), action.Kind())
		}
		for _, change := range [][2]string{
			{`"arena/1"`, `"arena/2"`}, {`"kind":"`, `"kind":"x`}, {`"action":{`, `"action":{"more":1,`},
			{`"market":"m"`, `"market":""`}, {`"signature":"`, `"signature":"","x":"`}, {`"sequence":1`, `"sequence":0`},
			{`"seen"`, `"Seen"`},
		} {
			invalid := strings.Replace(string(m.Text()), change[0], change[1], 1)
			require.Error(t, validate(arenaSchemas, []byte(invalid), "message.json"), invalid)
			_, err = arena.Parse([]byte(invalid))
			require.Error(t, err, invalid)
		}
	}
}

// Frames as client and server write them, and some invalid frames.
func TestArenaFramesPassTheirSchema(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	agent, now := arena.AddressOf(key), time.Now().UTC().Truncate(time.Microsecond)
	book, err := arena.NewBook(arena.Config{
		Market: "m", Question: "?", Opens: now, Closes: now.Add(time.Hour), Operator: agent, Resolver: agent, Grant: 5,
	})
	require.NoError(t, err)
	m, err := arena.Sign(key, arena.Draft{Market: "m", Sequence: 1, Expires: now.Add(time.Minute), Action: arena.Join{Name: "ada"}})
	require.NoError(t, err)
	empty := book.Standing("")
	entry, events, err := book.Enter(m, now.Add(time.Second), [arena.SaltSize]byte{})
	require.NoError(t, err)
	receipt, err := arena.ReceiptFor(key, entry)
	require.NoError(t, err)
	standing, spectator := book.Standing(agent), book.Standing("")
	for _, frame := range []arena.ServerFrame{
		{Challenge: "c"}, {Standing: &empty}, {Standing: &standing}, {Standing: &spectator}, {Receipt: &receipt},
		{Event: &arena.Shown{Number: 1, At: events[0].At, Fact: events[0].Fact}},
		{Refused: &arena.Refused{Code: arena.CodeFunds, Text: "x", Next: 2}},
	} {
		text, err := json.Marshal(frame)
		require.NoError(t, err)
		require.NoError(t, validate(arenaSchemas, text, "server-frame.json"), string(text))
	}
	for _, frame := range []arena.ClientFrame{
		{Watch: &arena.Watch{After: 3}}, {Enter: arena.SignEnter(key, "m", "c", 3)}, {Message: m.Text()},
	} {
		text, err := json.Marshal(frame)
		require.NoError(t, err)
		require.NoError(t, validate(arenaSchemas, text, "client-frame.json"), string(text))
	}
	for _, text := range []string{`{}`, `{"watch":{"after":0},"message":{}}`, `{"wach":{"after":0}}`, `{"message":{}}`} {
		require.Error(t, validate(arenaSchemas, []byte(text), "client-frame.json"), text)
	}
}
