package model

import "strconv"

// Code is a program error number. Numbers between 100 and 5999 are Anchor's, numbers from 6000 the
// protocol's; the called programs return smaller numbers.
type Code uint32

// Success is the code for an instruction that succeeds.
const Success Code = 0

// Errors from the called programs.
const (
	// InsufficientFunds is returned by the system and token programs.
	InsufficientFunds Code = 1
	// AccountFrozen is returned by token programs.
	AccountFrozen Code = 17
	// MintRequiredForTransfer is returned by Token-2022.
	MintRequiredForTransfer Code = 31
	// CPIGuardTransferBlocked is returned by Token-2022.
	CPIGuardTransferBlocked Code = 42
)

// Anchor's errors.
const (
	InstructionMissing           Code = 100
	InstructionFallbackNotFound  Code = 101
	InstructionDidNotDeserialize Code = 102
	ConstraintMut                Code = 2000
	ConstraintHasOne             Code = 2001
	ConstraintRaw                Code = 2003
	ConstraintSeeds              Code = 2006
	DiscriminatorNotFound        Code = 3001
	DiscriminatorMismatch        Code = 3002
	AccountDidNotDeserialize     Code = 3003
	AccountNotEnoughKeys         Code = 3005
	AccountOwnedByWrongProgram   Code = 3007
	InvalidProgramID             Code = 3008
	AccountNotSigner             Code = 3010
	DeclaredProgramIDMismatch    Code = 4100
)

// The protocol's errors.
const (
	InvalidState Code = 6000 + iota
	Unauthorized
	NotYourTurn
	Expired
	ResponseWindowExpired
	OfferTooLow
	OfferExceedsEscrow
	MaxRoundsReached
	InvalidParams
	Paused
	ZopaCommitmentMismatch
	NoZopa
	Overflow
	StaleState
	UnsupportedMint
	PayoutPending
)

var codeNames = map[Code]string{
	Success:                      "success",
	InsufficientFunds:            "InsufficientFunds",
	AccountFrozen:                "AccountFrozen",
	MintRequiredForTransfer:      "MintRequiredForTransfer",
	CPIGuardTransferBlocked:      "CpiGuardTransferBlocked",
	InstructionMissing:           "InstructionMissing",
	InstructionFallbackNotFound:  "InstructionFallbackNotFound",
	InstructionDidNotDeserialize: "InstructionDidNotDeserialize",
	ConstraintMut:                "ConstraintMut",
	ConstraintHasOne:             "ConstraintHasOne",
	ConstraintRaw:                "ConstraintRaw",
	ConstraintSeeds:              "ConstraintSeeds",
	DiscriminatorNotFound:        "AccountDiscriminatorNotFound",
	DiscriminatorMismatch:        "AccountDiscriminatorMismatch",
	AccountDidNotDeserialize:     "AccountDidNotDeserialize",
	AccountNotEnoughKeys:         "AccountNotEnoughKeys",
	AccountOwnedByWrongProgram:   "AccountOwnedByWrongProgram",
	InvalidProgramID:             "InvalidProgramId",
	AccountNotSigner:             "AccountNotSigner",
	DeclaredProgramIDMismatch:    "DeclaredProgramIdMismatch",
}

// protocolNames lists the protocol's error names, from 6000.
var protocolNames = []string{
	"InvalidState", "Unauthorized", "NotYourTurn", "Expired", "ResponseWindowExpired", "OfferTooLow",
	"OfferExceedsEscrow", "MaxRoundsReached", "InvalidParams", "Paused", "ZopaCommitmentMismatch", "NoZopa",
	"Overflow", "StaleState", "UnsupportedMint", "PayoutPending",
}

// String returns the error's number and name.
func (c Code) String() string {
	if index := int(c) - int(InvalidState); index >= 0 && index < len(protocolNames) {
		return strconv.FormatUint(uint64(c), 10) + " " + protocolNames[index]
	}
	if name := codeNames[c]; name != "" {
		return strconv.FormatUint(uint64(c), 10) + " " + name
	}
	return strconv.FormatUint(uint64(c), 10)
}

// Error makes Code an error.
func (c Code) Error() string { return c.String() }

func failIf(condition bool, code Code) error {
	if condition {
		return code
	}
	return nil
}

// firstError returns the first non-nil error. The arguments are an instruction's checks, in the design's order.
// Go evaluates every argument, so no check may change anything.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
