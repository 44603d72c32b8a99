// Package instructions returns the instructions in executed transactions, including instructions sent by
// programs, with lookup table accounts.
package instructions

import (
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// Instruction is an executed instruction.
type Instruction struct {
	Program  solana.PublicKey
	Accounts []*solana.AccountMeta
	Data     []byte
	// Outer is the index of the enclosing top-level instruction.
	Outer int
}

// Keys returns a transaction's accounts in index order. Lookup table accounts come last.
func Keys(transaction *solana.Transaction, meta *rpc.TransactionMeta) []solana.PublicKey {
	loaded := meta.LoadedAddresses
	return slices.Concat(transaction.Message.AccountKeys, loaded.Writable, loaded.ReadOnly)
}

// Executed returns a transaction's instructions in execution order. It omits instructions with an unknown
// account, and returns false then. Some nodes do not record the instructions that programs send:
// meta.InnerInstructions is nil then.
func Executed(
	transaction *solana.Transaction, meta *rpc.TransactionMeta,
) (executed []Instruction, complete bool) {
	keys := Keys(transaction, meta)
	complete = true
	for i, outer := range transaction.Message.Instructions {
		for _, compiled := range withInner(i, outer, meta) {
			instruction, ok := resolve(compiled, keys)
			if !ok {
				complete = false
				continue
			}
			instruction.Outer = i
			executed = append(executed, instruction)
		}
	}
	return executed, complete
}

// withInner returns an instruction and the inner instructions.
func withInner(
	index int, outer solana.CompiledInstruction, meta *rpc.TransactionMeta,
) []solana.CompiledInstruction {
	all := []solana.CompiledInstruction{outer}
	for _, inner := range meta.InnerInstructions {
		if int(inner.Index) != index {
			continue
		}
		for _, item := range inner.Instructions {
			all = append(all, solana.CompiledInstruction{
				ProgramIDIndex: item.ProgramIDIndex, Accounts: item.Accounts, Data: item.Data,
			})
		}
	}
	return all
}

func resolve(compiled solana.CompiledInstruction, keys []solana.PublicKey) (Instruction, bool) {
	if int(compiled.ProgramIDIndex) >= len(keys) {
		return Instruction{}, false
	}
	accounts := make([]*solana.AccountMeta, len(compiled.Accounts))
	for i, index := range compiled.Accounts {
		if int(index) >= len(keys) {
			return Instruction{}, false
		}
		accounts[i] = &solana.AccountMeta{PublicKey: keys[index]}
	}
	return Instruction{Program: keys[compiled.ProgramIDIndex], Accounts: accounts, Data: compiled.Data}, true
}
