package main

import (
	"fmt"
	"strings"
)

// discriminatorSize is the number of leading bytes that identify an account, an event or an instruction.
const discriminatorSize = 8

// leaf is a field of fixed width at a fixed offset; nested structs are flattened.
type leaf struct {
	Path   string // as Go selects it: Params.EscrowAmount
	Offset int
	wire   wireType
}

// wireType is the encoding of a value and its Go type.
type wireType struct {
	kind     wireKind
	goType   string
	size     int
	elements int // of an array of integers
	bits     int // of an integer, or of an array's elements
	maximum  int // of a flag or an enum
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

// types has the IDL's named types.
type types map[string]*idlTypeDef

func (t types) wire(ty idlType) (wireType, error) {
	switch {
	case ty.Primitive != "":
		wire, ok := primitives[ty.Primitive]
		if !ok {
			return wire, fmt.Errorf("type %s is not supported", ty.Primitive)
		}
		return wire, nil
	case ty.Element != "":
		return arrayOf(ty)
	}
	def, ok := t[ty.Defined]
	if !ok {
		return wireType{}, fmt.Errorf("type %s is not defined", ty.Defined)
	}
	if def.Type.Kind != "enum" {
		return wireType{}, fmt.Errorf("type %s has no width of its own", ty.Defined)
	}
	return wireType{kind: enumKind, goType: def.Name, size: 1, maximum: len(def.Type.Variants) - 1}, nil
}

func arrayOf(ty idlType) (wireType, error) {
	element, ok := primitives[ty.Element]
	if !ok || element.kind != unsignedKind {
		return wireType{}, fmt.Errorf("an array of %s is not supported", ty.Element)
	}
	array := wireType{
		kind:     integersKind,
		goType:   fmt.Sprintf("[%d]%s", ty.Length, element.goType),
		size:     ty.Length * element.size,
		elements: ty.Length,
		bits:     element.bits,
	}
	if element.size == 1 {
		array.kind, array.goType = bytesKind, fmt.Sprintf("[%d]byte", ty.Length)
	}
	return array, nil
}

func (t types) isStruct(ty idlType) bool {
	def, ok := t[ty.Defined]
	return ok && def.Type.Kind == "struct"
}

// goType returns the Go type of a struct's field.
func (t types) goType(ty idlType) (string, error) {
	if t.isStruct(ty) {
		return ty.Defined, nil
	}
	wire, err := t.wire(ty)
	return wire.goType, err
}

// layout returns the leaves of fields that start at offset, and their end.
func (t types) layout(fields []idlField, prefix string, offset int) ([]leaf, int, error) {
	var leaves []leaf
	for _, field := range fields {
		path := prefix + goName(field.Name)
		if t.isStruct(field.Type) {
			nested, end, err := t.layout(t[field.Type.Defined].Type.Fields, path+".", offset)
			if err != nil {
				return nil, 0, err
			}
			leaves, offset = append(leaves, nested...), end
			continue
		}
		wire, err := t.wire(field.Type)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", path, err)
		}
		leaves = append(leaves, leaf{Path: path, Offset: offset, wire: wire})
		offset += wire.size
	}
	return leaves, offset, nil
}

// Check returns the condition under which the byte in data is not a value of the leaf; empty if every byte is
// one.
func (l leaf) Check() string {
	if l.wire.kind != flagKind && l.wire.kind != enumKind {
		return ""
	}
	return fmt.Sprintf("data[%d] > %d", l.Offset, l.wire.maximum)
}

// Read returns the statement that reads the leaf of v from data.
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

// Append returns the statement that appends the leaf of v to dst.
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

// Constant returns the leaf's part of a constant's name.
func (l leaf) Constant() string {
	return strings.ReplaceAll(l.Path, ".", "")
}
