// Package mint reads the decimals and the symbol of a mint.
package mint

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// The layout of a mint: it begins with the 82 bytes of SPL Token's; byte 44 is the number of decimals, byte 45 the flag
// for initialized. In Token-2022 byte 165 distinguishes mints with extensions from token accounts.
const (
	length        = 82
	decimalsByte  = 44
	initialByte   = 45
	accountLength = 165
	kindMint      = 1
)

// Mint has the values of a mint that amounts are written with.
type Mint struct {
	Address solana.PublicKey
	// Decimals: a token is ten to this power of base units.
	Decimals uint8
	// Symbol is the mint's symbol, or its shortened address if it has none. See [token.Symbol].
	Symbol string
}

// Tokens returns base units as an amount of the mint.
func (m Mint) Tokens(units uint64) amount.Tokens {
	return amount.Tokens{Units: units, Decimals: m.Decimals, Symbol: m.Symbol}
}

// Offline returns an amount as text without a request: of lamports, for which the address is zero, and of a
// well-known mint in tokens, of any other mint in base units.
func Offline(address solana.PublicKey, units uint64) string {
	if address.IsZero() {
		return amount.SOL(units).String()
	}
	if decimals, known := token.WellKnownDecimals(address); known {
		return amount.Tokens{Units: units, Decimals: decimals, Symbol: token.WellKnownSymbol(address)}.String()
	}
	return fmt.Sprintf("%d base units", units)
}

// Read reads a mint and its metadata, in one request.
func Read(ctx context.Context, client *rpc.Client, address solana.PublicKey) (Mint, error) {
	metadata, err := token.MetadataAddress(address)
	if err != nil {
		return Mint{}, fmt.Errorf("mint %s: %w", address, err)
	}
	found, err := client.GetMultipleAccountsWithOpts(ctx, []solana.PublicKey{address, metadata},
		&rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentConfirmed})
	if err == nil && (len(found.Value) != 2 || found.Value[0] == nil) {
		err = rpc.ErrNotFound
	}
	if errors.Is(err, rpc.ErrNotFound) {
		return Mint{}, exitcode.WithHint(fmt.Errorf("mint %s: %w", address, err),
			"check the mint's address and --url: mints differ between clusters")
	}
	if err != nil {
		return Mint{}, fmt.Errorf("mint %s: %w", address, err)
	}
	account := found.Value[0]
	if !token.IsProgram(account.Owner) {
		return Mint{}, notMint(address)
	}
	decimals, err := decode(address, account.Data.GetBinary())
	if err != nil {
		return Mint{}, err
	}
	symbol := cmp.Or(token.Symbol(address, account, found.Value[1]), format.Short(address))
	return Mint{address, decimals, symbol}, nil
}

func decode(address solana.PublicKey, data []byte) (uint8, error) {
	plain := len(data) == length
	extended := len(data) > accountLength && data[accountLength] == kindMint
	if !plain && !extended || data[initialByte] != 1 {
		return 0, notMint(address)
	}
	return data[decimalsByte], nil
}

func notMint(address solana.PublicKey) error {
	return exitcode.Usagef("%s is not a mint", address)
}
