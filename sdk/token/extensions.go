package token

import (
	"encoding/binary"
	"fmt"

	"github.com/gagliardetto/solana-go"
)

// IsProgram reports whether the program is SPL Token or Token-2022.
func IsProgram(program solana.PublicKey) bool {
	return program == solana.TokenProgramID || program == solana.Token2022ProgramID
}

// Token-2022 writes the account type after a token account's 165 bytes, and in mints with extensions at the
// same offset. The extensions follow: type and length, of two bytes each, then the value.
const (
	offsetAccountType       = 165
	offsetExtensions        = 166
	multisigSize            = 355
	accountTypeMint         = 1
	accountTypeTokenAccount = 2
)

// hasTokenLayout reports whether the account length fits a token program type: exactly the type's size, or in
// Token-2022 room for extensions after the account type byte. Only the length identifies multisignatures.
func hasTokenLayout(program solana.PublicKey, data []byte, size int, accountType byte) bool {
	if len(data) == size {
		return true
	}
	return program == solana.Token2022ProgramID && len(data) > offsetAccountType &&
		len(data) != multisigSize &&
		data[offsetAccountType] == accountType
}

// eachExtension visits an account's extensions, and reports whether they are well formed and no more than
// most. As in Token-2022, number 0 ends the list, and a single remaining byte at the end is ignored.
func eachExtension(data []byte, most int, visit func(kind uint16, value []byte)) bool {
	if len(data) <= offsetExtensions {
		return true
	}
	rest := data[offsetExtensions:]
	for range most + 1 {
		if len(rest) < 2 || binary.LittleEndian.Uint16(rest) == 0 {
			return true
		}
		if len(rest) < 4 {
			return false
		}
		end := 4 + int(binary.LittleEndian.Uint16(rest[2:]))
		if len(rest) < end {
			return false
		}
		visit(binary.LittleEndian.Uint16(rest), rest[4:end])
		rest = rest[end:]
	}
	return false
}

// Token account extensions that permit payments, each at most once.
const (
	extensionImmutableOwner = 7
	extensionMemoTransfer   = 8
	extensionCPIGuard       = 11
	accountExtensions       = 3
)

// supportedMintExtensions only describe the mint and do not affect transfers.
var supportedMintExtensions = map[uint16]bool{
	18: true, // metadata pointer
	19: true, // token metadata
	20: true, // group pointer
	21: true, // token group
	22: true, // group member pointer
	23: true, // token group member
}

// extensionName returns the name if mints are often refused for the extension, otherwise the number.
func extensionName(kind uint16) string {
	names := map[uint16]string{
		1: "TransferFeeConfig", 3: "MintCloseAuthority", 4: "ConfidentialTransferMint", 6: "DefaultAccountState", 9: "NonTransferable",
		10: "InterestBearingConfig", 12: "PermanentDelegate", 14: "TransferHook", 16: "ConfidentialTransferFeeConfig",
		24: "ConfidentialMintBurn", 25: "ScaledUiAmount", 26: "Pausable",
	}
	if name, ok := names[kind]; ok {
		return name
	}
	return fmt.Sprint(kind)
}
