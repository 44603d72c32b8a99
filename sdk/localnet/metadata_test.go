package localnet

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/token"
)

func TestMetadataHasTheSymbol(t *testing.T) {
	mint := solana.PublicKey{7}
	m, err := metadataOf(mint)
	require.NoError(t, err)
	address, err := token.MetadataAddress(mint)
	require.NoError(t, err)
	require.Equal(t, address, m.address)
	require.Len(t, m.data, metadataLength)
	account := &rpc.Account{
		Owner: solana.TokenMetadataProgramID, Data: rpc.DataBytesOrJSONFromBytes(m.data),
	}
	require.Equal(t, Symbol, token.Symbol(mint, nil, account))
	require.Empty(t, token.Symbol(solana.PublicKey{8}, nil, account), "it belongs to one mint")
	require.Contains(t, string(m.data), mintName)
}

// hasASymbol requires that the chain stores the metadata where wallets look for it.
func hasASymbol(t *testing.T, net *Net) {
	t.Helper()
	address, err := token.MetadataAddress(net.Mint)
	require.NoError(t, err)
	found, err := net.Chain.Client().GetMultipleAccountsWithOpts(t.Context(),
		[]solana.PublicKey{net.Mint, address}, &rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentConfirmed})
	require.NoError(t, err)
	require.NotNil(t, found.Value[1])
	require.Equal(t, Symbol, token.Symbol(net.Mint, found.Value[0], found.Value[1]))
}
