package transaction

import (
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
)

var (
	// ErrExpired: the blockhash expired before the transaction was executed, and it never will be. The
	// instructions are safe to send again. A transaction with a blockhash is at least 90 seconds old by the
	// local clock, and every node that responds agrees: the finalized height is beyond the last valid one,
	// the finalized blockhashes no longer contain the transaction's, and the node knows no status. With a
	// durable nonce, every node that responds shows a different nonce value instead.
	ErrExpired = WithOutcome(errors.New("the transaction expired before it was executed"), Expired)
	// ErrMissingSigner: the caller gave no signer for an account that must sign.
	ErrMissingSigner = WithOutcome(errors.New("missing signer"), NotSent)
	// ErrNotASigner: the caller gave a signer that the transaction does not need.
	ErrNotASigner = WithOutcome(errors.New("not a signer of the transaction"), NotSent)
	// ErrNotANonce: the account holds no durable nonce.
	ErrNotANonce = errors.New("not a nonce account")
	// ErrNotFound: no node returns the transaction. That alone does not prove that it was never executed.
	ErrNotFound = errors.New("no node has the transaction")
	// ErrDetailsUnavailable: the transaction is confirmed, but the node lacks the logs, or they are cut off.
	// The receipt is correct but incomplete: it contains at least signature, slot and elapsed time.
	ErrDetailsUnavailable = WithOutcome(errors.New("confirmed, but the transaction's details are unavailable"),
		Confirmed)
)

// ReasonCustom marks an error with a program's own number.
const ReasonCustom = "Custom"

// Error is a transaction's failure for any reason: a program's refusal, or the chain's own.
type Error struct {
	// Reason is the chain's error name, such as InsufficientFundsForFee, AccountInUse, or Custom for a
	// program's own number.
	Reason string
	// Instruction is the failed instruction's index in the transaction, from 0, or -1 if no instruction
	// failed.
	Instruction int
	// Program is the failed program; zero if none failed, or if the logs do not show it.
	Program solana.PublicKey
	// Code is the program's own error number if Reason is Custom. The meaning depends on Program.
	Code uint32
	// Logs contains the transaction's logs.
	Logs []string
	// Signature identifies the failed transaction. It is zero if the failure was simulated and nothing sent.
	Signature solana.Signature
	// Cause explains the failure, if the sender knows more than the chain's error; otherwise nil.
	Cause error
}

func (e *Error) Error() string {
	text := "transaction failed: " + e.Reason
	if e.Reason == ReasonCustom {
		text = fmt.Sprintf("transaction failed: error %d", e.Code)
	}
	if !e.Program.IsZero() {
		text += " of program " + e.Program.String()
	}
	if e.Instruction >= 0 {
		text += fmt.Sprintf(" in instruction %d", e.Instruction)
	}
	if meaning := e.explanation(); meaning != "" {
		text += ": " + meaning
	}
	if !e.Signature.IsZero() {
		text += fmt.Sprintf(" (transaction %s)", e.Signature)
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// TransactionOutcome returns [Failed], or [NotSent] if Signature is zero.
func (e *Error) TransactionOutcome() Outcome { return OfFailure(e.Signature) }

// explanation returns a sentence for the errors that a party can cause; empty for others.
func (e *Error) explanation() string {
	if e.Cause != nil {
		return e.Cause.Error()
	}
	switch e.Reason {
	case "AccountNotFound":
		return "the payer has no lamports"
	case "InsufficientFundsForFee":
		return "the payer has too few lamports for the fee"
	case "InsufficientFundsForRent":
		return "an account would be left with too few lamports for its rent"
	case ReasonCustom:
		return customExplanations[e.Program][e.Code]
	}
	return ""
}

// customExplanations explain the error numbers of the programs that most others call.
var customExplanations = map[solana.PublicKey]map[uint32]string{
	solana.SystemProgramID: {
		1: "too few lamports",
	},
	solana.TokenProgramID: {
		1:  "too few tokens",
		3:  "the account is of another mint",
		4:  "the account is not the signer's",
		17: "the account is frozen",
	},
	solana.Token2022ProgramID: {
		1:  "too few tokens",
		3:  "the account is of another mint",
		4:  "the account is not the signer's",
		17: "the account is frozen",
		42: "the account's CPI guard does not let a program take tokens from it",
	},
}

// UnknownOutcomeError reports that a transaction was sent and the outcome is unknown: no node could be
// reached any longer, or the context ended. Nothing must be repeated before the outcome is known.
//
// All fields but Cause can be stored and used by another process.
type UnknownOutcomeError struct {
	// Signature identifies the transaction.
	Signature solana.Signature
	// LastValidBlockHeight is the greatest block height that allows executing the transaction; zero with
	// Nonce.
	LastValidBlockHeight uint64
	// Blockhash is the transaction's blockhash; with Nonce the nonce's value.
	Blockhash solana.Hash
	// Nonce is the durable nonce account used by the transaction; zero if none.
	Nonce solana.PublicKey
	// Slot is a lower bound for the slot that can include the transaction; zero if unknown. Long after, only
	// a node that kept the blocks since then can prove that it was not executed.
	Slot uint64
	// SentAt is the machine's time of the first broadcast.
	SentAt time.Time
	// Cause is the reason why the client stopped checking.
	Cause error
}

func (e *UnknownOutcomeError) Error() string {
	return fmt.Sprintf("outcome of transaction %s unknown: %v", e.Signature, e.Cause)
}

// Unwrap returns the cause.
func (e *UnknownOutcomeError) Unwrap() error { return e.Cause }

// TransactionOutcome returns [Unknown], whatever the cause is.
func (e *UnknownOutcomeError) TransactionOutcome() Outcome { return Unknown }
