package protocol

import (
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
)

// Why bytes cannot be decoded. They are found in a *DecodeError with errors.Is.
var (
	// ErrWrongDiscriminator: the bytes are another thing's, or one's that this version does not know.
	ErrWrongDiscriminator = errors.New("wrong discriminator")
	// ErrWrongLength: there are bytes too few or too many.
	ErrWrongLength = errors.New("wrong length")
	// ErrOutOfRange: a flag is neither 0 nor 1, or an enum has no such value.
	ErrOutOfRange = errors.New("value out of range")
	// ErrTooFewAccounts: the instruction takes more accounts than there are.
	ErrTooFewAccounts = errors.New("too few accounts")
)

// DecodeError says which bytes are not what they should be.
type DecodeError struct {
	// Type is what was to be decoded: an account's or an event's name, or an instruction's as the IDL has it.
	Type string
	// Field is the field that is out of range; otherwise empty.
	Field string
	// Reason is one of the four errors above.
	Reason error
	// Detail says what was found.
	Detail string
}

func (e *DecodeError) Error() string {
	name := e.Type
	if e.Field != "" {
		name += "." + e.Field
	}
	return fmt.Sprintf("haggle: %s: %v: %s", name, e.Reason, e.Detail)
}

// Unwrap is the reason.
func (e *DecodeError) Unwrap() error { return e.Reason }

// MissingAccountError says which account an instruction cannot do without.
type MissingAccountError struct {
	// Instruction and Account are named as in the IDL.
	Instruction, Account string
}

func (e *MissingAccountError) Error() string {
	return fmt.Sprintf("haggle: %s: account %s is missing", e.Instruction, e.Account)
}

// unfit says why data is not size bytes that begin with a discriminator: that of another thing rather than its length.
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

// optionalMeta is Anchor's convention: the program's own address, without any flag, stands for no account.
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

// givenAddress undoes optionalMeta.
func givenAddress(meta *solana.AccountMeta) solana.PublicKey {
	if meta.PublicKey == ProgramID {
		return solana.PublicKey{}
	}
	return meta.PublicKey
}
