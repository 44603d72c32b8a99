package ledger_test

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

func TestMintsAndTokenAccounts(t *testing.T) {
	account := func(size int, set map[int]byte) *engine.Account {
		data := make([]byte, size)
		for offset, value := range set {
			data[offset] = value
		}
		return &engine.Account{Lamports: 1, Owner: solana.Token2022ProgramID, Data: data}
	}
	stranger := account(82, map[int]byte{45: 1})
	stranger.Owner = solana.SystemProgramID
	for name, sample := range map[string]struct {
		account     *engine.Account
		mint, token bool
	}{
		"none":                           {nil, false, false},
		"empty":                          {account(0, nil), false, false},
		"mint":                           {account(82, map[int]byte{36: 7, 44: 6, 45: 1}), true, false},
		"mint of another program":        {stranger, false, false},
		"mint that is not initialized":   {account(82, nil), false, false},
		"mint with extensions":           {account(200, map[int]byte{36: 7, 44: 6, 45: 1, 165: 1}), true, false},
		"token account":                  {account(165, map[int]byte{0: 1, 32: 2, 64: 9, 108: 1}), false, true},
		"token account with extensions":  {account(200, map[int]byte{0: 1, 32: 2, 64: 9, 108: 1, 165: 2}), false, true},
		"token account, not initialized": {account(165, map[int]byte{45: 1}), false, false},
		"multisig":                       {account(355, map[int]byte{45: 1, 108: 1}), false, false},
	} {
		mint, isMint := ledger.ParseMint(sample.account)
		token, isToken := ledger.ParseToken(sample.account)
		require.Equal(t, []bool{sample.mint, sample.token}, []bool{isMint, isToken}, name)
		if isMint {
			require.Equal(t, ledger.Mint{Supply: 7, Decimals: 6}, mint, name)
		}
		if isToken {
			require.Equal(t, ledger.Token{Mint: solana.PublicKey{1}, Owner: solana.PublicKey{2}, Amount: 9}, token, name)
		}
	}
}
