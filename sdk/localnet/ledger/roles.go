package ledger

import "github.com/gagliardetto/solana-go"

// reserved lists accounts that transactions cannot write: sysvars and built-in programs.
var reserved = map[solana.PublicKey]bool{
	solana.SystemProgramID: true, solana.ComputeBudget: true, solana.VoteProgramID: true, solana.StakeProgramID: true,
	solana.ConfigProgramID: true, solana.AddressLookupTableProgramID: true, solana.BPFLoaderProgramID: true,
	solana.BPFLoaderDeprecatedProgramID: true, solana.BPFLoaderUpgradeableProgramID: true,
	solana.SysVarClockPubkey: true, solana.SysVarRentPubkey: true, solana.SysVarInstructionsPubkey: true,
	solana.SysVarSlotHashesPubkey: true, solana.SysVarRecentBlockHashesPubkey: true,
	solana.SysVarStakeHistoryPubkey: true, solana.SysVarEpochSchedulePubkey: true,
}

// IsWritable reports whether a transaction can write the account at an index in Keys.
func (t *Transaction) IsWritable(index int) bool {
	message := &t.Decoded.Message
	header, own := message.Header, len(message.AccountKeys)
	signers := int(header.NumRequiredSignatures)
	var writable bool
	switch {
	case index < signers:
		writable = index < signers-int(header.NumReadonlySignedAccounts)
	case index < own:
		writable = index < own-int(header.NumReadonlyUnsignedAccounts)
	default:
		writable = index < own+len(t.LoadedWritable)
	}
	return writable && !reserved[t.Keys[index]] && !t.calls(index)
}

// calls reports whether the key is an instruction's program, which is read-only.
func (t *Transaction) calls(index int) bool {
	for _, instruction := range t.Decoded.Message.Instructions {
		if int(instruction.ProgramIDIndex) == index {
			return true
		}
	}
	return false
}
