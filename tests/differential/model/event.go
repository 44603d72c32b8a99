package model

import (
	"fmt"
	"reflect"
	"strings"
)

// Event is a logged event.
type Event struct {
	Name   string
	Fields []EventField
}

type EventField struct {
	Name  string
	Value any
}

// Bytes encodes the event as the program logs it.
func (e Event) Bytes() []byte {
	data := discriminator("event", e.Name)
	for _, field := range e.Fields {
		data = appendValue(data, field.Value)
	}
	return data
}

// String formats name and fields.
func (e Event) String() string {
	var text strings.Builder
	text.WriteString(e.Name)
	for _, field := range e.Fields {
		fmt.Fprintf(&text, " %s=%v", field.Name, field.Value)
	}
	return text.String()
}

// newEvent makes an event from alternating names and values.
func newEvent(name string, pairs ...any) Event {
	e := Event{Name: name}
	for i := 0; i < len(pairs); i += 2 {
		e.Fields = append(e.Fields, EventField{pairs[i].(string), pairs[i+1]})
	}
	return e
}

// Decode reads an event with e's name and field types. It returns false for a wrong discriminator or size.
func (e Event) Decode(data []byte) (Event, bool) {
	if len(data) != len(e.Bytes()) || string(data[:8]) != string(discriminator("event", e.Name)) {
		return Event{}, false
	}
	decoded := Event{Name: e.Name}
	rest := data[8:]
	for _, field := range e.Fields {
		value := reflect.New(reflect.TypeOf(field.Value))
		rest = readValue(rest, value.Interface())
		decoded.Fields = append(decoded.Fields, EventField{field.Name, value.Elem().Interface()})
	}
	return decoded, true
}
