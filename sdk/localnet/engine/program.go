package engine

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
)

// The layouts of the upgradeable loader: a program's account contains the state and the program data address.
// The program data contains the state, a slot, an optional upgrade authority, and the ELF file.
const (
	stateProgram      = 2
	stateProgramData  = 3
	stateSize         = 4
	programSize       = stateSize + solana.PublicKeyLength
	authorityOffset   = stateSize + 8 + 1
	programDataHeader = authorityOffset + solana.PublicKeyLength
)

// ProgramData returns an upgradeable program's data address, or false if the account is not an upgradeable
// program.
func ProgramData(program Account) (solana.PublicKey, bool) {
	if program.Owner != solana.BPFLoaderUpgradeableProgramID || len(program.Data) < programSize ||
		binary.LittleEndian.Uint32(program.Data) != stateProgram {
		return solana.PublicKey{}, false
	}
	return solana.PublicKeyFromBytes(program.Data[stateSize:programSize]), true
}

// ParseProgramData returns the ELF file and the upgrade authority in a program data account's data. For
// non-upgradeable programs, the authority is zero. ParseProgramData returns false if the data is too short.
func ParseProgramData(data []byte) (elf []byte, authority solana.PublicKey, ok bool) {
	if len(data) < programDataHeader {
		return nil, authority, false
	}
	if data[authorityOffset-1] == 1 {
		authority = solana.PublicKeyFromBytes(data[authorityOffset:programDataHeader])
	}
	return data[programDataHeader:], authority, true
}

// LoadProgram writes an ELF file as an upgradeable program deployed in slot 0, with the accounts that the
// upgradeable loader would have created. If authority is zero, the program cannot be upgraded. It returns a
// [RequestError] if the verifier rejects the file.
func (e *Engine) LoadProgram(program solana.PublicKey, elf []byte, authority solana.PublicKey) error {
	data, _, err := solana.FindProgramAddress([][]byte{program[:]}, solana.BPFLoaderUpgradeableProgramID)
	if err != nil {
		return err
	}
	content := make([]byte, programDataHeader, programDataHeader+len(elf))
	content[0] = stateProgramData
	if !authority.IsZero() {
		content[authorityOffset-1] = 1
		copy(content[authorityOffset:], authority[:])
	}
	content = append(content, elf...)
	before, err := e.Account(data)
	if err != nil {
		return err
	}
	if err := e.SetAccount(data, Account{
		Lamports: MinimumBalance(len(content)), Owner: solana.BPFLoaderUpgradeableProgramID,
		RentEpoch: rentExempt, Data: content,
	}); err != nil {
		return err
	}
	err = e.SetAccount(program, Account{
		Lamports: MinimumBalance(programSize), Owner: solana.BPFLoaderUpgradeableProgramID,
		Executable: true, RentEpoch: rentExempt, Data: append([]byte{stateProgram, 0, 0, 0}, data[:]...),
	})
	if err != nil {
		if restored := e.SetAccount(data, before); restored != nil {
			return restored
		}
	}
	return err
}
