package model

import (
	"encoding/binary"
)

// The layout of mints and token accounts, shared by both programs. Offsets and sizes are in bytes.
const (
	mintSize         = 82
	tokenAccountSize = 165
	multisigSize     = 355

	amountOffset          = 64
	delegateOffset        = 72
	stateOffset           = 108
	nativeOffset          = 109
	reserveOffset         = 113
	delegatedOffset       = 121
	closeAuthorityOffset  = 129
	accountTypeOffset     = 165 // Only in accounts with extensions.
	extensionsOffset      = 166
	mintDecimalsOffset    = 44
	mintInitializedOffset = 45

	mintType         = 1
	tokenAccountType = 2

	tokenInitialized = 1
	tokenFrozen      = 2
)

// Token-2022 extensions.
const (
	extensionNone             = 0
	extensionTransferFee      = 2
	extensionImmutableOwner   = 7
	extensionMemoTransfer     = 8
	extensionCPIGuard         = 11
	extensionMetadataPointer  = 18
	extensionTokenMetadata    = 19
	extensionGroupPointer     = 20
	extensionTokenGroup       = 21
	extensionGroupMember      = 22
	extensionTokenGroupMember = 23
	transferFeeSize           = 8
)

// TokenAccount contains the token account fields that the protocol depends on.
type TokenAccount struct {
	Program  Address
	Mint     Address
	Owner    Address
	Amount   uint64
	IsFrozen bool
	// Delegate is meaningful only if HasDelegate is true. It can transfer DelegatedAmount tokens.
	Delegate          Address
	DelegatedAmount   uint64
	HasDelegate       bool
	HasCloseAuthority bool
	// CanReceive reports whether transfers to the account succeed: it is initialized and not frozen, and
	// extensions add no conditions.
	CanReceive bool
	// NeedsMint reports whether Token-2022 refuses transfers from the account that do not name the mint.
	// Mints that can hold an escrow never create such accounts.
	NeedsMint bool
	// IsGuarded reports whether a CPI guard blocks transfers that the owner signs.
	IsGuarded bool
}

// ReadTokenAccount reads a token account of either program. It returns false for other accounts.
func ReadTokenAccount(account Account) (t TokenAccount, ok bool) {
	data := account.Data
	switch {
	case account.Owner == tokenProgram:
		ok = len(data) == tokenAccountSize
	case account.Owner == token2022Program && len(data) > tokenAccountSize:
		ok = len(data) != multisigSize && data[accountTypeOffset] == tokenAccountType
	case account.Owner == token2022Program:
		ok = len(data) == tokenAccountSize
	}
	if !ok {
		return t, false
	}
	t.Program = account.Owner
	copy(t.Mint[:], data)
	copy(t.Owner[:], data[32:])
	t.Amount = binary.LittleEndian.Uint64(data[amountOffset:])
	t.Delegate, t.HasDelegate = readOption(data[delegateOffset:])
	t.DelegatedAmount = binary.LittleEndian.Uint64(data[delegatedOffset:])
	_, t.HasCloseAuthority = readOption(data[closeAuthorityOffset:])
	t.IsFrozen = data[stateOffset] == tokenFrozen
	t.CanReceive = data[stateOffset] == tokenInitialized
	wellFormed := eachExtension(data, func(kind uint16, value []byte) {
		switch kind {
		case extensionImmutableOwner:
		case extensionCPIGuard:
			t.IsGuarded = len(value) == 1 && value[0] == 1
		case extensionMemoTransfer:
			t.CanReceive = t.CanReceive && len(value) == 1 && value[0] == 0
		case extensionTransferFee:
			// Token-2022 does not find an extension of another length.
			t.NeedsMint = len(value) == transferFeeSize
			t.CanReceive = false
		default:
			t.CanReceive = false
		}
	})
	t.CanReceive = t.CanReceive && wellFormed
	return t, true
}

// readOption reads an optional key: a tag in a u32, then the key.
func readOption(data []byte) (address Address, ok bool) {
	return Address(data[4:36]), binary.LittleEndian.Uint32(data) != 0
}

// eachExtension visits the extensions in an account's data, and reports whether all are well formed.
func eachExtension(data []byte, visit func(kind uint16, value []byte)) bool {
	if len(data) <= extensionsOffset {
		return true
	}
	for rest := data[extensionsOffset:]; len(rest) >= 2; {
		kind := binary.LittleEndian.Uint16(rest)
		if kind == extensionNone {
			return true
		}
		if len(rest) < 4 {
			return false
		}
		size := int(binary.LittleEndian.Uint16(rest[2:]))
		if len(rest) < 4+size {
			return false
		}
		visit(kind, rest[4:4+size])
		rest = rest[4+size:]
	}
	return true
}

