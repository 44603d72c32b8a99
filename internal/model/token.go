package model

import (
	"encoding/binary"
)

// The layout of mints and token accounts, which both token programs share.
const (
	mintSize         = 82
	tokenAccountSize = 165
	multisigSize     = 355
	// accountTypeAt is where Token-2022 says what an account with extensions is.
	accountTypeAt = 165
	extensionsAt  = 166

	mintType         = 1
	tokenAccountType = 2

	tokenInitialized = 1
	tokenFrozen      = 2
)

// Extensions of Token-2022.
const (
	extensionNone             = 0
	extensionImmutableOwner   = 7
	extensionMemoTransfer     = 8
	extensionCPIGuard         = 11
	extensionMetadataPointer  = 18
	extensionTokenMetadata    = 19
	extensionGroupPointer     = 20
	extensionTokenGroup       = 21
	extensionGroupMember      = 22
	extensionTokenGroupMember = 23
)

// TokenAccount is what is read of a token account.
type TokenAccount struct {
	Program  Address
	Mint     Address
	Owner    Address
	Amount   uint64
	IsFrozen bool
	// CanReceive reports whether anyone can transfer tokens to it: it is initialised and not frozen, and no extension wants
	// more of a transfer than that.
	CanReceive bool
	// IsGuarded reports whether its owner does not let other programs take tokens from it.
	IsGuarded bool
}

// ReadTokenAccount reads a token account of either token program; ok is false for any other account.
func ReadTokenAccount(account Account) (t TokenAccount, ok bool) {
	data := account.Data
	switch {
	case account.Owner == tokenProgram:
		ok = len(data) == tokenAccountSize
	case account.Owner == token2022Program && len(data) > tokenAccountSize:
		ok = len(data) != multisigSize && data[accountTypeAt] == tokenAccountType
	case account.Owner == token2022Program:
		ok = len(data) == tokenAccountSize
	}
	if !ok {
		return t, false
	}
	t.Program = account.Owner
	copy(t.Mint[:], data)
	copy(t.Owner[:], data[32:])
	t.Amount = binary.LittleEndian.Uint64(data[64:])
	t.IsFrozen = data[108] == tokenFrozen
	t.CanReceive = data[108] == tokenInitialized
	wellFormed := eachExtension(data, func(kind uint16, value []byte) {
		switch kind {
		case extensionImmutableOwner:
		case extensionCPIGuard:
			t.IsGuarded = len(value) == 1 && value[0] == 1
		case extensionMemoTransfer:
			t.CanReceive = t.CanReceive && len(value) == 1 && value[0] == 0
		default:
			t.CanReceive = false
		}
	})
	t.CanReceive = t.CanReceive && wellFormed
	return t, true
}

// eachExtension visits the extensions of an account's data, and reports whether they are well formed.
func eachExtension(data []byte, visit func(kind uint16, value []byte)) bool {
	if len(data) <= extensionsAt {
		return true
	}
	for rest := data[extensionsAt:]; len(rest) >= 2; {
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

// isSupportedMint reports whether escrow can be held in a mint of one of the token programs: nobody but its freeze authority
// can take or block what an account holds, and no transfer costs more than it says.
func isSupportedMint(mint Account) bool {
	data := mint.Data
	if len(data) == mintSize {
		return data[45] == 1
	}
	if mint.Owner != token2022Program || len(data) <= accountTypeAt || len(data) == multisigSize ||
		data[accountTypeAt] != mintType || data[45] != 1 {
		return false
	}
	allowed := true
	wellFormed := eachExtension(data, func(kind uint16, _ []byte) {
		allowed = allowed && kind >= extensionMetadataPointer && kind <= extensionTokenGroupMember
	})
	return allowed && wellFormed
}

func (d *draft) tokenAccount(address Address) (TokenAccount, bool) {
	return ReadTokenAccount(d.account(address))
}

// transfer moves tokens that are known to be there, and with wrapped SOL the lamports that they are.
func (d *draft) transfer(from, to Address, amount uint64) {
	d.addTokens(from, -amount)
	d.addTokens(to, amount)
}

func (d *draft) addTokens(address Address, amount uint64) {
	account := d.account(address)
	account.Data = withUint64(account.Data, 64, binary.LittleEndian.Uint64(account.Data[64:])+amount)
	if account.Data[109] == 1 {
		account.Lamports += amount
	}
	d.put(address, account)
}

// withUint64 is a copy of data with another number in it.
func withUint64(data []byte, at int, value uint64) []byte {
	changed := append([]byte(nil), data...)
	binary.LittleEndian.PutUint64(changed[at:], value)
	return changed
}

// deposit takes tokens that a signer owns; it fails as the token program does, whose two implementations look at the frozen
// destination at different points.
func (d *draft) deposit(from, to Address, amount uint64) error {
	source, _ := d.tokenAccount(from)
	destination, _ := d.tokenAccount(to)
	if err := first(
		refuse(source.IsFrozen || (destination.IsFrozen && source.Program == tokenProgram), AccountFrozen),
		refuse(source.Amount < amount, TooLittle),
		refuse(source.IsGuarded, GuardedTransfer),
		refuse(destination.IsFrozen, AccountFrozen),
	); err != nil {
		return err
	}
	d.transfer(from, to, amount)
	return nil
}

// newTokenAccount is the data of an empty token account. One of wrapped SOL takes lamports beyond its rent for tokens.
func newTokenAccount(mint, owner Address, rent, lamports uint64) []byte {
	data := make([]byte, tokenAccountSize)
	copy(data, mint[:])
	copy(data[32:], owner[:])
	data[108] = tokenInitialized
	if isWrappedSOL(mint) {
		data[109] = 1
		binary.LittleEndian.PutUint64(data[113:], rent)
		binary.LittleEndian.PutUint64(data[64:], lamports-rent)
	}
	return data
}
