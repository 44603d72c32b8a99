package protocol

import (
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
)

// The reasons in a *DecodeError, for errors.Is.
var (
	// ErrWrongDiscriminator: the bytes encode a different or unknown type.
	ErrWrongDiscriminator = errors.New("wrong discriminator")
	// ErrWrongLength: too few or too many bytes.
	ErrWrongLength = errors.New("wrong length")
	// ErrOutOfRange: a flag is neither 0 nor 1, or an enum has no such value.
	ErrOutOfRange = errors.New("value out of range")
	// ErrTooFewAccounts: fewer accounts than the instruction requires.
	ErrTooFewAccounts = errors.New("too few accounts")
)

// DecodeError describes undecodable bytes.
type DecodeError struct {
	// Type is the name of the account, event or instruction, as in the IDL.
	Type string
	// Field is the field that is out of range, or empty.
	Field string
	// Reason is one of the four errors above.
	Reason error
	// Detail describes the bytes.
	Detail string
}

func (e *DecodeError) Error() string {
	name := e.Type
	if e.Field != "" {
		name += "." + e.Field
	}
	return fmt.Sprintf("haggle: %s: %v: %s", name, e.Reason, e.Detail)
}

// Unwrap returns the reason.
func (e *DecodeError) Unwrap() error { return e.Reason }

// MissingAccountError names an unset required account.
type MissingAccountError struct {
	// Instruction and Account are named as in the IDL.
	Instruction, Account string
}

func (e *MissingAccountError) Error() string {
	return fmt.Sprintf("haggle: %s: account %s is missing", e.Instruction, e.Account)
}

// unfit returns the error for data that are not size bytes with a discriminator at the beginning; a wrong
// discriminator takes precedence over a wrong length.
func unfit(name string, data []byte, discriminator string, size int) error {
	if len(data) >= len(discriminator) && string(data[:len(discriminator)]) != discriminator {
		return wrongDiscriminator(name, data)
	}
	return &DecodeError{Type: name, Reason: ErrWrongLength, Detail: fmt.Sprintf("%d bytes instead of %d", len(data), size)}
}

func tooShort(name string, data []byte) error {
	return &DecodeError{Type: name, Reason: ErrWrongLength, Detail: fmt.Sprintf("%d bytes are no discriminator", len(data))}
}

func wrongDiscriminator(name string, data []byte) error {
	return &DecodeError{Type: name, Reason: ErrWrongDiscriminator, Detail: fmt.Sprintf("%x", data[:8])}
}

func outOfRange(name, field string, got byte) error {
	return &DecodeError{Type: name, Field: field, Reason: ErrOutOfRange, Detail: fmt.Sprint(got)}
}

func tooFewAccounts(name string, got, want int) error {
	return &DecodeError{Type: name, Reason: ErrTooFewAccounts, Detail: fmt.Sprintf("%d instead of %d", got, want)}
}

func appendBool(dst []byte, value bool) []byte {
	if value {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// optionalMeta returns the account's meta. By Anchor's convention the program's own address, without flags,
// stands for no account.
func optionalMeta(account solana.PublicKey, writable, signer bool) solana.AccountMeta {
	if account.IsZero() {
		return solana.AccountMeta{PublicKey: ProgramID}
	}
	return solana.AccountMeta{PublicKey: account, IsWritable: writable, IsSigner: signer}
}

func metaSlice(metas []solana.AccountMeta) solana.AccountMetaSlice {
	pointers := make(solana.AccountMetaSlice, len(metas))
	for i := range metas {
		pointers[i] = &metas[i]
	}
	return pointers
}

// givenAddress is the inverse of optionalMeta.
func givenAddress(meta *solana.AccountMeta) solana.PublicKey {
	if meta.PublicKey == ProgramID {
		return solana.PublicKey{}
	}
	return meta.PublicKey
}

// InstructionIn decodes an instruction from an untrusted message. It returns an error if an account index is
// out of range, and nil for other programs' instructions.
func InstructionIn(message *solana.Message, compiled *solana.CompiledInstruction) (AnyInstruction, error) {
	metas, err := message.AccountMetaList()
	if err != nil {
		return nil, fmt.Errorf("haggle: accounts of the message: %w", err)
	}
	at := func(index uint16) (*solana.AccountMeta, error) {
		if int(index) >= len(metas) {
			return nil, fmt.Errorf("haggle: account index %d out of range: the message has %d accounts", index, len(metas))
		}
		return metas[index], nil
	}
	program, err := at(compiled.ProgramIDIndex)
	if err != nil || program.PublicKey != ProgramID {
		return nil, err
	}
	accounts := make([]*solana.AccountMeta, len(compiled.Accounts))
	for i, index := range compiled.Accounts {
		if accounts[i], err = at(index); err != nil {
			return nil, err
		}
	}
	return DecodeInstruction(accounts, compiled.Data)
}