// isSupportedMint reports whether a mint can hold an escrow: it is initialized, and uses only extensions from
// the allowlist.
func isSupportedMint(mint Account) bool {
	data := mint.Data
	if len(data) == mintSize {
		return data[mintInitializedOffset] == 1
	}
	if mint.Owner != token2022Program || len(data) <= accountTypeOffset || len(data) == multisigSize ||
		data[accountTypeOffset] != mintType || data[mintInitializedOffset] != 1 {
		return false
	}
	allowed := true
	wellFormed := eachExtension(data, func(kind uint16, _ []byte) {
		allowed = allowed && kind >= extensionMetadataPointer && kind <= extensionTokenGroupMember
	})
	return allowed && wellFormed
}

// hasDecimals reports whether an account is a mint using these decimals.
func hasDecimals(mint Account, decimals uint8) bool {
	return len(mint.Data) >= mintSize && mint.Data[mintDecimalsOffset] == decimals
}

func (d *draft) tokenAccount(address Address) (TokenAccount, bool) {
	return ReadTokenAccount(d.account(address))
}

// transfer moves tokens and, if they are wrapped SOL, the same amount of lamports. The caller has checked the
// balance.
func (d *draft) transfer(from, to Address, amount uint64) {
	d.addTokens(from, -amount)
	d.addTokens(to, amount)
}

func (d *draft) addTokens(address Address, amount uint64) {
	account := d.account(address)
	account.Data = withUint64(account.Data, amountOffset,
		binary.LittleEndian.Uint64(account.Data[amountOffset:])+amount)
	if account.Data[nativeOffset] == 1 {
		account.Lamports += amount
	}
	d.put(address, account)
}

// withUint64 returns a copy of data with the number at offset replaced.
func withUint64(data []byte, offset int, value uint64) []byte {
	changed := append([]byte(nil), data...)
	binary.LittleEndian.PutUint64(changed[offset:], value)
	return changed
}

// deposit transfers tokens with the owner's signature. It returns the token program's errors; the programs
// check a frozen destination at different points. An owner approved as its own delegate transfers as delegate:
// the delegated amount limits the transfer. The CPI guard blocks both.
func (d *draft) deposit(from, to Address, amount uint64) error {
	source, _ := d.tokenAccount(from)
	destination, _ := d.tokenAccount(to)
	asDelegate := source.HasDelegate && source.Delegate == source.Owner
	if err := firstError(
		failIf(source.IsFrozen || (destination.IsFrozen && source.Program == tokenProgram), AccountFrozen),
		failIf(source.Amount < amount, InsufficientFunds),
		failIf(source.NeedsMint, MintRequiredForTransfer),
		failIf(source.IsGuarded, CPIGuardTransferBlocked),
		failIf(asDelegate && source.DelegatedAmount < amount, InsufficientFunds),
		failIf(destination.IsFrozen, AccountFrozen),
	); err != nil {
		return err
	}
	if asDelegate {
		d.useApproval(from, source.DelegatedAmount-amount)
	}
	d.transfer(from, to, amount)
	return nil
}

// useApproval sets the delegated amount. At zero the delegate is removed: SPL Token clears the tag, Token-2022
// tag and key.
func (d *draft) useApproval(address Address, left uint64) {
	account := d.account(address)
	account.Data = withUint64(account.Data, delegatedOffset, left)
	switch {
	case left > 0:
	case account.Owner == tokenProgram:
		clear(account.Data[delegateOffset : delegateOffset+4])
	default:
		clear(account.Data[delegateOffset : delegateOffset+36])
	}
	d.put(address, account)
}

// newTokenAccount encodes an empty token account. For wrapped SOL the lamports beyond the rent become tokens.
func newTokenAccount(mint, owner Address, rent, lamports uint64) []byte {
	data := make([]byte, tokenAccountSize)
	copy(data, mint[:])
	copy(data[32:], owner[:])
	data[stateOffset] = tokenInitialized
	if isWrappedSOL(mint) {
		data[nativeOffset] = 1
		binary.LittleEndian.PutUint64(data[reserveOffset:], rent)
		binary.LittleEndian.PutUint64(data[amountOffset:], lamports-rent)
	}
	return data
}
