package protocol

import "fmt"

// ErrorCode is the number with which the program rejects an instruction ("custom program error" in a
// transaction's logs). It is an error, so errors.Is can compare it. Codes from 6000 on are the program's;
// those below are Anchor's, for the checks of its framework.
type ErrorCode uint32

// Anchor's codes, as far as the program returns them.
const (
	// ErrInstructionMissing: the data is shorter than a discriminator.
	ErrInstructionMissing ErrorCode = 100
	// ErrInstructionFallbackNotFound: no instruction has this discriminator.
	ErrInstructionFallbackNotFound ErrorCode = 101
	// ErrInstructionDidNotDeserialize: the arguments have the wrong length, or a flag is out of range.
	ErrInstructionDidNotDeserialize ErrorCode = 102
	// ErrConstraintMut: an account must be writable.
	ErrConstraintMut ErrorCode = 2000
	// ErrConstraintHasOne: the negotiation stores another address for an account.
	ErrConstraintHasOne ErrorCode = 2001
	// ErrConstraintRaw: an account cannot be debited or paid in its position.
	ErrConstraintRaw ErrorCode = 2003
	// ErrConstraintSeeds: an account is not the PDA of its position.
	ErrConstraintSeeds ErrorCode = 2006
	// ErrAccountDiscriminatorNotFound: an account is too short for a discriminator.
	ErrAccountDiscriminatorNotFound ErrorCode = 3001
	// ErrAccountDiscriminatorMismatch: an account is of another type.
	ErrAccountDiscriminatorMismatch ErrorCode = 3002
	// ErrAccountDidNotDeserialize: an account has the right discriminator and the wrong length.
	ErrAccountDidNotDeserialize ErrorCode = 3003
	// ErrAccountNotEnoughKeys: there are fewer accounts than the instruction requires, or an optional one is
	// missing that this negotiation needs: those of a bond, or those of the refund when the revealed prices
	// have no zone.
	ErrAccountNotEnoughKeys ErrorCode = 3005
	// ErrAccountOwnedByWrongProgram: another program owns an account, or it does not exist.
	ErrAccountOwnedByWrongProgram ErrorCode = 3007
	// ErrInvalidProgramID: an account is not the program of its position.
	ErrInvalidProgramID ErrorCode = 3008
	// ErrAccountNotSigner: an account has not signed.
	ErrAccountNotSigner ErrorCode = 3010
	// ErrDeclaredProgramIDMismatch: the program is deployed at another address than its own.
	ErrDeclaredProgramIDMismatch ErrorCode = 4100
)

// frameworkError returns Anchor's name and message of a code.
func frameworkError(code ErrorCode) (name, message string) {
	switch code {
	case ErrInstructionMissing:
		return "InstructionMissing", "Instruction discriminator not provided"
	case ErrInstructionFallbackNotFound:
		return "InstructionFallbackNotFound", "Fallback functions are not supported"
	case ErrInstructionDidNotDeserialize:
		return "InstructionDidNotDeserialize", "The program could not deserialize the given instruction"
	case ErrConstraintMut:
		return "ConstraintMut", "A mut constraint was violated"
	case ErrConstraintHasOne:
		return "ConstraintHasOne", "A has one constraint was violated"
	case ErrConstraintRaw:
		return "ConstraintRaw", "A raw constraint was violated"
	case ErrConstraintSeeds:
		return "ConstraintSeeds", "A seeds constraint was violated"
	case ErrAccountDiscriminatorNotFound:
		return "AccountDiscriminatorNotFound", "No discriminator was found on the account"
	case ErrAccountDiscriminatorMismatch:
		return "AccountDiscriminatorMismatch", "Account discriminator did not match what was expected"
	case ErrAccountDidNotDeserialize:
		return "AccountDidNotDeserialize", "Failed to deserialize the account"
	case ErrAccountNotEnoughKeys:
		return "AccountNotEnoughKeys", "Not enough account keys given to the instruction, or an optional account left out that this negotiation needs (a bond's, or a refund's)"
	case ErrAccountOwnedByWrongProgram:
		return "AccountOwnedByWrongProgram", "The given account is owned by a different program than expected"
	case ErrInvalidProgramID:
		return "InvalidProgramId", "Program ID was not as expected"
	case ErrAccountNotSigner:
		return "AccountNotSigner", "The given account did not sign"
	case ErrDeclaredProgramIDMismatch:
		return "DeclaredProgramIdMismatch", "The declared program id does not match the actual program id"
	}
	return "", ""
}

func (c ErrorCode) names() (name, message string) {
	if name, message = ownError(c); name == "" {
		name, message = frameworkError(c)
	}
	return name, message
}

// Name returns the error's name in the IDL or in Anchor; empty for other codes.
func (c ErrorCode) Name() string {
	name, _ := c.names()
	return name
}

// Message returns a one-line description; empty for a code of neither the program nor Anchor.
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
