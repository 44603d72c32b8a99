package haggle

import (
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// lowestOwnCode is below all error numbers of this program, and above the error numbers of called programs.
const lowestOwnCode = uint32(protocol.ErrInstructionMissing)

// explainFailure returns a *protocol.ProgramError for a refusal by this program.
func explainFailure(failed *transaction.Error, invoked solana.PublicKey) error {
	if failed.Program == protocol.ProgramID && failed.Code < lowestOwnCode &&
		send.FailedProgram(failed.Logs).IsZero() {
		// If there are no logs, a small number of this program's belongs to a called program.
		failed.Program = solana.PublicKey{}
	}
	if failed.Program == protocol.ProgramID && invoked == protocol.ProgramID &&
		failed.Reason == transaction.ReasonCustom {
		code := protocol.ErrorCode(failed.Code)
		return &protocol.ProgramError{
			Code: code, Name: code.Name(), Message: code.Message(),
			Instruction: failed.Instruction, Logs: failed.Logs, Signature: failed.Signature,
		}
	}
	if isTokenProgramTooOld(failed) {
		failed.Cause = ErrTokenProgramTooOld
	}
	return failed
}

// tokenInvalidInstruction is the error number of both token programs for an unknown instruction.
const tokenInvalidInstruction = 12

// isTokenProgramTooOld reports whether SPL Token returned InvalidInstruction to a call of this program.
func isTokenProgramTooOld(e *transaction.Error) bool {
	return e.Reason == transaction.ReasonCustom && e.Code == tokenInvalidInstruction &&
		e.Program == solana.TokenProgramID &&
		slices.Contains(e.Logs, fmt.Sprintf(
			"Program %s failed: custom program error: %#x", protocol.ProgramID, tokenInvalidInstruction))
}
