package protocol

import "fmt"

// ErrorCode is the "custom program error" number in transaction logs when the program rejects an instruction.
// It is an error, so errors.Is can compare it. Codes from 6000 on belong to the program; lower codes belong
// to Anchor's framework checks.
type ErrorCode uint32

// Anchor's codes, as far as the program returns them.
const (
	// ErrInstructionMissing: the data is shorter than a discriminator.
	ErrInstructionMissing ErrorCode = 100
	// ErrInstructionFallbackNotFound: no instruction has this discriminator.
	ErrInstructionFallbackNotFound ErrorCode = 101
	// ErrInstructionDidNotDeserialize: the argument length is wrong, or a flag is out of range.
	ErrInstructionDidNotDeserialize ErrorCode = 102
	// ErrConstraintMut: an account must be writable.
	ErrConstraintMut ErrorCode = 2000
	// ErrConstraintHasOne: the negotiation stores another address for an account.
	ErrConstraintHasOne ErrorCode = 2001
	// ErrConstraintRaw: an account cannot be debited or paid at this position.
	ErrConstraintRaw ErrorCode = 2003
	// ErrConstraintSeeds: an account is not the PDA for this position.
	ErrConstraintSeeds ErrorCode = 2006
	// ErrAccountDiscriminatorNotFound: an account is too short for a discriminator.
	ErrAccountDiscriminatorNotFound ErrorCode = 3001
	// ErrAccountDiscriminatorMismatch: an account is of another type.
	ErrAccountDiscriminatorMismatch ErrorCode = 3002
	// ErrAccountDidNotDeserialize: an account's discriminator is right, but the length is wrong.
	ErrAccountDidNotDeserialize ErrorCode = 3003
	// ErrAccountNotEnoughKeys: there are fewer accounts than the instruction requires, or this negotiation
	// needs a missing optional account: for the bond, or for the refund when the revealed prices have no
	// zone.
	ErrAccountNotEnoughKeys ErrorCode = 3005
	// ErrAccountOwnedByWrongProgram: another program owns an account, or it does not exist.
	ErrAccountOwnedByWrongProgram ErrorCode = 3007
	// ErrInvalidProgramID: an account is not the program for this position.
	ErrInvalidProgramID ErrorCode = 3008
	// ErrAccountNotSigner: an account did not sign.
	ErrAccountNotSigner ErrorCode = 3010
	// ErrDeclaredProgramIDMismatch: the program is deployed at a different address than declared.
	ErrDeclaredProgramIDMismatch ErrorCode = 4100
)

// frameworkErrors holds Anchor's names and messages. The ErrAccountNotEnoughKeys message also mentions
// optional accounts.
var frameworkErrors = map[ErrorCode]struct{ name, message string }{
	ErrInstructionMissing: {"InstructionMissing", "Instruction discriminator not provided"},
	ErrInstructionFallbackNotFound: {"InstructionFallbackNotFound",
		"Fallback functions are not supported"},
	ErrInstructionDidNotDeserialize: {"InstructionDidNotDeserialize",
		"The program could not deserialize the given instruction"},
	ErrConstraintMut:    {"ConstraintMut", "A mut constraint was violated"},
	ErrConstraintHasOne: {"ConstraintHasOne", "A has one constraint was violated"},
	ErrConstraintRaw:    {"ConstraintRaw", "A raw constraint was violated"},
	ErrConstraintSeeds:  {"ConstraintSeeds", "A seeds constraint was violated"},
	ErrAccountDiscriminatorNotFound: {"AccountDiscriminatorNotFound",
		"No discriminator was found on the account"},
	ErrAccountDiscriminatorMismatch: {"AccountDiscriminatorMismatch",
		"Account discriminator did not match what was expected"},
	ErrAccountDidNotDeserialize: {"AccountDidNotDeserialize", "Failed to deserialize the account"},
	ErrAccountNotEnoughKeys: {"AccountNotEnoughKeys",
		"Not enough account keys given to the instruction, or an optional account left out " +
			"that this negotiation needs (a bond's, or a refund's)"},
	ErrAccountOwnedByWrongProgram: {"AccountOwnedByWrongProgram",
		"The given account is owned by a different program than expected"},
	ErrInvalidProgramID: {"InvalidProgramId", "Program ID was not as expected"},
	ErrAccountNotSigner: {"AccountNotSigner", "The given account did not sign"},
	ErrDeclaredProgramIDMismatch: {"DeclaredProgramIdMismatch",
		"The declared program id does not match the actual program id"},
}

func (c ErrorCode) names() (name, message string) {
	if name, message = ownError(c); name == "" {
		name, message = frameworkErrors[c].name, frameworkErrors[c].message
	}
	return name, message
}

// Name returns the error's name in the IDL or in Anchor, or "" for other codes.
func (c ErrorCode) Name() string {
	name, _ := c.names()
	return name
}

// Message returns a one-line description, or "" if the code belongs to neither the program nor Anchor.
func (c ErrorCode) Message() string {
	_, message := c.names()
	return message
}

func (c ErrorCode) Error() string {
	name, message := c.names()
	if name == "" {
		return fmt.Sprintf("program error %d", uint32(c))
	}
	return fmt.Sprintf("%s (%d): %s", name, uint32(c), message)
}
