package send

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// failure is a transaction's error in the form of the JSON-RPC interface.
type failure struct {
	reason      string
	instruction int
	code        uint32
}

// parseFailure decodes the forms of the chain's TransactionError: "BlockhashNotFound",
// {"InsufficientFundsForRent": {...}}, {"InstructionError": [2, "InvalidArgument"]}, {"InstructionError": [2,
// {"Custom": 6000}]}.
func parseFailure(raw any) (failure, error) {
	encoded, err := json.Marshal(raw)
	if err != nil {
		return failure{}, fmt.Errorf("decode a transaction error: %w", err)
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
		return failure{}, fmt.Errorf("cannot decode instruction error %s", detail)
	}
	if err := json.Unmarshal(parts[0], &index); err != nil {
		return failure{}, fmt.Errorf("cannot decode instruction error %s", detail)
	}
	found := failure{instruction: int(index)}
	if found.reason, detail, err = variant(parts[1]); err != nil {
		return failure{}, err
	}
	if found.reason == transaction.ReasonCustom {
		if err := json.Unmarshal(detail, &found.code); err != nil {
			return failure{}, fmt.Errorf("cannot decode custom error %s", detail)
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
	if err := json.Unmarshal(encoded, &object); err != nil || len(object) != 1 {
		return "", nil, fmt.Errorf("cannot decode transaction error %s", encoded)
	}
	for name, detail = range object {
		return name, detail, nil
	}
	return "", nil, nil
}

// Explain adds the sender's knowledge about the transaction's programs to a failure, and returns the error
// for the caller. invoked is the program that the failed instruction calls; zero if no instruction failed.
type Explain func(failed *transaction.Error, invoked solana.PublicKey) error

// FailureError returns a failed or refused transaction's error for the caller. invoked lists the programs
// that the transaction's instructions call, in their order.
func FailureError(
	raw any, logs []string, invoked []solana.PublicKey, signature solana.Signature, explain Explain,
) error {
	found, err := parseFailure(raw)
	if err != nil {
		return err
	}
	failed := &transaction.Error{
		Reason: found.reason, Instruction: found.instruction, Program: FailedProgram(logs), Code: found.code,
		Logs: logs, Signature: signature,
	}
	var called solana.PublicKey
	if found.instruction >= 0 && found.instruction < len(invoked) {
		called = invoked[found.instruction]
	}
	if failed.Program.IsZero() {
		failed.Program = called // the logs are cut off
	}
	if explain == nil {
		return failed
	}
	return explain(failed, called)
}

// FailedProgram returns the program that made the transaction fail: a failure ends all the calls around it,
// the innermost first. It is zero if the logs do not show it.
func FailedProgram(logs []string) solana.PublicKey {
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

// InvokedPrograms returns the programs that a transaction's instructions call.
func InvokedPrograms(tx *solana.Transaction) []solana.PublicKey {
	programs := make([]solana.PublicKey, len(tx.Message.Instructions))
	for i, instruction := range tx.Message.Instructions {
		if int(instruction.ProgramIDIndex) < len(tx.Message.AccountKeys) {
			programs[i] = tx.Message.AccountKeys[instruction.ProgramIDIndex]
		}
	}
	return programs
}
