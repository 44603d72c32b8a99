package ledger

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// The layout of mints and token accounts of both token programs. With extensions, a type follows at the end of a token
// account, for mints as well.
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
	// Supply is in base units.
	Supply   uint64
	Decimals uint8
}

// Token is an initialized token account of SPL Token or Token-2022.
type Token struct {
	Mint, Owner solana.PublicKey
	// Amount is in base units.
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

// isOfTokens reports whether an account of a token program has a size, or with extensions a type.
func isOfTokens(account *engine.Account, size int, kind byte) bool {
	if account == nil || account.Owner != solana.TokenProgramID && account.Owner != solana.Token2022ProgramID {
		return false
	}
	return len(account.Data) == size || len(account.Data) > tokenSize && account.Data[tokenSize] == kind
}

func (l *Ledger) balances(keys []solana.PublicKey) Balances {
	balances := Balances{Lamports: make([]uint64, len(keys))}
	for i, key := range keys {
		account := l.accounts[key]
		if account == nil {
			continue
		}
		balances.Lamports[i] = account.Lamports
		token, is := ParseToken(account)
		if !is {
			continue
		}
		mint, _ := ParseMint(l.accounts[token.Mint])
		balances.Tokens = append(balances.Tokens, TokenBalance{
			Account: i, Mint: token.Mint, Owner: token.Owner, Program: account.Owner, Amount: token.Amount, Decimals: mint.Decimals,
		})
	}
	return balances
}
