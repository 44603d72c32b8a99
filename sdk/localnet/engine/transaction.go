package engine

import (
	"encoding/json"
	"fmt"

	"github.com/gagliardetto/solana-go"
)

// MaxTransactionBytes is the largest transaction size on the wire, in bytes.
const MaxTransactionBytes = 1232

// Result is a transaction outcome.
type Result struct {
	// Err is the TransactionError as nodes encode it in JSON, or nil if the transaction succeeded.
	Err json.RawMessage
	// Charged reports whether the transaction belongs in a block: it succeeded, or it failed but pays the
	// fee.
	Charged bool
	// Fee is in lamports, priority fee included.
	Fee uint64
	// ComputeUnits is the number of compute units consumed.
	ComputeUnits uint64
	Logs         []string
	// ReturnProgram is the program that set ReturnData last.
	ReturnProgram solana.PublicKey
	ReturnData    []byte
	// Inner holds each instruction's calls in order.
	Inner [][]InnerInstruction
	// Changes lists the accounts that differ afterwards. A closed account holds no lamports.
	Changes []Entry
}

// InnerInstruction is a cross-program call.
type InnerInstruction struct {
	// Program and Accounts are indexes of the transaction's accounts.
	Program  byte
	Accounts []byte
	Data     []byte
	// StackHeight is 2 for a call from an instruction of the transaction.
	StackHeight byte
}

// Execute executes a transaction and stores the changes. A failed transaction changes the fee payer alone. It
// returns a [RequestError] if the transaction does not decode, or leaves an unloadable program.
func (e *Engine) Execute(wire []byte) (*Result, error) { return e.transaction(operationExecute, wire) }

// Simulate executes a transaction and stores nothing.
func (e *Engine) Simulate(wire []byte) (*Result, error) {
	return e.transaction(operationSimulate, wire)
}

func (e *Engine) transaction(operation uint64, wire []byte) (*Result, error) {
	if len(wire) > MaxTransactionBytes {
		return nil, &RequestError{fmt.Sprintf("transaction: %d bytes exceed %d", len(wire), MaxTransactionBytes)}
	}
	response, err := e.do(operation, wire)
	if err != nil {
		return nil, err
	}
	r := reader{rest: response}
	result := &Result{Charged: r.byte() != 0}
	if failure := r.bytes(); len(failure) > 0 {
		result.Err = failure
	}
	result.Fee, result.ComputeUnits = r.uint64(), r.uint64()
	result.ReturnProgram, result.ReturnData = r.address(), r.bytes()
	for range r.count(4) {
		result.Logs = append(result.Logs, string(r.bytes()))
	}
	for range r.count(4) {
		var inner []InnerInstruction
		for range r.count(10) {
			call := InnerInstruction{Program: r.byte(), StackHeight: r.byte()}
			call.Accounts, call.Data = r.bytes(), r.bytes()
			inner = append(inner, call)
		}
		result.Inner = append(result.Inner, inner)
	}
	result.Changes = r.entries()
	return result, r.finish()
}
