package protocol

import (
	"fmt"

	"github.com/gagliardetto/solana-go"
)

// ProgramError says that the program has refused an instruction. [errors.Is] compares its code:
//
//	errors.Is(err, protocol.ErrNotYourTurn)
type ProgramError struct {
	// Code is the program's, from 6000, or Anchor's.
	Code ErrorCode
	// Name is the code's name in the IDL or in Anchor, empty for a code that this version does not know.
	Name string
	// Message says in one line what is wrong.
	Message string
	// Instruction is the refused instruction's index in the transaction, from 0; -1 when the client has refused it itself, as the
	// program would, before there was a transaction.
	Instruction int
	// Logs are the transaction's.
	Logs []string
	// Signature is the failed transaction's. It is zero when the refusal was simulated and nothing has been sent.
	Signature solana.Signature
}

func (e *ProgramError) Error() string {
	if e.Signature.IsZero() {
		return "haggle: refused: " + e.Code.Error()
	}
	return fmt.Sprintf("haggle: refused: %s (transaction %s)", e.Code.Error(), e.Signature)
}

// Unwrap is the code.
func (e *ProgramError) Unwrap() error { return e.Code }

// refusal is the error of what the program would refuse.
func Refusal(code ErrorCode) *ProgramError {
	return &ProgramError{Code: code, Name: code.Name(), Message: code.Message(), Instruction: -1}
}

// refuse says in an action's name, and with its own detail, that the program would refuse it.
func Refuse(action string, code ErrorCode, detail string, values ...any) error {
	return fmt.Errorf("haggle: %s: %w: %s", action, Refusal(code), fmt.Sprintf(detail, values...))
}
