package mint

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/token"
)

func TestAmountsOfWellKnownMintsNeedNoRequest(t *testing.T) {
	require.Equal(t, "0.02 SOL", Offline(solana.PublicKey{}, 20_000_000))
	require.Equal(t, "0.02 SOL", Offline(solana.WrappedSol, 20_000_000))
	require.Equal(t, "2.60 USDC", Offline(token.USDC, 2_600_000))
	require.Equal(t, "26 base units", Offline(solana.PublicKey{1}, 26))
}

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
