package differential

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// traceStep writes a step to the trace.
func (f *fixture) traceStep(next step, result string) {
	if f.trace != nil {
		f.trace(fmt.Sprintf("%3d. %s", f.played, f.formatStep(next, result)))
	}
}

func (f *fixture) formatStep(next step, result string) string {
	switch {
	case next.until != nil:
		return fmt.Sprintf("clock: %d", *next.until)
	case next.mutate != nil:
		return next.description
	}
	text := f.formatInstruction(next.instruction)
	if next.description != "" {
		text += " [" + next.description + "]"
	}
	return text + " -> " + result
}

// formatInstruction formats an instruction with names for the addresses. If it is malformed, the bytes are
// included.
func (f *fixture) formatInstruction(call *model.Instruction) string {
	if instruction, ok := model.Decode(*call); ok && call.Program == model.ProgramID {
		return model.NameOf(call.Data) + f.formatFields(reflect.ValueOf(instruction).Elem())
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s of %s, data %x", model.NameOf(call.Data), f.participants.name(call.Program),
		call.Data)
	for _, meta := range call.Accounts {
		fmt.Fprintf(&text, ", %s", f.participants.name(meta.PublicKey))
	}
	return text.String()
}

// formatFields formats a struct's non-zero fields.
func (f *fixture) formatFields(record reflect.Value) string {
	var text strings.Builder
	for i := range record.NumField() {
		if field := record.Field(i); !field.IsZero() {
			fmt.Fprintf(&text, " %s=%s", record.Type().Field(i).Name, f.formatValue(field))
		}
	}
	return text.String()
}

func (f *fixture) formatValue(value reflect.Value) string {
	switch v := value.Interface().(type) {
	case model.Address:
		return f.participants.name(v)
	case [32]byte:
		return fmt.Sprintf("%x", v[:4])
	case [64]byte:
		return fmt.Sprintf("%x...", v[:8])
	}
	if value.Kind() == reflect.Struct {
		return "{" + f.formatFields(value) + " }"
	}
	return fmt.Sprint(value.Interface())
}

func (f *fixture) formatEvent(event model.Event) string {
	var text strings.Builder
	text.WriteString(event.Name)
	for _, field := range event.Fields {
		fmt.Fprintf(&text, " %s=%s", field.Name, f.formatValue(reflect.ValueOf(field.Value)))
	}
	return text.String()
}

// formatEventBytes formats an event with the layout of the model's event of the same name, if there is one.
func (f *fixture) formatEventBytes(data []byte, layouts []model.Event) string {
	for _, layout := range layouts {
		if event, ok := layout.Decode(data); ok {
			return f.formatEvent(event)
		}
	}
	return fmt.Sprintf("%x", data)
}

// accountDifferences lists the differing fields of a negotiation or configuration, or the differing bytes of
// another account.
func accountDifferences(program, model model.Account) string {
	var text strings.Builder
	if program.Lamports != model.Lamports {
		fmt.Fprintf(&text, "  lamports: program %d, model %d\n", program.Lamports, model.Lamports)
	}
	if program.Owner != model.Owner {
		fmt.Fprintf(&text, "  owner: program %s, model %s\n", program.Owner, model.Owner)
	}
	a, b := decodeRecord(program.Data), decodeRecord(model.Data)
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		if string(program.Data) != string(model.Data) {
			fmt.Fprintf(&text, "  data: program %x\n        model   %x\n", program.Data, model.Data)
		}
		return text.String()
	}
	for i := range a.NumField() {
		if x, y := a.Field(i).Interface(), b.Field(i).Interface(); x != y {
			fmt.Fprintf(&text, "  %s: program %v, model %v\n", a.Type().Field(i).Name, x, y)
		}
	}
	return text.String()
}

func decodeRecord(data []byte) reflect.Value {
	if n, ok := model.ReadNegotiation(data); ok {
		return reflect.ValueOf(n).Elem()
	}
	if c, ok := model.ReadConfig(data); ok {
		return reflect.ValueOf(c).Elem()
	}
	return reflect.Value{}
}
