package protocol

import (
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// ProgramError is the program's rejection of an instruction. [errors.Is] compares the code:
//
//	errors.Is(err, protocol.ErrNotYourTurn)
type ProgramError struct {
	// Code is a program code, from 6000, or an Anchor code.
	Code ErrorCode
	// Name is the code's name in the IDL or in Anchor, or "" if the code is unknown.
	Name string
	// Message is a one-line description.
	Message string
	// Instruction is the index of the rejected instruction in the transaction, from 0; -1 if the client
	// itself has rejected it, as the program would, before there was a transaction.
	Instruction int
	// Logs holds the transaction's logs.
	Logs []string
	// Signature is the signature of the failed transaction. If the rejection was simulated and nothing was
	// sent, it is zero.
	Signature solana.Signature
}

func (e *ProgramError) Error() string {
	if e.Signature.IsZero() {
		return "haggle: refused: " + e.Code.Error()
	}
	return fmt.Sprintf("haggle: refused: %s (transaction %s)", e.Code.Error(), e.Signature)
}

// Unwrap returns the code.
func (e *ProgramError) Unwrap() error { return e.Code }

// TransactionOutcome returns the outcome of the transaction: not sent, or failed.
func (e *ProgramError) TransactionOutcome() transaction.Outcome {
	return transaction.OfFailure(e.Signature)
}

// Refusal returns an error for an instruction that the program would reject.
func Refusal(code ErrorCode) *ProgramError {
	return &ProgramError{Code: code, Name: code.Name(), Message: code.Message(), Instruction: -1}
}

// Refuse returns an error with an action's name and a detail: the program would reject the action with this
// code.
func Refuse(action string, code ErrorCode, detail string, values ...any) error {
	return fmt.Errorf("haggle: %s: %w: %s", action, Refusal(code), fmt.Sprintf(detail, values...))
}
