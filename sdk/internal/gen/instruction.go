package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gagliardetto/anchor-go/idl"
)

// instruction is a struct of an instruction's accounts and arguments.
type instruction struct {
	Comment, Name, Discriminator string
	IDLName                      string
	Accounts                     []account
	Fields                       []field // the arguments
	Leaves                       []leaf
	Size                         int  // of the data
	Negotiation                  bool // acts on an existing negotiation
	CreatesNegotiation           bool
	Effects                      effects
}

// negotiationFields maps instruction fields to the negotiation fields that On copies into them.
var negotiationFields = map[string]string{
	"TokenMint":        "TokenMint",
	"CreatedAt":        "CreatedAt",
	"ExpectedRound":    "CurrentRound",
	"ExpectedAmount":   "CurrentOfferAmount",
	"ExpectedMetadata": "Metadata",
	"ExpectedDecided":  "MilestonesDecided",
}

// InNegotiation names the negotiation field that the field must equal; empty if there is none.
func (f field) InNegotiation() string { return negotiationFields[f.Name] }

// Label returns the instruction's name in errors.
func (ix instruction) Label() string { return ix.IDLName }

type account struct {
	field
	IDLName          string
	Writable, Signer bool
	Optional         bool
	Fixed            string // a Go expression for the only possible address
	Derived          string // a Go call that derives the address
}

// SystemProgram reports whether the account is the system program, whose address is zero and needs no
// default.
func (a account) SystemProgram() bool {
	return a.Fixed == "solana.SystemProgramID"
}

// Required reports whether the caller must set the account.
func (a account) Required() bool {
	return !a.Optional && a.Fixed == "" && a.Derived == ""
}

// Meta returns a Go expression for the account's meta in a complete instruction.
func (a account) Meta() string {
	if a.Optional {
		return fmt.Sprintf("optionalMeta(v.%s, %t, %t)", a.Name, a.Writable, a.Signer)
	}
	flags := ""
	if a.Writable {
		flags += ", IsWritable: true"
	}
	if a.Signer {
		flags += ", IsSigner: true"
	}
	return fmt.Sprintf("{PublicKey: v.%s%s}", a.Name, flags)
}

func (p *program) instruction(types types, row idl.IdlInstruction) (instruction, error) {
	name := goName(row.Name)
	ix := instruction{
		Comment:       comment(subject(name, row.Docs)),
		Name:          name,
		IDLName:       row.Name,
		Discriminator: literal(row.Discriminator),
	}
	taken := map[string]bool{}
	for _, item := range row.Accounts {
		single, ok := item.(*idl.IdlInstructionAccount)
		if !ok {
			return ix, errors.New("a group of accounts is not supported")
		}
		a, err := p.account(row, single)
		if err != nil {
			return ix, fmt.Errorf("%s: %w", single.Name, err)
		}
		taken[a.Name] = true
		ix.Negotiation = ix.Negotiation || a.Name == "Negotiation" && a.Derived == ""
		ix.CreatesNegotiation = ix.CreatesNegotiation || a.Name == "Negotiation" && a.Derived != ""
		ix.Accounts = append(ix.Accounts, a)
	}
	var err error
	if ix.Fields, err = fieldsOf(types, row.Args); err != nil {
		return ix, err
	}
	for _, arg := range ix.Fields {
		if taken[arg.Name] {
			return ix, fmt.Errorf("%s is both an account and an argument", arg.Name)
		}
		if strings.HasPrefix(arg.Name, "Expected") && arg.InNegotiation() == "" {
			return ix, fmt.Errorf("%s has no field of the negotiation that it is compared with", arg.Name)
		}
	}
	ix.Leaves, ix.Size, err = types.layout(row.Args, "", discriminatorSize)
	return ix, err
}

func (p *program) account(row idl.IdlInstruction, item *idl.IdlInstructionAccount) (account, error) {
	a := account{
		field:    field{Name: goName(item.Name), Type: "solana.PublicKey"},
		IDLName:  item.Name,
		Writable: item.Writable,
		Signer:   item.Signer,
		Optional: item.Optional,
	}
	remark := ""
	switch {
	case item.Optional:
		remark = " Zero leaves it out."
	case item.Address.IsSome():
		a.Fixed = fixedAddress(item.Address.Unwrap())
		remark = " Zero stands for " + item.Address.Unwrap().String() + "."
	case item.Pda.IsSome():
		d, err := p.derivation(row, item.Name, item.Pda.Unwrap())
		if err != nil {
			return a, err
		}
		a.Derived = d.call()
		remark = " Zero stands for the address that " + d.Func + " finds."
	}
	a.Comment = comment(joined(item.Docs) + remark)
	return a, nil
}
