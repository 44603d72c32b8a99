package protocol_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/near/borsh-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// idl is the part of the program's IDL that this test reads itself, independent of the generator.
type idl struct {
	Instructions []struct {
		Name          string
		Discriminator []byteNumber
		Args          []idlField
	}
	Accounts, Events []struct {
		Name          string
		Discriminator []byteNumber
	}
	Types []struct {
		Name string
		Type struct {
			Kind     string
			Fields   []idlField
			Variants []struct{ Name string }
		}
	}
}

type idlField struct {
	Name string
	Type json.RawMessage
}

// byteNumber is a byte that JSON writes as a number.
type byteNumber = uint16

func loadIDL(t *testing.T) *idl {
	t.Helper()
	content, err := os.ReadFile("../../idl/haggle.json")
	require.NoError(t, err)
	read := new(idl)
	require.NoError(t, json.Unmarshal(content, read))
	return read
}

func bytesOf(numbers []byteNumber) []byte {
	content := make([]byte, len(numbers))
	for i, number := range numbers {
		content[i] = byte(number)
	}
	return content
}

var idlPrimitives = map[string]reflect.Type{
	"bool": reflect.TypeFor[bool](), "u8": reflect.TypeFor[uint8](), "u16": reflect.TypeFor[uint16](), "u32": reflect.TypeFor[uint32](),
	"u64": reflect.TypeFor[uint64](), "i64": reflect.TypeFor[int64](), "pubkey": reflect.TypeFor[[32]byte](),
}

// fieldsOf returns a defined struct's fields, or nil for enums.
func (i *idl) fieldsOf(t *testing.T, name string) (fields []idlField, variants int) {
	t.Helper()
	for _, defined := range i.Types {
		if defined.Name == name {
			return defined.Type.Fields, len(defined.Type.Variants)
		}
	}
	require.FailNow(t, "type not in the IDL", name)
	return nil, 0
}

// value returns a random IDL value for borsh-go.
func (i *idl) value(t *testing.T, r *rapid.T, name string, raw json.RawMessage) reflect.Value {
	t.Helper()
	var word string
	if json.Unmarshal(raw, &word) == nil {
		primitive, ok := idlPrimitives[word]
		require.True(t, ok, "%s: type %s", name, word)
		return i.random(r, name, primitive)
	}
	var complex struct {
		Array   []json.RawMessage
		Defined struct{ Name string }
	}
	require.NoError(t, json.Unmarshal(raw, &complex))
	if complex.Array != nil {
		var element string
		var length int
		require.NoError(t, json.Unmarshal(complex.Array[0], &element))
		require.NoError(t, json.Unmarshal(complex.Array[1], &length))
		return i.random(r, name, reflect.ArrayOf(length, idlPrimitives[element]))
	}
	fields, variants := i.fieldsOf(t, complex.Defined.Name)
	if variants > 0 {
		return reflect.ValueOf(rapid.Uint8Range(0, uint8(variants-1)).Draw(r, name))
	}
	return i.structOf(t, r, fields)
}

// random returns a random unconstrained value.
func (i *idl) random(r *rapid.T, name string, of reflect.Type) reflect.Value {
	value := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Bool:
		value.SetBool(rapid.Bool().Draw(r, name))
	case reflect.Int64:
		value.SetInt(rapid.Int64().Draw(r, name))
	case reflect.Array:
		for at := range of.Len() {
			value.Index(at).Set(i.random(r, name, of.Elem()))
		}
	default:
		value.SetUint(rapid.Uint64().Draw(r, name) >> (64 - of.Bits()))
	}
	return value
}

// structOf returns a struct with the IDL's fields in the IDL's order, with this package's names.
func (i *idl) structOf(t *testing.T, r *rapid.T, fields []idlField) reflect.Value {
	t.Helper()
	types := make([]reflect.StructField, len(fields))
	values := make([]reflect.Value, len(fields))
	for at, field := range fields {
		values[at] = i.value(t, r, field.Name, field.Type)
		types[at] = reflect.StructField{Name: fmt.Sprintf("F_%s", field.Name), Type: values[at].Type()}
	}
	value := reflect.New(reflect.StructOf(types)).Elem()
	for at := range values {
		value.Field(at).Set(values[at])
	}
	return value
}

