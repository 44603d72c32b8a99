package ledger

import (
	"encoding/binary"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// Layout of mints and token accounts, the same for SPL Token and Token-2022. With extensions, an account type
// follows the base account size, for mints as well.
const (
	mintSize        = 82
	mintSupply      = 36
	mintDecimals    = 44
	mintInitialized = 45
	mintType        = 1

	tokenSize   = 165
	tokenOwner  = 32
	tokenAmount = 64
	tokenState  = 108
	tokenType   = 2
)

// Mint is an initialized mint of SPL Token or Token-2022.
type Mint struct {
	// Supply is measured in base units.
	Supply   uint64
	Decimals uint8
}

// Token is an initialized token account of SPL Token or Token-2022.
type Token struct {
	Mint, Owner solana.PublicKey
	// Amount is measured in base units.
	Amount uint64
}

// ParseMint reads a mint. It reports whether the account, which can be nil, is one.
func ParseMint(account *engine.Account) (Mint, bool) {
	if !isOfTokens(account, mintSize, mintType) || account.Data[mintInitialized] == 0 {
		return Mint{}, false
	}
	return Mint{binary.LittleEndian.Uint64(account.Data[mintSupply:]), account.Data[mintDecimals]}, true
}

// ParseToken reads a token account. It reports whether the account, which can be nil, is one.
func ParseToken(account *engine.Account) (Token, bool) {
	if !isOfTokens(account, tokenSize, tokenType) || account.Data[tokenState] == 0 {
		return Token{}, false
	}
	return Token{
		Mint:   solana.PublicKeyFromBytes(account.Data[:tokenOwner]),
		Owner:  solana.PublicKeyFromBytes(account.Data[tokenOwner:tokenAmount]),
		Amount: binary.LittleEndian.Uint64(account.Data[tokenAmount:]),
	}, true
}

// OwnedByTokenProgram reports whether SPL Token or Token-2022 owns an account, which can be nil.
func OwnedByTokenProgram(account *engine.Account) bool {
	return account != nil && (account.Owner == solana.TokenProgramID || account.Owner == solana.Token2022ProgramID)
}

// isOfTokens reports whether a token program's account matches a size or, if it contains extensions, a type.
func isOfTokens(account *engine.Account, size int, kind byte) bool {
	if !OwnedByTokenProgram(account) {
		return false
	}
	return len(account.Data) == size || len(account.Data) > tokenSize && account.Data[tokenSize] == kind
}

// balances returns the account balances in a transaction, given the changed accounts. Like nodes, it leaves
// out all token balances if the transaction loads no token program, and token accounts with no mint.
func (l *Ledger) balances(t *Transaction, changed map[solana.PublicKey]*engine.Account) Balances {
	account := func(key solana.PublicKey) *engine.Account {
		if after, is := changed[key]; is {
			return after
		}
		return l.accounts[key]
	}
	balances := Balances{Lamports: make([]uint64, len(t.Keys))}
	tokens := slices.Contains(t.Keys, solana.TokenProgramID) || slices.Contains(t.Keys, solana.Token2022ProgramID)
	for i, key := range t.Keys {
		stored := account(key)
		if stored == nil {
			continue
		}
		balances.Lamports[i] = stored.Lamports
		token, is := ParseToken(stored)
		if !is || !tokens {
			continue
		}
		mint, known := ParseMint(account(token.Mint))
		if !known {
			continue
		}
		balances.Tokens = append(balances.Tokens, TokenBalance{
			Account: i, Mint: token.Mint, Owner: token.Owner, Program: stored.Owner, Amount: token.Amount, Decimals: mint.Decimals,
		})
	}
	return balances
}
