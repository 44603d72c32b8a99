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

// What the client answers itself, without the program.
var (
	// ErrTransactionExpired: the transaction has not been executed before its blockhash expired, and never will be. The action is
	// safe to repeat. (The program's own Expired, 6003, is [protocol.ErrExpired].)
	ErrTransactionExpired = errors.New("haggle: the transaction expired before it was executed")
	// ErrSessionUsed: this pair has used the session id before, even if nothing of it is left on chain.
	ErrSessionUsed = errors.New("haggle: session id has been used before")
	// ErrNotAsExpected: what the caller expects is not what has been read from the chain. Nothing has been signed.
	ErrNotAsExpected = errors.New("haggle: the negotiation is not as expected")
	// ErrMissingSigner: no signer has been given for an account that has to sign.
	ErrMissingSigner = errors.New("haggle: missing signer")
	// ErrNotASigner: a signer has been given that the transaction does not need.
	ErrNotASigner = errors.New("haggle: not a signer of the transaction")
	// ErrTokenProgramTooOld: the cluster's SPL Token does not know batches, with which the program moves
	// tokens. Nothing has been deposited. docs/DEPLOYMENT.md lists what the program needs of a cluster.
	ErrTokenProgramTooOld = errors.New("haggle: the cluster's token program does not know batches (p-token is required)")
	// ErrOffCurve: a party's address is no public key. A program signs for it, such as a multisignature's or a
	// custodian's, which may act for several users under this one address: what is paid to it names no user.
	// It is a warning: see [Action.Warnings].
	ErrOffCurve = errors.New("haggle: a program's address, which may stand for several users")
	// ErrDetailsUnavailable: the action has been confirmed, but the node does not have its logs, or they are cut off. The receipt
	// that comes with it is right and not complete: it has signature, slot and elapsed time at least.
	ErrDetailsUnavailable = errors.New("haggle: confirmed, but the transaction's details are unavailable")
)

// TransactionError says that a transaction failed for another reason than a refusal by this program: another program's, or the
// chain's own.
type TransactionError struct {
	// Reason is the chain's name for it, such as InsufficientFundsForFee, AccountInUse, or Custom for a program's own number.
	Reason string
	// Instruction is the failed instruction's index in the transaction, from 0, or -1 when none of them is at fault.
	Instruction int
	// Program is the program that has failed; zero when none has, or the logs do not tell.
	Program solana.PublicKey
	// Code is the number that the program has answered with, if Reason is Custom. Only Program knows what it means.
	Code uint32
	// Logs are the transaction's.
	Logs []string
	// Signature is the failed transaction's. It is zero when the failure was simulated and nothing has been sent.
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
	if meaning := e.meaning(); meaning != "" {
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

// tokenInvalidInstruction is the number of both token programs for an instruction that they do not know.
const tokenInvalidInstruction = 12

func (e *TransactionError) isTokenProgramTooOld() bool {
	return e.Reason == reasonCustom && e.Code == tokenInvalidInstruction && e.Program == solana.TokenProgramID &&
		slices.Contains(e.Logs, fmt.Sprintf("Program %s failed: custom program error: %#x", protocol.ProgramID, tokenInvalidInstruction))
}

// meaning explains what a party can run into.
func (e *TransactionError) meaning() string {
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
		return customMeanings[e.Program][e.Code]
	}
	return ""
}

// customMeanings are the numbers of the programs that this one calls.
var customMeanings = map[solana.PublicKey]map[uint32]string{
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

// UnknownOutcome says that a transaction has been sent and that it is not known what became of it: the node could no longer be
// asked, or the context ended. [Client.Outcome] looks again. The action must not be repeated before that, or before the
// negotiation has been read again. With a journal, whatever the payer does next looks first.
//
// All of it but Cause can be stored, and asked about by another process.
type UnknownOutcome struct {
	// Signature is the transaction's.
	Signature solana.Signature
	// LastValidBlockHeight is the height after which the transaction can no longer be executed; zero with Nonce.
	LastValidBlockHeight uint64
	// Blockhash is the transaction's; with Nonce the nonce's value.
	Blockhash solana.Hash
	// Nonce is the nonce account of a transaction with a durable nonce; otherwise zero.
	Nonce solana.PublicKey
	// Slot is one before which the transaction cannot have been executed; zero if that is not known. Long after, only a node that
	// has kept the blocks since then can tell that it has not been.
	Slot uint64
	// SentAt is the machine's time of the first broadcast.
	SentAt time.Time
	// Cause says why the client has stopped looking.
	Cause error
}

func (e *UnknownOutcome) Error() string {
	return fmt.Sprintf("haggle: outcome of transaction %s unknown: %v", e.Signature, e.Cause)
}

// Unwrap is the cause.
func (e *UnknownOutcome) Unwrap() error { return e.Cause }