// fill sets this package's struct fields to the structOf fields with the same names.
func fill(t *testing.T, ours, theirs reflect.Value) {
	t.Helper()
	byName := map[string]reflect.Value{}
	for at := range ours.NumField() {
		byName["F_"+snakeCase(ours.Type().Field(at).Name)] = ours.Field(at)
	}
	for at := range theirs.NumField() {
		name := theirs.Type().Field(at).Name
		field, ok := byName[name]
		require.True(t, ok, "%s has no field %s", ours.Type(), name)
		if field.Kind() == reflect.Struct {
			fill(t, field, theirs.Field(at))
			continue
		}
		field.Set(theirs.Field(at).Convert(field.Type()))
	}
}

// decoded returns the value that borsh-go decodes from bytes, and requires that it uses all bytes.
func decoded(t *testing.T, like reflect.Value, content []byte) any {
	t.Helper()
	value := reflect.New(like.Type())
	require.NoError(t, borsh.Deserialize(value.Interface(), content))
	again, err := borsh.Serialize(value.Elem().Interface())
	require.NoError(t, err)
	require.Equal(t, content, again)
	return value.Elem().Interface()
}

// borsh-go uses only the IDL. Both codecs encode the same random values to the same bytes, and each decodes
// them to the same values.
func TestBorshGoAgreesOnAccountsAndEvents(t *testing.T) {
	program := loadIDL(t)
	for _, record := range append(program.Accounts, program.Events...) {
		t.Run(record.Name, func(t *testing.T) {
			fields, _ := program.fieldsOf(t, record.Name)
			require.NotEmpty(t, fields)
			rapid.Check(t, func(r *rapid.T) {
				theirs := program.structOf(t, r, fields)
				content, err := borsh.Serialize(theirs.Interface())
				require.NoError(t, err)
				data := append(bytesOf(record.Discriminator), content...)

				ours := newRecord(t, record.Name)
				fill(t, reflect.ValueOf(ours).Elem(), theirs)
				require.Equal(t, data, ours.AppendTo(nil))
				again := newRecord(t, record.Name)
				require.NoError(t, again.Decode(data))
				require.Equal(t, ours, again)
				require.Equal(t, theirs.Interface(), decoded(t, theirs, ours.AppendTo(nil)[8:]))
			})
		})
	}
}

func TestBorshGoAgreesOnInstructions(t *testing.T) {
	program := loadIDL(t)
	fixtures := map[string]fixture{}
	for _, f := range loadFixtures(t).Instructions {
		fixtures[f.Name] = f
	}
	require.Len(t, fixtures, len(program.Instructions))
	for _, instruction := range program.Instructions {
		t.Run(instruction.Name, func(t *testing.T) {
			f := fixtures[instruction.Name]
			rapid.Check(t, func(r *rapid.T) {
				theirs := program.structOf(t, r, instruction.Args)
				content, err := borsh.Serialize(theirs.Interface())
				require.NoError(t, err)
				data := append(bytesOf(instruction.Discriminator), content...)

				ours, err := protocol.DecodeInstruction(f.instructionMetas(), f.Data)
				require.NoError(t, err)
				fill(t, reflect.ValueOf(ours).Elem(), theirs)
				require.Equal(t, data, ours.AppendData(nil))
				again, err := protocol.DecodeInstruction(f.instructionMetas(), data)
				require.NoError(t, err)
				require.Equal(t, ours, again)
				if len(instruction.Args) > 0 {
					require.Equal(t, theirs.Interface(), decoded(t, theirs, ours.AppendData(nil)[8:]))
				}
			})
		})
	}
}
