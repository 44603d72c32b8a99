package haggle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// failure is a transaction's error in the form of the JSON-RPC interface.
type failure struct {
	reason      string
	instruction int
	code        uint32
}

// parseFailure decodes the forms of the chain's transaction.Error: "BlockhashNotFound",
// {"InsufficientFundsForRent": {...}}, {"InstructionError": [2, "InvalidArgument"]}, {"InstructionError": [2,
// {"Custom": 6000}]}.
func parseFailure(raw any) (failure, error) {
	encoded, err := json.Marshal(raw)
	if err != nil {
		return failure{}, fmt.Errorf("haggle: decode a transaction error: %w", err)
	}
	reason, detail, err := variant(encoded)
	if err != nil {
		return failure{}, err
	}
	if reason != "InstructionError" {
		return failure{reason: reason, instruction: -1}, nil
	}
	var parts []json.RawMessage
	var index uint8
	if err := json.Unmarshal(detail, &parts); err != nil || len(parts) != 2 {
		return failure{}, fmt.Errorf("haggle: cannot decode instruction error %s", detail)
	}
	if err := json.Unmarshal(parts[0], &index); err != nil {
		return failure{}, fmt.Errorf("haggle: cannot decode instruction error %s", detail)
	}
	found := failure{instruction: int(index)}
	if found.reason, detail, err = variant(parts[1]); err != nil {
		return failure{}, err
	}
	if found.reason == transaction.ReasonCustom {
		if err := json.Unmarshal(detail, &found.code); err != nil {
			return failure{}, fmt.Errorf("haggle: cannot decode custom error %s", detail)
		}
	}
	return found, nil
}

// variant decodes an enum of Rust: "Name" or {"Name": detail}.
func variant(encoded []byte) (name string, detail json.RawMessage, err error) {
	if json.Unmarshal(encoded, &name) == nil {
		return name, nil, nil
	}
	var object map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	if err := decoder.Decode(&object); err != nil || len(object) != 1 {
		return "", nil, fmt.Errorf("haggle: cannot decode transaction error %s", encoded)
	}
	for name, detail = range object {
		return name, detail, nil
	}
	return "", nil, nil
}

// failureError returns the error of a failed or refused transaction for the caller. invoked are the programs
// that the transaction's instructions call, in their order.
func failureError(raw any, logs []string, invoked []solana.PublicKey, signature solana.Signature) error {
	found, err := parseFailure(raw)
	if err != nil {
		return err
	}
	program := failedProgram(logs)
	if program.IsZero() && found.instruction >= 0 && found.instruction < len(invoked) {
		program = blameWithoutLogs(invoked[found.instruction], found.code)
	}
	ours := program == protocol.ProgramID && found.instruction >= 0 && found.instruction < len(invoked) &&
		invoked[found.instruction] == protocol.ProgramID
	if ours && found.reason == transaction.ReasonCustom {
		code := protocol.ErrorCode(found.code)
		return &protocol.ProgramError{
			Code: code, Name: code.Name(), Message: code.Message(),
			Instruction: found.instruction, Logs: logs, Signature: signature,
		}
	}
	failed := &transaction.Error{
		Reason: found.reason, Instruction: found.instruction, Program: program, Code: found.code,
		Logs: logs, Signature: signature,
	}
	if isTokenProgramTooOld(failed) {
		failed.Cause = ErrTokenProgramTooOld
	}
	return failed
}

// failedProgram returns the program that made the transaction fail: a failure ends all the calls around it,
// the innermost first. It is zero if the logs do not show it.
func failedProgram(logs []string) solana.PublicKey {
	for _, line := range logs {
		rest, ok := strings.CutPrefix(line, "Program ")
		if !ok {
			continue
		}
		address, rest, ok := strings.Cut(rest, " ")
		if !ok || !strings.HasPrefix(rest, "failed: ") {
			continue
		}
		if key, err := solana.PublicKeyFromBase58(address); err == nil {
			return key
		}
	}
	return solana.PublicKey{}
}

// lowestOwnCode is below all error numbers of this program, and above those of the programs that it calls.
const lowestOwnCode = uint32(protocol.ErrInstructionMissing)

// blameWithoutLogs returns the failed program if the logs are cut off. It is the program that the instruction
// invokes, except that a small number of this program's is one of a program that it calls.
func blameWithoutLogs(invoked solana.PublicKey, code uint32) solana.PublicKey {
	if invoked == protocol.ProgramID && code < lowestOwnCode {
		return solana.PublicKey{}
	}
	return invoked
}

// tokenInvalidInstruction is the error number of both token programs for an unknown instruction.
const tokenInvalidInstruction = 12

// isTokenProgramTooOld reports whether SPL Token has answered a call of this program with InvalidInstruction.
func isTokenProgramTooOld(e *transaction.Error) bool {
	return e.Reason == transaction.ReasonCustom && e.Code == tokenInvalidInstruction &&
		e.Program == solana.TokenProgramID &&
		slices.Contains(e.Logs, fmt.Sprintf(
			"Program %s failed: custom program error: %#x", protocol.ProgramID, tokenInvalidInstruction))
}
