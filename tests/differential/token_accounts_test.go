package differential

import (
	"encoding/binary"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// The layout of mints and token accounts, in bytes.
const (
	mintSize         = 82
	tokenAccountSize = 165

	mintDecimalsOffset = 44

	ownerOffset           = 32
	amountOffset          = 64
	delegateOffset        = 72
	stateOffset           = 108
	nativeOffset          = 109
	reserveOffset         = 113
	delegatedAmountOffset = 121
	closeAuthorityOffset  = 129
	extensionsOffset      = 166

	stateInitialized = 1
	stateFrozen      = 2
)

// Token-2022 extensions.
const (
	transferFeeConfig    = 1
	transferFeeAmount    = 2
	mintCloseAuthority   = 3
	confidentialMint     = 4
	defaultAccountState  = 6
	immutableOwner       = 7
	memoTransfer         = 8
	nonTransferable      = 9
	interestBearing      = 10
	cpiGuard             = 11
	permanentDelegate    = 12
	transferHook         = 14
	metadataPointer      = 18
	tokenMetadata        = 19
	groupPointer         = 20
	tokenGroup           = 21
	groupMemberPointer   = 22
	tokenGroupMember     = 23
	pausable             = 26
	nonexistentExtension = 999
)

// extension is a mint or token account extension.
type extension struct {
	kind  uint16
	value []byte
}

// withExtensions appends extensions to the data of mints (accountType 1) or token accounts (accountType 2).
func withExtensions(data []byte, accountType byte, extensions ...extension) []byte {
	if len(extensions) == 0 {
		return data
	}
	extended := make([]byte, extensionsOffset)
	copy(extended, data)
	extended[tokenAccountSize] = accountType
	for _, e := range extensions {
		extended = binary.LittleEndian.AppendUint16(extended, e.kind)
		extended = binary.LittleEndian.AppendUint16(extended, uint16(len(e.value)))
		extended = append(extended, e.value...)
	}
	return extended
}

// newMint returns a mint's data with six decimals and a freeze authority.
func newMint(extensions ...extension) []byte {
	data := make([]byte, mintSize)
	data[mintDecimalsOffset] = 6
	data[45] = 1
	data[46] = 1
	data[50] = 0xfe
	return withExtensions(data, 1, extensions...)
}

// newTokenAccount returns a token account. If it holds wrapped SOL, it holds the amount in lamports too.
func newTokenAccount(rent model.Rent, program, mint, owner model.Address, amount uint64,
	extensions ...extension) model.Account {
	data := make([]byte, tokenAccountSize)
	copy(data, mint[:])
	copy(data[ownerOffset:], owner[:])
	binary.LittleEndian.PutUint64(data[amountOffset:], amount)
	data[stateOffset] = stateInitialized
	extended := withExtensions(data, 2, extensions...)
	lamports := rent.Exempt(len(extended))
	if isNativeMint(mint) {
		extended[nativeOffset] = 1
		binary.LittleEndian.PutUint64(extended[reserveOffset:], lamports)
		lamports += amount
	}
	return model.Account{Lamports: lamports, Owner: program, Data: extended}
}

// reallocated returns a token account with longer data and the lamports that keep it rent exempt. Like
// Token-2022, it adds them to the wrapped SOL reserve.
func reallocated(rent model.Rent, account model.Account, data []byte) model.Account {
	lamports := rent.Exempt(len(data)) - rent.Exempt(len(account.Data))
	account.Data = data
	account.Lamports += lamports
	if account.Data[nativeOffset] == 1 {
		reserve := binary.LittleEndian.Uint64(account.Data[reserveOffset:])
		return withNumber(account, reserveOffset, reserve+lamports)
	}
	return account
}

func isNativeMint(mint model.Address) bool {
	return mint == model.WrappedSOL || mint == model.WrappedSOL2022
}

// isTokenAccount reports whether an account is a token account of either token program.
func isTokenAccount(account model.Account) bool {
	switch account.Owner {
	case solana.TokenProgramID, solana.Token2022ProgramID:
		return len(account.Data) == tokenAccountSize ||
			len(account.Data) > extensionsOffset && account.Data[tokenAccountSize] == 2
	}
	return false
}

func mintOf(account model.Account) model.Address { return model.Address(account.Data[:32]) }

func ownerOf(account model.Account) model.Address {
	return model.Address(account.Data[ownerOffset:][:32])
}

func amountOf(account model.Account) uint64 {
	if !isTokenAccount(account) {
		return 0
	}
	return binary.LittleEndian.Uint64(account.Data[amountOffset:])
}

// isExclusive reports whether only the owner controls a token account: there is neither a delegate nor a
// close authority.
func isExclusive(account model.Account) bool {
	return binary.LittleEndian.Uint32(account.Data[delegateOffset:]) == 0 &&
		binary.LittleEndian.Uint32(account.Data[closeAuthorityOffset:]) == 0
}

// withBytes returns the account with the bytes at offset replaced.
func withBytes(account model.Account, offset int, value ...byte) model.Account {
	account.Data = slices.Clone(account.Data)
	copy(account.Data[offset:], value)
	return account
}

func withNumber(account model.Account, offset int, value uint64) model.Account {
	return withBytes(account, offset, binary.LittleEndian.AppendUint64(nil, value)...)
}

// withOption returns the account with an optional address at offset.
func withOption(account model.Account, offset int, address model.Address) model.Account {
	return withBytes(account, offset, append([]byte{1, 0, 0, 0}, address[:]...)...)
}

// withoutOption returns the account with the optional address at offset removed. Like SPL Token, it keeps the
// address bytes.
func withoutOption(account model.Account, offset int) model.Account {
	return withBytes(account, offset, 0, 0, 0, 0)
}

// extensionAt returns the offset of an extension's value, or 0 if the account lacks the extension.
func extensionAt(data []byte, kind uint16) int {
	for at := extensionsOffset; at+4 <= len(data); {
		found, size := binary.LittleEndian.Uint16(data[at:]), int(binary.LittleEndian.Uint16(data[at+2:]))
		if found == kind {
			return at + 4
		}
		at += 4 + size
	}
	return 0
}
