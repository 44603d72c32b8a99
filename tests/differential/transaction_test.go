package differential

import (
	"encoding/binary"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// asLoaded returns an instruction as a transaction passes it to the program: an account that is reserved for
// the runtime is never writable. The system program is the only such account in the sequences.
func asLoaded(instruction *model.Instruction) *model.Instruction {
	loaded := *instruction
	loaded.Accounts = slices.Clone(instruction.Accounts)
	for i := range loaded.Accounts {
		if loaded.Accounts[i].PublicKey == solana.SystemProgramID {
			loaded.Accounts[i].IsWritable = false
		}
	}
	return &loaded
}

// wireTransaction returns a transaction with this instruction, and empty signatures for the fee payer and the
// instruction's signers. If the instruction repeats an account, the flags are joined, as mollusk does.
func wireTransaction(instruction *model.Instruction) []byte {
	metas := []solana.AccountMeta{{PublicKey: feePayer, IsSigner: true, IsWritable: true}}
	for _, meta := range append(slices.Clone(instruction.Accounts),
		solana.AccountMeta{PublicKey: instruction.Program}) {
		if at := indexOf(metas, meta.PublicKey); at >= 0 {
			metas[at].IsSigner = metas[at].IsSigner || meta.IsSigner
			metas[at].IsWritable = metas[at].IsWritable || meta.IsWritable
		} else {
			metas = append(metas, meta)
		}
	}
	slices.SortStableFunc(metas, func(a, b solana.AccountMeta) int { return rank(a) - rank(b) })
	var ranks [4]byte
	for _, meta := range metas {
		ranks[rank(meta)]++
	}
	signers := ranks[0] + ranks[1]

	wire := append([]byte{signers}, make([]byte, int(signers)*solana.SignatureLength)...)
	wire = append(wire, signers, ranks[1], ranks[3], byte(len(metas)))
	for _, meta := range metas {
		wire = append(wire, meta.PublicKey[:]...)
	}
	wire = append(wire, make([]byte, len(solana.Hash{}))...)
	wire = append(wire, 1, byte(indexOf(metas, instruction.Program)), byte(len(instruction.Accounts)))
	for _, meta := range instruction.Accounts {
		wire = append(wire, byte(indexOf(metas, meta.PublicKey)))
	}
	// Up to 16 bits, a length on the wire is an unsigned varint.
	wire = binary.AppendUvarint(wire, uint64(len(instruction.Data)))
	return append(wire, instruction.Data...)
}

func indexOf(metas []solana.AccountMeta, address model.Address) int {
	return slices.IndexFunc(metas, func(meta solana.AccountMeta) bool { return meta.PublicKey == address })
}

// rank returns an account's place in a transaction: first the signers, and within each group writable
// accounts before others. The fee payer is the first writable signer, because the order is stable.
func rank(meta solana.AccountMeta) (rank int) {
	if !meta.IsSigner {
		rank += 2
	}
	if !meta.IsWritable {
		rank++
	}
	return rank
}
