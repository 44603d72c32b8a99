package model

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/gagliardetto/solana-go"
)

// AnyInstruction is an instruction whose accounts and arguments are fields, such as *SubmitOffer. The fields
// with an account tag list the accounts in order; the remaining fields list the arguments in order. A zero
// optional account is left out.
type AnyInstruction interface {
	execute(*execution) error
}

var prototypes = []AnyInstruction{
	(*InitializeConfig)(nil), (*UpdateConfig)(nil), (*SetPaused)(nil), (*ProposeAuthority)(nil),
	(*AcceptAuthority)(nil), (*CreateNegotiation)(nil), (*AcceptInvitation)(nil), (*SubmitOffer)(nil),
	(*AcceptOffer)(nil), (*RejectNegotiation)(nil), (*ExpireNegotiation)(nil), (*CloseNegotiation)(nil),
	(*ClaimPayout)(nil), (*SubmitZopaCommitment)(nil), (*RevealZopaPrice)(nil),
	(*ClaimMilestone)(nil), (*ReleaseMilestone)(nil), (*DisputeMilestone)(nil), (*ResolveDispute)(nil),
	(*SettleDeadline)(nil), (*SettleByAgreement)(nil),
}

// content is an account's required owner and content before the instruction.
type content string

const (
	existingNegotiation content = "negotiation"
	existingConfig      content = "config"
	vacantAccount       content = "vacant"
	mintAccount         content = "mint"
	loaderAccount       content = "loader"
)

type accountRow struct {
	name                       string
	signer, writable, optional bool
	content                    content
	field                      int
}

// row is an instruction's declaration.
type row struct {
	name          string
	discriminator []byte
	accounts      []accountRow
	argumentSize  int
	// bools lists the offsets of the arguments that must be 0 or 1.
	bools []int
	// arguments lists the indexes of the argument fields.
	arguments  []int
	structType reflect.Type
}

// rows maps discriminators to instructions.
var rows = map[string]*row{}

func init() {
	for _, prototype := range prototypes {
		r := newRow(reflect.TypeOf(prototype).Elem())
		rows[string(r.discriminator)] = r
	}
}

func newRow(structType reflect.Type) *row {
	r := &row{name: snakeCase(structType.Name()), structType: structType}
	r.discriminator = discriminator("global", r.name)
	for i := range structType.NumField() {
		field := structType.Field(i)
		if tag, isAccount := field.Tag.Lookup("account"); isAccount {
			r.accounts = append(r.accounts, newAccountRow(i, field.Name, tag))
		} else {
			r.arguments = append(r.arguments, i)
			r.addArgument(field.Type)
		}
	}
	return r
}

func newAccountRow(field int, name, tag string) accountRow {
	account := accountRow{name: snakeCase(name), field: field}
	for option := range strings.SplitSeq(tag, ",") {
		switch option {
		case "":
		case "signer":
			account.signer = true
		case "writable":
			account.writable = true
		case "optional":
			account.optional = true
		default:
			account.content = content(option)
		}
	}
	return account
}

// addArgument adds an argument's size, and each contained bool's offset.
func (r *row) addArgument(argument reflect.Type) {
	switch argument.Kind() {
	case reflect.Struct:
		for i := range argument.NumField() {
			r.addArgument(argument.Field(i).Type)
		}
		return
	case reflect.Bool:
		r.bools = append(r.bools, r.argumentSize)
	}
	r.argumentSize += int(argument.Size())
}

// snakeCase converts a Go name to the name in the IDL.
func snakeCase(name string) string {
	var converted strings.Builder
	for i, letter := range name {
		if i > 0 && unicode.IsUpper(letter) && unicode.IsLower(rune(name[i-1])) {
			converted.WriteByte('_')
		}
		converted.WriteRune(unicode.ToLower(letter))
	}
	return converted.String()
}

// Encode encodes an instruction as a transaction carries it, with the declared flags.
func Encode(instruction AnyInstruction) Instruction {
	value := reflect.ValueOf(instruction).Elem()
	r := rows[string(discriminator("global", snakeCase(value.Type().Name())))]
	encoded := Instruction{Program: ProgramID, Data: append([]byte(nil), r.discriminator...)}
	for _, account := range r.accounts {
		meta := solana.AccountMeta{
			PublicKey:  value.Field(account.field).Interface().(Address),
			IsSigner:   account.signer,
			IsWritable: account.writable,
		}
		if account.optional && meta.PublicKey == (Address{}) {
			meta = solana.AccountMeta{PublicKey: ProgramID}
		}
		encoded.Accounts = append(encoded.Accounts, meta)
	}
	for _, field := range r.arguments {
		encoded.Data = appendValue(encoded.Data, value.Field(field).Addr().Interface())
	}
	return encoded
}

// Decode returns an instruction's accounts and arguments. It skips the checks made by Execute, and returns
// false for a wrong discriminator, data size or number of accounts.
func Decode(instruction Instruction) (AnyInstruction, bool) {
	r := rowOf(instruction.Data)
	if r == nil || len(instruction.Data) != 8+r.argumentSize || len(instruction.Accounts) < len(r.accounts) {
		return nil, false
	}
	return r.decode(instruction), true
}

func (r *row) decode(instruction Instruction) AnyInstruction {
	value := reflect.New(r.structType)
	for i, account := range r.accounts {
		value.Elem().Field(account.field).Set(reflect.ValueOf(instruction.Accounts[i].PublicKey))
	}
	rest := instruction.Data[8:]
	for _, field := range r.arguments {
		rest = readValue(rest, value.Elem().Field(field).Addr().Interface())
	}
	return value.Interface().(AnyInstruction)
}

func rowOf(data []byte) *row {
	if len(data) < 8 {
		return nil
	}
	return rows[string(data[:8])]
}

// Names lists the instruction names in alphabetical order.
func Names() []string {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	slices.Sort(names)
	return names
}

// NameOf returns the instruction name for data, or an empty string if the discriminator is unknown.
func NameOf(data []byte) string {
	if r := rowOf(data); r != nil {
		return r.name
	}
	return ""
}

// Signers returns all accounts required to sign by the instruction's declaration. Other signers of the
// transaction, the fee payer among them, are not included.
func Signers(instruction Instruction) []Address {
	r := rowOf(instruction.Data)
	if r == nil {
		return nil
	}
	var signers []Address
	for i, account := range r.accounts {
		if account.signer && i < len(instruction.Accounts) {
			signers = append(signers, instruction.Accounts[i].PublicKey)
		}
	}
	return signers
}
