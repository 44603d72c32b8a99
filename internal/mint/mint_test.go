package mint

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
)

func TestOnlyMintsHaveDecimals(t *testing.T) {
	plain := make([]byte, length)
	plain[decimalsByte], plain[initialByte] = 6, 1
	extended := append(append([]byte{}, plain...), make([]byte, 100)...)
	extended[accountLength] = kindMint
	for _, data := range [][]byte{plain, extended} {
		decimals, err := decode(solana.PublicKey{}, data)
		require.NoError(t, err)
		require.EqualValues(t, 6, decimals)
	}
	uninitialized := make([]byte, length)
	account := make([]byte, accountLength)
	account[initialByte] = 1
	extendedAccount := append(append([]byte{}, account...), 2)
	for _, data := range [][]byte{nil, uninitialized, account, extendedAccount, plain[:81]} {
		_, err := decode(solana.PublicKey{}, data)
		require.ErrorContains(t, err, "is not a mint")
	}
}
