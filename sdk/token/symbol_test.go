package token

import (
	"encoding/binary"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"
)

func account(owner solana.PublicKey, data []byte) *rpc.Account {
	return &rpc.Account{Owner: owner, Data: rpc.DataBytesOrJSONFromBytes(data)}
}

func borsh(texts ...string) (data []byte) {
	for _, text := range texts {
		data = append(binary.LittleEndian.AppendUint32(data, uint32(len(text))), text...)
	}
	return data
}

// metadata returns a Token Metadata account. The strings have a fixed length.
func metadata(mint solana.PublicKey, symbol string) []byte {
	data := append([]byte{metadataType}, make([]byte, solana.PublicKeyLength)...)
	data = append(data, mint[:]...)
	return append(data, borsh("A name\x00\x00\x00", symbol+"\x00\x00\x00", "https://example.com")...)
}

// extended returns a Token-2022 mint containing a metadata pointer and metadata.
func extended(mint solana.PublicKey, symbol string) []byte {
	data := make([]byte, offsetExtensions)
	data[offsetAccountType] = accountTypeMint
	data = append(data, 18, 0, 64, 0)
	data = append(data, make([]byte, 64)...)
	value := append(make([]byte, solana.PublicKeyLength), mint[:]...)
	value = append(value, borsh("A name", symbol, "https://example.com")...)
	data = append(data, extensionTokenMetadata, 0)
	return append(binary.LittleEndian.AppendUint16(data, uint16(len(value))), value...)
}

func TestTheSymbolIsThatOfTheMetadata(t *testing.T) {
	mint := solana.PublicKey{7}
	require.Equal(t, "BONK", Symbol(mint, account(solana.TokenProgramID, nil), account(solana.TokenMetadataProgramID, metadata(mint, "BONK"))))
	require.Equal(t, "BONK", Symbol(mint, account(solana.Token2022ProgramID, extended(mint, "BONK")), nil))
	require.Empty(t, Symbol(mint, nil, nil))
}

func TestWellKnownMintsHaveTheirSymbolWithoutMetadata(t *testing.T) {
	for mint, symbol := range map[solana.PublicKey]string{
		solana.WrappedSol: "SOL", WrappedSOL2022: "SOL", USDC: "USDC", USDCDevnet: "USDC",
		solana.MustPublicKeyFromBase58("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"): "USDT",
		solana.MustPublicKeyFromBase58("2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo"): "PYUSD",
		solana.MustPublicKeyFromBase58("HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr"): "EURC",
	} {
		_, known := WellKnownDecimals(mint)
		require.True(t, known)
		require.Equal(t, symbol, Symbol(mint, nil, account(solana.TokenMetadataProgramID, metadata(mint, "OTHER"))))
	}
}

// A worthless token that calls itself USDC must not be shown as USDC.
func TestMisleadingSymbolsAreNotShown(t *testing.T) {
	mint := solana.PublicKey{7}
	for _, symbol := range []string{
		"USDC", "usdc", "Sol", "WSOL", "USDT", "", " ", "$USDC", "USDС" /* Cyrillic */, "100", "3USDC", "US DC",
		"\x1b[31mUSDC", "USDC\n", "ABCDEFGHIJK", "A.B",
	} {
		require.Empty(t, Symbol(mint, nil, account(solana.TokenMetadataProgramID, metadata(mint, symbol))), "%q", symbol)
		require.Empty(t, Symbol(mint, account(solana.Token2022ProgramID, extended(mint, symbol)), nil), "%q", symbol)
	}
}

func TestMetadataOfAnotherMintOrProgramHasNoSymbol(t *testing.T) {
	mint := solana.PublicKey{7}
	other := solana.PublicKey{8}
	require.Empty(t, Symbol(mint, nil, account(solana.TokenMetadataProgramID, metadata(other, "BONK"))))
	require.Empty(t, Symbol(mint, nil, account(solana.SystemProgramID, metadata(mint, "BONK"))))
	require.Empty(t, Symbol(mint, account(solana.Token2022ProgramID, extended(other, "BONK")), nil))
	require.Empty(t, Symbol(mint, account(solana.TokenProgramID, extended(mint, "BONK")), nil))
	whole := metadata(mint, "BONK")
	for length := range whole {
		Symbol(mint, nil, account(solana.TokenMetadataProgramID, whole[:length])) // must not panic
		Symbol(mint, account(solana.Token2022ProgramID, extended(mint, "BONK")[:length]), nil)
	}
}
