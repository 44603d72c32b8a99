package haggle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Errors of the client itself, not of the program.
var (
	// ErrTransactionExpired: the transaction was not executed before its blockhash expired, and never will
	// be. The action is safe to repeat. (The program's own Expired, 6003, is [protocol.ErrExpired].)
	ErrTransactionExpired = errors.New("haggle: the transaction expired before it was executed")
	// ErrSessionUsed: this pair has used the session id before, even if no account of it is left on chain.
	ErrSessionUsed = errors.New("haggle: session id has been used before")
	// ErrNotAsExpected: the caller's expectation differs from the state on chain. Nothing has been signed.
	ErrNotAsExpected = errors.New("haggle: the negotiation is not as expected")
	// ErrMissingSigner: the caller gave no signer for an account that has to sign.
	ErrMissingSigner = errors.New("haggle: missing signer")
	// ErrNotASigner: the caller gave a signer that the transaction does not need.
	ErrNotASigner = errors.New("haggle: not a signer of the transaction")
	// ErrTokenProgramTooOld: the cluster's SPL Token does not support batches, with which the program moves
	// tokens. Nothing has been deposited. docs/DEPLOYMENT.md lists the requirements for a cluster.
	ErrTokenProgramTooOld = errors.New("haggle: the cluster's token program does not support batches (p-token is required)")
	// ErrOffCurve: a party's address is not a public key. A program signs for it, such as a multisignature's
	// or a custodian's, which may act for several users under this one address: a payment to it names no
	// user. It is a warning: see [Action.Warnings].
	ErrOffCurve = errors.New("haggle: address of a program, which may act for several users")
	// ErrDetailsUnavailable: the action has been confirmed, but the node does not have its logs, or they are
	// cut off. The receipt is correct and not complete: it has at least signature, slot and elapsed time.
	ErrDetailsUnavailable = errors.New("haggle: confirmed, but the transaction's details are unavailable")
)

// TransactionError is the failure of a transaction for another reason than a refusal by this program: another
// program's refusal, or the chain's own.
type TransactionError struct {
	// Reason is the chain's name of the error, such as InsufficientFundsForFee, AccountInUse, or Custom for a
	// program's own number.
	Reason string
	// Instruction is the failed instruction's index in the transaction, from 0, or -1 if the failure is not
	// one of an instruction.
	Instruction int
	// Program is the failed program; zero if no program failed, or if the logs do not show it.
	Program solana.PublicKey
	// Code is the program's own error number if Reason is Custom. Its meaning depends on Program.
	Code uint32
	// Logs are the transaction's logs.
	Logs []string
	// Signature is the failed transaction's signature. It is zero if the failure was simulated and nothing
	// was sent.
	Signature solana.Signature
}

func (e *TransactionError) Error() string {
	text := "haggle: transaction failed: " + e.Reason
	if e.Reason == reasonCustom {
		text = fmt.Sprintf("haggle: transaction failed: error %d", e.Code)
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

// Is reports whether the error is [ErrTokenProgramTooOld]: SPL Token has answered a call of this program with
// InvalidInstruction.
func (e *TransactionError) Is(target error) bool {
	return target == ErrTokenProgramTooOld && e.isTokenProgramTooOld()
}

// tokenInvalidInstruction is the error number of both token programs for an unknown instruction.
const tokenInvalidInstruction = 12

func (e *TransactionError) isTokenProgramTooOld() bool {
	return e.Reason == reasonCustom && e.Code == tokenInvalidInstruction &&
		e.Program == solana.TokenProgramID &&
		slices.Contains(e.Logs, fmt.Sprintf(
			"Program %s failed: custom program error: %#x", protocol.ProgramID, tokenInvalidInstruction))
}

// explanation returns a sentence for the errors that a party can cause; empty for others.
func (e *TransactionError) explanation() string {
	if e.isTokenProgramTooOld() {
		return strings.TrimPrefix(ErrTokenProgramTooOld.Error(), "haggle: ")
	}
	switch e.Reason {
	case "AccountNotFound":
		return "the payer has no lamports"
	case "InsufficientFundsForFee":
		return "the payer has too few lamports for the fee"
	case "InsufficientFundsForRent":
		return "an account would be left with too few lamports for its rent"
	case reasonCustom:
		return customExplanations[e.Program][e.Code]
	}
	return ""
}

// customExplanations explain the error numbers of the programs that this one calls.
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

// UnknownOutcome is the error of a transaction that was sent and whose outcome is unknown: no node could be
// reached any longer, or the context ended. [Client.Outcome] checks again. The action must not be repeated
// before that, or before the negotiation has been read again. With a journal, the payer's next action checks
// first.
//
// All fields but Cause can be stored and used by another process.
type UnknownOutcome struct {
	// Signature is the transaction's signature.
	Signature solana.Signature
	// LastValidBlockHeight is the height after which the transaction can no longer be executed; zero with
	// Nonce.
	LastValidBlockHeight uint64
	// Blockhash is the transaction's blockhash; with Nonce the nonce's value.
	Blockhash solana.Hash
	// Nonce is the nonce account of a transaction with a durable nonce; otherwise zero.
	Nonce solana.PublicKey
	// Slot is a slot before which the transaction cannot have been executed; zero if that is not known. Long
	// after, only a node that has kept the blocks since then can prove that it has not been executed.
	Slot uint64
	// SentAt is the machine's time of the first broadcast.
	SentAt time.Time
	// Cause is the reason for which the client has stopped checking.
	Cause error
}

func (e *UnknownOutcome) Error() string {
	return fmt.Sprintf("haggle: outcome of transaction %s unknown: %v", e.Signature, e.Cause)
}

// Unwrap returns the cause.
func (e *UnknownOutcome) Unwrap() error { return e.Cause }
