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
