package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gagliardetto/anchor-go/idl"
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
func (p *program) derivation(row idl.IdlInstruction, name string, pda idl.IdlPda) (derivation, error) {
	d := derivation{Func: "Find" + derivedName(name, pda) + "Address", Program: "ProgramID"}
	var params []parameter
	var described []string
	for _, seed := range pda.Seeds {
		switch seed := seed.(type) {
		case *idl.IdlSeedConst:
			d.Seeds = append(d.Seeds, constantSeed(seed.Value))
			described = append(described, describedSeed(seed.Value))
		case *idl.IdlSeedAccount:
			name := paramName(seed.Path)
			params = append(params, parameter{name, "solana.PublicKey"})
			d.Seeds = append(d.Seeds, name+"[:]")
			described = append(described, name)
			d.arguments = append(d.arguments, "v."+goName(seed.Path))
		case *idl.IdlSeedArg:
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
	if pda.Program.IsSome() {
		owner, ok := pda.Program.Unwrap().(*idl.IdlSeedConst)
		if !ok {
			return d, errors.New("a PDA of a program that is not constant is not supported")
		}
		d.Program = fixedAddress(solana.PublicKeyFromBytes(owner.Value))
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

// derivedName names a PDA after the first seed if that is text, otherwise after the instruction's account.
func derivedName(account string, pda idl.IdlPda) string {
	if first, ok := pda.Seeds[0].(*idl.IdlSeedConst); ok && isText(first.Value) {
		return goName(string(first.Value))
	}
	return goName(account)
}

func argument(row idl.IdlInstruction, path string) (string, wireType, error) {
	for _, arg := range row.Args {
		if arg.Name != path {
			continue
		}
		wire, ok := primitives[arg.Ty.String()]
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

func constantSeed(value []byte) string {
	if isText(value) {
		return fmt.Sprintf("[]byte(%q)", value)
	}
	return fmt.Sprintf("[]byte(%s)", literal(value))
}

func describedSeed(value []byte) string {
	if isText(value) {
		return fmt.Sprintf("%q", value)
	}
	return solana.PublicKeyFromBytes(value).String()
}

func isText(value []byte) bool {
	return !slices.ContainsFunc(value, func(b byte) bool { return b < ' ' || b > '~' })
}

// fixedAddress returns a Go expression for a constant address.
func fixedAddress(address solana.PublicKey) string {
	known := map[solana.PublicKey]string{
		solana.SystemProgramID:               "solana.SystemProgramID",
		solana.TokenProgramID:                "solana.TokenProgramID",
		solana.BPFLoaderUpgradeableProgramID: "solana.BPFLoaderUpgradeableProgramID",
	}
	if expression, ok := known[address]; ok {
		return expression
	}
	return fmt.Sprintf("solana.MustPublicKeyFromBase58(%q)", address)
}
