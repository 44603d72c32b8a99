package model

import "strconv"

// Code is the number of an error. Numbers below 6000 are Anchor's, except for those of the programs that are called.
type Code uint32

// Success is no error.
const Success Code = 0

// What the programs that are called answer.
const (
	// TooLittle is the system program's and the token programs' for lamports and tokens that are not there.
	TooLittle Code = 1
	// AccountFrozen is the token programs'.
	AccountFrozen Code = 17
	// GuardedTransfer is Token-2022's for an account that other programs may not take from.
	GuardedTransfer Code = 42
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
	TooLittle:                    "too little",
	AccountFrozen:                "AccountFrozen",
	GuardedTransfer:              "CpiGuardTransferBlocked",
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
	InvalidState:                 "InvalidState",
	Unauthorized:                 "Unauthorized",
	NotYourTurn:                  "NotYourTurn",
	Expired:                      "Expired",
	ResponseWindowExpired:        "ResponseWindowExpired",
	OfferTooLow:                  "OfferTooLow",
	OfferExceedsEscrow:           "OfferExceedsEscrow",
	MaxRoundsReached:             "MaxRoundsReached",
	InvalidParams:                "InvalidParams",
	Paused:                       "Paused",
	ZopaCommitmentMismatch:       "ZopaCommitmentMismatch",
	NoZopa:                       "NoZopa",
	Overflow:                     "Overflow",
	StaleState:                   "StaleState",
	UnsupportedMint:              "UnsupportedMint",
	PayoutPending:                "PayoutPending",
}

// String is the error's number and name.
func (c Code) String() string {
	if name := codeNames[c]; name != "" {
		return strconv.FormatUint(uint64(c), 10) + " " + name
	}
	return strconv.FormatUint(uint64(c), 10)
}

// Error makes a code an error, so that rules can be written as functions that fail.
func (c Code) Error() string { return c.String() }

// refuse fails with a code when something is so.
func refuse(when bool, code Code) error {
	if when {
		return code
	}
	return nil
}

// first is the first error of rules that are checked in this order. All of them are looked at, so they must only look.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
