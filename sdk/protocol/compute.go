package protocol

import "github.com/gagliardetto/solana-go"

// ComputeUnits is an instruction's measured worst case over all states and accounts, if every derived address
// uses the first bump: see program/CU.md.
type ComputeUnits struct {
	// SPLToken and Token2022 hold the units when using that token program.
	SPLToken, Token2022 uint32
	// EachFurtherBump is the number of units per bump under 255 for each derived address.
	EachFurtherBump uint32
}

// WorstComputeUnits returns an instruction's worst case, given the IDL name. The second result is false for
// unknown instructions.
func WorstComputeUnits(instruction string) (ComputeUnits, bool) {
	units, ok := worstComputeUnits[instruction]
	return units, ok
}

// Of returns the units for a token program and the bumps of all addresses that the instruction may derive.
// For unknown token programs the larger figure counts.
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

// firstBump is where the search for PDAs starts.
const firstBump = 255
