package protocol

import "github.com/gagliardetto/solana-go"

// ComputeUnits is the measured worst case of an instruction over all states and accounts, at the first bump
// of every address that it derives: see program/CU.md.
type ComputeUnits struct {
	// SPLToken and Token2022 are the units with tokens of that program.
	SPLToken, Token2022 uint32
	// EachFurtherBump is the units for each bump below 255 of an address that the instruction may derive.
	EachFurtherBump uint32
}

// WorstComputeUnits returns the worst case of an instruction by its name in the IDL. It returns false if the
// program does not have the instruction.
func WorstComputeUnits(instruction string) (ComputeUnits, bool) {
	units, ok := worstComputeUnits[instruction]
	return units, ok
}

// Of returns the units with a token program and the bumps of the addresses that the instruction may derive.
// For another token program the larger figure counts.
func (u ComputeUnits) Of(tokenProgram solana.PublicKey, bumps ...uint8) uint64 {
	units := uint64(max(u.SPLToken, u.Token2022))
	switch tokenProgram {
	case solana.TokenProgramID:
		units = uint64(u.SPLToken)
	case solana.Token2022ProgramID:
		units = uint64(u.Token2022)
	}
	for _, bump := range bumps {
		units += uint64(firstBump-bump) * uint64(u.EachFurtherBump)
	}
	return units
}

// firstBump is the bump at which the search for an address starts.
const firstBump = 255
