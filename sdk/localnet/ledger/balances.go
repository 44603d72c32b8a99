package ledger

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// The layout of mints and token accounts of both token programs. With extensions, a type follows the account.
const (
	mintSize     = 82
	mintDecimals = 44

	tokenSize   = 165
	tokenOwner  = 32
	tokenAmount = 64
	tokenState  = 108
	tokenType   = 2
)

func (l *Ledger) balances(keys []solana.PublicKey) Balances {
	balances := Balances{Lamports: make([]uint64, len(keys))}
	for i, key := range keys {
		account := l.accounts[key]
		if account == nil {
			continue
		}
		balances.Lamports[i] = account.Lamports
		if !IsTokenAccount(account) {
			continue
		}
		balance := TokenBalance{
			Account: i, Mint: solana.PublicKeyFromBytes(account.Data[:tokenOwner]),
			Owner: solana.PublicKeyFromBytes(account.Data[tokenOwner:tokenAmount]), Program: account.Owner,
			Amount: binary.LittleEndian.Uint64(account.Data[tokenAmount:]),
		}
		if mint := l.accounts[balance.Mint]; mint != nil && len(mint.Data) >= mintSize {
			balance.Decimals = mint.Data[mintDecimals]
		}
		balances.Tokens = append(balances.Tokens, balance)
	}
	return balances
}

// IsTokenAccount reports whether an account is an initialized token account of SPL Token or Token-2022.
func IsTokenAccount(account *engine.Account) bool {
	if account.Owner != solana.TokenProgramID && account.Owner != solana.Token2022ProgramID {
		return false
	}
	return len(account.Data) >= tokenSize && account.Data[tokenState] != 0 &&
		(len(account.Data) == tokenSize || account.Data[tokenSize] == tokenType)
}
