package differential

import (
	"encoding/binary"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/model"
)

// The layout of mints and token accounts.
const (
	mintSize         = 82
	tokenAccountSize = 165
	stateAt          = 108
	nativeAt         = 109
	reserveAt        = 113
	extensionsAt     = 166

	stateInitialized = 1
	stateFrozen      = 2
)

// Extensions of Token-2022.
const (
	transferFeeConfig      = 1
	transferFeeAmount      = 2
	mintCloseAuthority     = 3
	confidentialMint       = 4
	defaultAccountState    = 6
	immutableOwner         = 7
	memoTransfer           = 8
	nonTransferable        = 9
	interestBearing        = 10
	cpiGuard               = 11
	permanentDelegate      = 12
	transferHook           = 14
	metadataPointer        = 18
	tokenMetadata          = 19
	groupPointer           = 20
	tokenGroup             = 21
	groupMemberPointer     = 22
	tokenGroupMember       = 23
	pausable               = 26
	extensionNobodyHasSeen = 999
)

// extension is an extension as it stands in an account.
type extension struct {
	kind  uint16
	value []byte
}

// withExtensions puts extensions behind the fields that every account of Token-2022 has; accountType is 1 for a mint, 2 for a
// token account.
func withExtensions(data []byte, accountType byte, extensions ...extension) []byte {
	if len(extensions) == 0 {
		return data
	}
	extended := make([]byte, extensionsAt)
	copy(extended, data)
	extended[tokenAccountSize] = accountType
	for _, e := range extensions {
		extended = binary.LittleEndian.AppendUint16(extended, e.kind)
		extended = binary.LittleEndian.AppendUint16(extended, uint16(len(e.value)))
		extended = append(extended, e.value...)
	}
	return extended
}

// mintData is a mint with six decimals and a freeze authority, since accounts get frozen.
func mintData(extensions ...extension) []byte {
	data := make([]byte, mintSize)
	data[44] = 6
	data[45] = 1
	data[46] = 1
	data[50] = 0xfe
	return withExtensions(data, 1, extensions...)
}

// tokenAccount is a token account. One of wrapped SOL keeps what it holds in lamports too.
func tokenAccount(rent model.Rent, program, mint, owner solana.PublicKey, amount uint64, extensions ...extension) model.Account {
	data := make([]byte, tokenAccountSize)
	copy(data, mint[:])
	copy(data[32:], owner[:])
	binary.LittleEndian.PutUint64(data[64:], amount)
	data[stateAt] = stateInitialized
	extended := withExtensions(data, 2, extensions...)
	lamports := rent.Exempt(len(extended))
	if isNativeMint(mint) {
		extended[nativeAt] = 1
		binary.LittleEndian.PutUint64(extended[reserveAt:], lamports)
		lamports += amount
	}
	return model.Account{Lamports: lamports, Owner: program, Data: extended}
}

func isNativeMint(mint solana.PublicKey) bool {
	return mint == model.WrappedSOL || mint == model.WrappedSOL2022
}

// isTokenAccount reports whether an account is a token account of one of the token programs.
func isTokenAccount(account model.Account) bool {
	switch account.Owner {
	case solana.TokenProgramID, solana.Token2022ProgramID:
		return len(account.Data) == tokenAccountSize || len(account.Data) > extensionsAt && account.Data[tokenAccountSize] == 2
	}
	return false
}

func mintOf(account model.Account) solana.PublicKey { return solana.PublicKey(account.Data[:32]) }

func amountOf(account model.Account) uint64 {
	if !isTokenAccount(account) {
		return 0
	}
	return binary.LittleEndian.Uint64(account.Data[64:])
}

// changedData is the account with other bytes at a place.
func changedData(account model.Account, at int, value ...byte) model.Account {
	account.Data = slices.Clone(account.Data)
	copy(account.Data[at:], value)
	return account
}

func changedNumber(account model.Account, at int, value uint64) model.Account {
	return changedData(account, at, binary.LittleEndian.AppendUint64(nil, value)...)
}

// extensionAt is where the value of an extension begins; 0 if the account does not have it.
func extensionAt(data []byte, kind uint16) int {
	for at := extensionsAt; at+4 <= len(data); {
		found, size := binary.LittleEndian.Uint16(data[at:]), int(binary.LittleEndian.Uint16(data[at+2:]))
		if found == kind {
			return at + 4
		}
		at += 4 + size
	}
	return 0
}
