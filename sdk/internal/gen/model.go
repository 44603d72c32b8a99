package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gagliardetto/anchor-go/idl"
	"github.com/gagliardetto/anchor-go/idl/idltype"
)

// program is the data of the templates.
type program struct {
	Address      string
	Constants    []constant
	Enums        []enum
	Structs      []record
	Accounts     []record
	Events       []record
	Instructions []instruction
	Addresses    []derivation
	Errors       []idl.IdlErrorCode
}

type constant struct{ Comment, Name, Type, Value string }

type enum struct {
	Comment, Name string
	Variants      []string
}

// record is a struct; an account and an event have a discriminator in front.
type record struct {
	Comment, Name, Discriminator string
	Size                         int
	Fields                       []field
	Leaves                       []leaf
	Negotiation                  bool // has a field negotiation_id
}

// Label returns the record's name in errors.
func (r record) Label() string { return r.Name }

type field struct{ Comment, Name, Type string }

func model(file *idl.Idl) (*program, error) {
	if file.Address == nil {
		return nil, errors.New("the program's address is missing")
	}
	types := types{file.Types}
	p := &program{Address: file.Address.String(), Errors: file.Errors}
	for _, row := range file.Constants {
		p.Constants = append(p.Constants, constantOf(row))
	}
	known := map[string]bool{}
	for _, row := range file.Accounts {
		r, err := recordOf(types, row.Name, row.Discriminator, "is")
		if err != nil {
			return nil, err
		}
		p.Accounts, known[row.Name] = append(p.Accounts, r), true
	}
	for _, row := range file.Events {
		r, err := recordOf(types, row.Name, row.Discriminator, "says that")
		if err != nil {
			return nil, err
		}
		p.Events, known[row.Name] = append(p.Events, r), true
	}
	if err := p.addTypes(types, known); err != nil {
		return nil, err
	}
	for _, row := range file.Instructions {
		ix, err := p.instruction(types, row)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row.Name, err)
		}
		p.Instructions = append(p.Instructions, ix)
	}
	return p, nil
}

func constantOf(row idl.IdlConst) constant {
	name, goType := goName(row.Name), row.Ty.String()
	if wire, ok := primitives[goType]; ok {
		goType = wire.goType
	}
	return constant{Comment: comment(sentence(name+" is", row.Docs)), Name: name, Type: goType, Value: row.Value}
}

// addTypes adds the enums, and the structs that are not known as accounts or events.
func (p *program) addTypes(types types, known map[string]bool) error {
	for _, def := range types.IdTypeDef_slice {
		if known[def.Name] {
			continue
		}
		switch ty := def.Ty.(type) {
		case *idl.IdlTypeDefTyEnum:
			e := enum{Name: def.Name, Comment: comment(sentence(def.Name+" is", def.Docs))}
			for _, variant := range ty.Variants {
				if variant.Fields.IsSome() {
					return fmt.Errorf("%s::%s carries data, which is not supported", def.Name, variant.Name)
				}
				e.Variants = append(e.Variants, variant.Name)
			}
			p.Enums = append(p.Enums, e)
		default:
			r, err := recordOf(types, def.Name, nil, "is")
			if err != nil {
				return err
			}
			p.Structs = append(p.Structs, r)
		}
	}
	return nil
}

func recordOf(types types, name string, discriminator []byte, verb string) (record, error) {
	fields, ok := types.fields(&idltype.Defined{Name: name})
	if !ok {
		return record{}, fmt.Errorf("type %s is not defined as a struct", name)
	}
	r := record{
		Name:          name,
		Comment:       comment(sentence(name+" "+verb, types.ByName(name).Docs)),
		Discriminator: literal(discriminator),
	}
	var err error
	if r.Leaves, r.Size, err = types.layout(fields, "", len(discriminator)); err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	r.Fields, err = fieldsOf(types, fields)
	for _, f := range r.Fields {
		r.Negotiation = r.Negotiation || f.Name == "NegotiationID"
	}
	return r, err
}

func fieldsOf(types types, rows []idl.IdlField) ([]field, error) {
	var out []field
	for _, row := range rows {
		goType, err := types.goType(row.Ty)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row.Name, err)
		}
		out = append(out, field{Comment: comment(joined(row.Docs)), Name: goName(row.Name), Type: goType})
	}
	return out, nil
}

// literal returns bytes as a Go string.
func literal(data []byte) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, b := range data {
		fmt.Fprintf(&out, `\x%02x`, b)
	}
	out.WriteByte('"')
	return out.String()
}
