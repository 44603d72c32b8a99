package model

import (
	"fmt"
	"strings"
)

// Event is an event of the log.
type Event struct {
	Name   string
	Fields []EventField
}

// EventField is a field of an event.
type EventField struct {
	Name  string
	Value any
}

// Bytes are the event as it is logged.
func (e Event) Bytes() []byte {
	data := discriminator("event", e.Name)
	for _, field := range e.Fields {
		data = appendField(data, field.Value)
	}
	return data
}

// String is the event's name and its fields.
func (e Event) String() string {
	var shown strings.Builder
	shown.WriteString(e.Name)
	for _, field := range e.Fields {
		fmt.Fprintf(&shown, " %s=%v", field.Name, field.Value)
	}
	return shown.String()
}

// event makes an event from names and values in turn.
func event(name string, pairs ...any) Event {
	e := Event{Name: name}
	for i := 0; i < len(pairs); i += 2 {
		e.Fields = append(e.Fields, EventField{pairs[i].(string), pairs[i+1]})
	}
	return e
}
