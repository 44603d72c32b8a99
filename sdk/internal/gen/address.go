package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"
)

// derivation is a function that returns a PDA.
type derivation struct {
	Comment, Func string
	Params        string // of the function
	Seeds         []string
	Program       string
	arguments     []string // the instruction's fields with them
}

func (d derivation) call() string {
	return fmt.Sprintf("%s(%s)", d.Func, strings.Join(d.arguments, ", "))
}

// derivation returns the function for a PDA's seeds, and adds it if it is new.
func (p *program) derivation(row idlInstruction, item idlAccount) (derivation, error) {
	d := derivation{Func: "Find" + derivedName(item) + "Address", Program: "ProgramID"}
	var params []parameter
	var described []string
	for _, seed := range item.PDA.Seeds {
		switch seed.Kind {
		case "const":
			d.Seeds = append(d.Seeds, constantSeed(seed.Value))
			described = append(described, describedSeed(seed.Value))
		case "account":
			name := paramName(seed.Path)
			params = append(params, parameter{name, "solana.PublicKey"})
			d.Seeds = append(d.Seeds, name+"[:]")
			described = append(described, name)
			d.arguments = append(d.arguments, "v."+goName(seed.Path))
		case "arg":
			name, wire, err := argument(row, seed.Path)
			if err != nil {
				return d, err
			}
			params = append(params, parameter{name, wire.goType})
			d.Seeds = append(d.Seeds, integerSeed(name, wire))
			described = append(described, fmt.Sprintf("%s as %d bytes little endian", name, wire.size))
			d.arguments = append(d.arguments, "v."+goName(seed.Path))
		}
	}
	if item.PDA.Program != nil {
		d.Program = fixedAddress(addressOf(item.PDA.Program.Value))
	}
	d.Params = parameterList(params)
	d.Comment = comment(fmt.Sprintf("%s finds the PDA of %s for the seeds %s, and its bump.",
		d.Func, d.Program, strings.Join(described, ", ")))
	return d, p.addDerivation(d)
}

type parameter struct{ name, goType string }

// parameterList states a type once for neighbouring parameters of that type.
func parameterList(params []parameter) string {
	var out strings.Builder
	for i, p := range params {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(p.name)
		if i == len(params)-1 || params[i+1].goType != p.goType {
			out.WriteString(" " + p.goType)
		}
	}
	return out.String()
}

func (p *program) addDerivation(d derivation) error {
	for _, known := range p.Addresses {
		if known.Func == d.Func {
			if known.Params != d.Params || !slices.Equal(known.Seeds, d.Seeds) {
				return fmt.Errorf("%s would have two meanings", d.Func)
			}
			return nil
		}
	}
	p.Addresses = append(p.Addresses, d)
	return nil
}

// derivedName names a PDA after its first seed if that is text, otherwise after the instruction's account.
func derivedName(item idlAccount) string {
	first := item.PDA.Seeds[0]
	if first.Kind == "const" && isText(first.Value) {
		return goName(string(toBytes(first.Value)))
	}
	return goName(item.Name)
}

func argument(row idlInstruction, path string) (string, wireType, error) {
	for _, arg := range row.Args {
		if arg.Name != path {
			continue
		}
		wire, ok := primitives[arg.Type.Primitive]
		if !ok || wire.kind != unsignedKind {
			return "", wire, fmt.Errorf("%s cannot be a seed", path)
		}
		return paramName(path), wire, nil
	}
	return "", wireType{}, fmt.Errorf("there is no argument %s for a seed", path)
}

func integerSeed(name string, wire wireType) string {
	if wire.bits == 8 {
		return fmt.Sprintf("[]byte{%s}", name)
	}
	return fmt.Sprintf("binary.LittleEndian.AppendUint%d(nil, %s)", wire.bits, name)
}

func constantSeed(value []int) string {
	if isText(value) {
		return fmt.Sprintf("[]byte(%q)", toBytes(value))
	}
	return fmt.Sprintf("[]byte(%s)", literal(value))
}

func describedSeed(value []int) string {
	if isText(value) {
		return fmt.Sprintf("%q", toBytes(value))
	}
	return addressOf(value)
}

func isText(value []int) bool {
	return !slices.ContainsFunc(value, func(b int) bool { return b < ' ' || b > '~' })
}

func toBytes(value []int) []byte {
	out := make([]byte, len(value))
	for i, b := range value {
		out[i] = byte(b)
	}
	return out
}

func addressOf(value []int) string {
	return solana.PublicKeyFromBytes(toBytes(value)).String()
}

// fixedAddress returns the Go expression of a constant address.
func fixedAddress(address string) string {
	known := map[string]string{
		solana.SystemProgramID.String():               "solana.SystemProgramID",
		solana.TokenProgramID.String():                "solana.TokenProgramID",
		solana.BPFLoaderUpgradeableProgramID.String(): "solana.BPFLoaderUpgradeableProgramID",
	}
	if expression, ok := known[address]; ok {
		return expression
	}
	return fmt.Sprintf("solana.MustPublicKeyFromBase58(%q)", address)
}
