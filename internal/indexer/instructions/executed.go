// Package instructions has the instructions of executed transactions, also those that programs have sent,
// with accounts of lookup tables.
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
	// Outer is the index of the transaction's instruction that it is part of.
	Outer int
}

// Keys returns the accounts of a transaction in the order of their indices. Those of lookup tables are last.
func Keys(transaction *solana.Transaction, meta *rpc.TransactionMeta) []solana.PublicKey {
	loaded := meta.LoadedAddresses
	return slices.Concat(transaction.Message.AccountKeys, loaded.Writable, loaded.ReadOnly)
}

// Executed returns the instructions of a transaction in the order of their execution. It omits instructions
// with an unknown account, and returns false then. Some nodes do not record the instructions that programs
// send: meta.InnerInstructions is nil then.
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

// withInner returns an instruction with its inner instructions.
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
