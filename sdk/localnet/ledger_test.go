package localnet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
)

func TestKeptLedger(t *testing.T) {
	// Only a started validator keeps a ledger.
	needValidator(t)
	t.Setenv(EnvChain, "")
	t.Setenv(EnvRPCURL, "")
	folder := filepath.Join(t.TempDir(), "ledger")
	options := Options{Ledger: folder, Progress: func(line string) { t.Log(line) }}
	first, err := Start(t.Context(), options)
	require.NoError(t, err)
	require.Equal(t, Validator, first.Chain.Kind)
	holdsTheStartBalances(t, first)
	require.NoError(t, first.Chain.MintTo(t.Context(), first.Mint,
		associatedWith(t, first.Seller.PublicKey(), first.Mint, solana.TokenProgramID), 7))
	now, err := first.Chain.Now(t.Context())
	require.NoError(t, err)
	require.NoError(t, first.Close())

	// Another port, because the chain's is random.
	second, err := Start(t.Context(), options)
	require.NoError(t, err)
	defer func() { require.NoError(t, second.Close()) }()
	require.Equal(t, first.Mint, second.Mint)
	require.Equal(t, first.Treasury, second.Treasury)
	require.Equal(t, first.Buyer.PublicKey(), second.Buyer.PublicKey())
	require.Equal(t, first.Seller.PublicKey(), second.Seller.PublicKey())
	require.Equal(t, first.Chain.UpgradeAuthority, second.Chain.UpgradeAuthority)
	for owner, tokens := range map[solana.PublicKey]uint64{
		second.Buyer.PublicKey(): StartTokens, second.Seller.PublicKey(): 7,
	} {
		requireTokens(t, second.Chain, associatedWith(t, owner, second.Mint, solana.TokenProgramID), tokens)
	}
	later, err := second.Chain.Now(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, later, now)

	other := Program()
	other[len(other)-1] ^= 1
	require.ErrorContains(t, second.Chain.checkProgram(t.Context(), other), "of another version of Haggle")
	require.NoError(t, second.Close())
	require.FileExists(t, filepath.Join(folder, "genesis.bin"))
	require.NoError(t, os.RemoveAll(folder))
}
