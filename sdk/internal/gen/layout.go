package main

import (
	"fmt"
	"strings"

	"github.com/gagliardetto/anchor-go/idl"
	"github.com/gagliardetto/anchor-go/idl/idltype"
)

// discriminatorSize is the number of leading bytes that identify an account, an event or an instruction.
const discriminatorSize = 8

// leaf is a field of fixed width at a fixed offset; nested structs are flattened.
type leaf struct {
	Path   string // as Go selects it: Params.EscrowAmount
	Offset int
	wire   wireType
}

// wireType is a value's encoding and Go type.
type wireType struct {
	kind     wireKind
	goType   string
	size     int
	elements int // of an array of integers
	bits     int // of an integer, or of an array's elements
	maximum  int // a flag's or enum's
}

type wireKind int

const (
	flagKind wireKind = iota
	enumKind
	unsignedKind
	signedKind
	bytesKind
	integersKind
)

var primitives = map[string]wireType{
	"bool":   {kind: flagKind, goType: "bool", size: 1, maximum: 1},
	"u8":     {kind: unsignedKind, goType: "uint8", size: 1, bits: 8},
	"u16":    {kind: unsignedKind, goType: "uint16", size: 2, bits: 16},
	"u32":    {kind: unsignedKind, goType: "uint32", size: 4, bits: 32},
	"u64":    {kind: unsignedKind, goType: "uint64", size: 8, bits: 64},
	"i64":    {kind: signedKind, goType: "int64", size: 8, bits: 64},
	"pubkey": {kind: bytesKind, goType: "solana.PublicKey", size: 32},
}

// types holds the IDL's named types.
type types struct{ idl.IdTypeDef_slice }

func (t types) wire(ty idltype.IdlType) (wireType, error) {
	switch ty := ty.(type) {
	case *idltype.Array:
		return arrayOf(ty)
	case *idltype.Defined:
		def := t.ByName(ty.Name)
		if def == nil {
			return wireType{}, fmt.Errorf("type %s is not defined", ty.Name)
		}
		enum, ok := def.Ty.(*idl.IdlTypeDefTyEnum)
		if !ok {
			return wireType{}, fmt.Errorf("type %s has no width of its own", ty.Name)
		}
		return wireType{kind: enumKind, goType: ty.Name, size: 1, maximum: len(enum.Variants) - 1}, nil
	}
	wire, ok := primitives[ty.String()]
	if !ok {
		return wire, fmt.Errorf("type %s is not supported", ty)
	}
	return wire, nil
}

func arrayOf(ty *idltype.Array) (wireType, error) {
	element, ok := primitives[ty.Type.String()]
	length, fixed := ty.Size.(*idltype.IdlArrayLenValue)
	if !ok || !fixed || element.kind != unsignedKind {
		return wireType{}, fmt.Errorf("an array of %s is not supported", ty.Type)
	}
	array := wireType{
		kind:     integersKind,
		goType:   fmt.Sprintf("[%d]%s", length.Value, element.goType),
		size:     length.Value * element.size,
		elements: length.Value,
		bits:     element.bits,
	}
	if element.size == 1 {
		array.kind, array.goType = bytesKind, fmt.Sprintf("[%d]byte", length.Value)
	}
	return array, nil
}

// fields returns a struct's fields; false for any other type.
func (t types) fields(ty idltype.IdlType) ([]idl.IdlField, bool) {
	named, ok := ty.(*idltype.Defined)
	if !ok {
		return nil, false
	}
	def := t.ByName(named.Name)
	if def == nil {
		return nil, false
	}
	record, ok := def.Ty.(*idl.IdlTypeDefTyStruct)
	if !ok {
		return nil, false
	}
	fields, ok := record.Fields.(idl.IdlDefinedFieldsNamed)
	return fields, ok
}

// goType returns the Go type for a struct's field.
func (t types) goType(ty idltype.IdlType) (string, error) {
	if _, ok := t.fields(ty); ok {
		return ty.(*idltype.Defined).Name, nil
	}
	wire, err := t.wire(ty)
	return wire.goType, err
}

// layout returns the leaves of fields that start at offset, and their end.
func (t types) layout(fields []idl.IdlField, prefix string, offset int) ([]leaf, int, error) {
	var leaves []leaf
	for _, field := range fields {
		path := prefix + goName(field.Name)
		if inner, ok := t.fields(field.Ty); ok {
			nested, end, err := t.layout(inner, path+".", offset)
			if err != nil {
				return nil, 0, err
			}
			leaves, offset = append(leaves, nested...), end
			continue
		}
		wire, err := t.wire(field.Ty)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", path, err)
		}
		leaves = append(leaves, leaf{Path: path, Offset: offset, wire: wire})
		offset += wire.size
	}
	return leaves, offset, nil
}

// Check returns a condition that is true if the byte in data is not a value of the leaf; empty if every byte
// is.
func (l leaf) Check() string {
	if l.wire.kind != flagKind && l.wire.kind != enumKind {
		return ""
	}
	return fmt.Sprintf("data[%d] > %d", l.Offset, l.wire.maximum)
}

// Read returns a statement that reads the leaf of v from data.
func (l leaf) Read() string {
	at, end := l.Offset, l.Offset+l.wire.size
	switch l.wire.kind {
	case flagKind:
		return fmt.Sprintf("v.%s = data[%d] == 1", l.Path, at)
	case enumKind:
		return fmt.Sprintf("v.%s = %s(data[%d])", l.Path, l.wire.goType, at)
	case bytesKind:
		return fmt.Sprintf("v.%s = %s(data[%d:%d])", l.Path, l.wire.goType, at, end)
	case integersKind:
		return fmt.Sprintf("for i := range v.%s {\nv.%s[i] = binary.LittleEndian.Uint%d(data[%d+%d*i:])\n}",
			l.Path, l.Path, l.wire.bits, at, l.wire.bits/8)
	}
	if l.wire.bits == 8 {
		return fmt.Sprintf("v.%s = data[%d]", l.Path, at)
	}
	value := fmt.Sprintf("binary.LittleEndian.Uint%d(data[%d:%d])", l.wire.bits, at, end)
	if l.wire.kind == signedKind {
		value = fmt.Sprintf("%s(%s)", l.wire.goType, value)
	}
	return fmt.Sprintf("v.%s = %s", l.Path, value)
}

// Append returns a statement that appends the leaf of v to dst.
func (l leaf) Append() string {
	value := "v." + l.Path
	switch l.wire.kind {
	case flagKind:
		return fmt.Sprintf("dst = appendBool(dst, %s)", value)
	case enumKind:
		return fmt.Sprintf("dst = append(dst, byte(%s))", value)
	case bytesKind:
		return fmt.Sprintf("dst = append(dst, %s[:]...)", value)
	case integersKind:
		return fmt.Sprintf("for _, n := range %s {\ndst = binary.LittleEndian.AppendUint%d(dst, n)\n}", value, l.wire.bits)
	}
	if l.wire.bits == 8 {
		return fmt.Sprintf("dst = append(dst, %s)", value)
	}
	if l.wire.kind == signedKind {
		value = fmt.Sprintf("u%s(%s)", l.wire.goType, value)
	}
	return fmt.Sprintf("dst = binary.LittleEndian.AppendUint%d(dst, %s)", l.wire.bits, value)
}

// Constant returns the leaf's part in constant names.
func (l leaf) Constant() string {
	return strings.ReplaceAll(l.Path, ".", "")
}
