package main

import (
	"fmt"
	"strings"

	"github.com/gagliardetto/solana-go"
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
	Errors       []idlError
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

func model(file *idlFile) (*program, error) {
	types := types{}
	for i := range file.Types {
		types[file.Types[i].Name] = &file.Types[i]
	}
	p := &program{Address: file.Address, Errors: file.Errors}
	if _, err := solana.PublicKeyFromBase58(file.Address); err != nil {
		return nil, fmt.Errorf("the program's address: %w", err)
	}
	for _, row := range file.Constants {
		p.Constants = append(p.Constants, constantOf(row))
	}
	var err error
	if p.Accounts, err = records(types, file.Accounts, "is"); err != nil {
		return nil, err
	}
	if p.Events, err = records(types, file.Events, "says that"); err != nil {
		return nil, err
	}
	if err := p.addTypes(types, file); err != nil {
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

func constantOf(row idlConstant) constant {
	name, goType := goName(row.Name), row.Type.Primitive
	if wire, ok := primitives[goType]; ok {
		goType = wire.goType
	}
	return constant{Comment: comment(sentence(name+" is", row.Docs)), Name: name, Type: goType, Value: row.Value}
}

// addTypes adds the enums, and the structs that are neither accounts nor events.
func (p *program) addTypes(types types, file *idlFile) error {
	known := map[string]bool{}
	for _, row := range append(append([]idlRecord{}, file.Accounts...), file.Events...) {
		known[row.Name] = true
	}
	for _, def := range file.Types {
		switch {
		case known[def.Name]:
		case def.Type.Kind == "enum":
			e := enum{Name: def.Name, Comment: comment(sentence(def.Name+" is", def.Docs))}
			for _, variant := range def.Type.Variants {
				if len(variant.Fields) > 0 {
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

func records(types types, rows []idlRecord, verb string) ([]record, error) {
	var out []record
	for _, row := range rows {
		r, err := recordOf(types, row.Name, row.Discriminator, verb)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func recordOf(types types, name string, discriminator []int, verb string) (record, error) {
	def, ok := types[name]
	if !ok {
		return record{}, fmt.Errorf("type %s is not defined", name)
	}
	r := record{
		Name:          name,
		Comment:       comment(sentence(name+" "+verb, def.Docs)),
		Discriminator: literal(discriminator),
	}
	var err error
	if r.Leaves, r.Size, err = types.layout(def.Type.Fields, "", len(discriminator)); err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	r.Fields, err = fieldsOf(types, def.Type.Fields)
	for _, f := range r.Fields {
		r.Negotiation = r.Negotiation || f.Name == "NegotiationID"
	}
	return r, err
}

func fieldsOf(types types, rows []idlField) ([]field, error) {
	var out []field
	for _, row := range rows {
		goType, err := types.goType(row.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row.Name, err)
		}
		out = append(out, field{Comment: comment(joined(row.Docs)), Name: goName(row.Name), Type: goType})
	}
	return out, nil
}

// literal returns bytes as a Go string.
func literal(data []int) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, b := range data {
		fmt.Fprintf(&out, `\x%02x`, b)
	}
	out.WriteByte('"')
	return out.String()
}
