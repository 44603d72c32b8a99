package token

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/amount"
)

// The mints of stablecoins on mainnet, and the mint of USDC on devnet.
var (
	USDC       = solana.MustPublicKeyFromBase58("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	USDCDevnet = solana.MustPublicKeyFromBase58("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU")
	USDT       = solana.MustPublicKeyFromBase58("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")
	PYUSD      = solana.MustPublicKeyFromBase58("2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo")
	EURC       = solana.MustPublicKeyFromBase58("HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr")
)

// wellKnown is a mint with built-in symbol and decimals.
type wellKnown struct {
	symbol   string
	decimals uint8
}

// wellKnownMints lists the mints whose decimals rest on no node. The table contains no genesis hashes: a
// mint's address belongs to the creator's key, so no other mint uses it on another cluster, and a node that
// lies about decimals can lie about the genesis hash as well.
var wellKnownMints = map[solana.PublicKey]wellKnown{
	solana.WrappedSol: {amount.SOLSymbol, amount.SOLDecimals},
	WrappedSOL2022:    {amount.SOLSymbol, amount.SOLDecimals},
	USDC:              {"USDC", 6},
	USDCDevnet:        {"USDC", 6},
	USDT:              {"USDT", 6},
	PYUSD:             {"PYUSD", 6},
	EURC:              {"EURC", 6},
}

// reservedSymbols belong to well-known mints. Metadata of another mint cannot claim them.
var reservedSymbols = []string{amount.SOLSymbol, "WSOL", "USDC", "USDT", "PYUSD", "EURC"}

// plausibleSymbol matches displayable symbols. They cannot be read as numbers or addresses, and contain no
// letters that look like ASCII letters.
var plausibleSymbol = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,9}$`)

// Symbol returns a mint's symbol for people: the built-in symbol of well-known mints, otherwise the symbol
// from the Token-2022 extension or the Token Metadata account at [MetadataAddress]. Either account can be
// nil.
//
// Anyone can create a mint with any metadata. Symbol returns an empty string for symbols of well-known mints
// (in metadata of another mint), and for symbols other than 1 to 10 ASCII letters and digits. A symbol still
// does not identify a mint: compare addresses before a payment.
func Symbol(mint solana.PublicKey, account, metadata *rpc.Account) string {
	if known := WellKnownSymbol(mint); known != "" {
		return known
	}
	symbol := ""
	if account != nil && account.Owner == solana.Token2022ProgramID {
		symbol = extensionSymbol(mint, account.Data.GetBinary())
	}
	if symbol == "" && metadata != nil && metadata.Owner == solana.TokenMetadataProgramID {
		symbol = metadataSymbol(mint, metadata.Data.GetBinary())
	}
	reserved := func(other string) bool { return strings.EqualFold(symbol, other) }
	if !plausibleSymbol.MatchString(symbol) || slices.ContainsFunc(reservedSymbols, reserved) {
		return ""
	}
	return symbol
}

// WellKnownSymbol returns the symbol if the mint's decimals are built in: wrapped SOL, USDC, USDT, PYUSD and
// EURC. Otherwise it returns an empty string.
func WellKnownSymbol(mint solana.PublicKey) string { return wellKnownMints[mint].symbol }

// WellKnownDecimals returns the number of decimals if the mint has a WellKnownSymbol.
func WellKnownDecimals(mint solana.PublicKey) (decimals uint8, known bool) {
	found, known := wellKnownMints[mint]
	return found.decimals, known
}

// MetadataAddress derives the Token Metadata account address holding a mint's name and symbol.
func MetadataAddress(mint solana.PublicKey) (solana.PublicKey, error) {
	address, _, err := solana.FindTokenMetadataAddress(mint)
	return address, err
}

// Layouts of Token Metadata and Token-2022 metadata: fixed fields, then name and symbol as Borsh strings.
// Token Metadata pads strings with zeros.
const (
	extensionTokenMetadata = 19
	// offsetExtensionMint follows the update authority.
	offsetExtensionMint = solana.PublicKeyLength
	// offsetMetadataMint follows the account's type and the update authority.
	offsetMetadataMint = 1 + solana.PublicKeyLength
	metadataType       = 4
	// maxMintExtensions exceeds the number of Token-2022 extensions.
	maxMintExtensions = 64
)

func extensionSymbol(mint solana.PublicKey, data []byte) (symbol string) {
	eachExtension(data, maxMintExtensions, func(kind uint16, value []byte) {
		if kind == extensionTokenMetadata {
			symbol = symbolAfter(mint, value, offsetExtensionMint)
		}
	})
	return symbol
}

func metadataSymbol(mint solana.PublicKey, data []byte) string {
	if len(data) == 0 || data[0] != metadataType {
		return ""
	}
	return symbolAfter(mint, data, offsetMetadataMint)
}

// symbolAfter reads the mint, the name and the symbol from an offset. It returns an empty string for another
// mint's or malformed metadata.
func symbolAfter(mint solana.PublicKey, data []byte, offset int) string {
	end := offset + solana.PublicKeyLength
	if len(data) < end || solana.PublicKeyFromBytes(data[offset:end]) != mint {
		return ""
	}
	_, rest, found := borshString(data[end:])
	if !found {
		return ""
	}
	symbol, _, _ := borshString(rest)
	return strings.TrimSpace(strings.TrimRight(symbol, "\x00"))
}

func borshString(data []byte) (text string, rest []byte, found bool) {
	if len(data) < 4 {
		return "", nil, false
	}
	length := uint64(binary.LittleEndian.Uint32(data))
	if uint64(len(data)-4) < length {
		return "", nil, false
	}
	return string(data[4 : 4+length]), data[4+length:], true
}
