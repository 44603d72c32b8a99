// Package mint reads a mint's decimals and symbol.
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
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// Mint contains the mint values needed to format amounts.
type Mint struct {
	Address solana.PublicKey
	// Decimals: a token is ten to this power of base units.
	Decimals uint8
	// Symbol is the mint's symbol, or the shortened address if it has none. See [token.Symbol].
	Symbol string
}

// Tokens returns base units as an amount of the mint.
func (m Mint) Tokens(units uint64) amount.Tokens {
	return amount.Tokens{Units: units, Decimals: m.Decimals, Symbol: m.Symbol}
}

// Offline formats an amount, sending no requests: in lamports if the address is zero, in tokens for a
// well-known mint, in base units for any other mint.
func Offline(address solana.PublicKey, units uint64) string {
	if address.IsZero() {
		return amount.SOL(units).String()
	}
	if decimals, known := token.WellKnownDecimals(address); known {
		return amount.Tokens{Units: units, Decimals: decimals, Symbol: token.WellKnownSymbol(address)}.String()
	}
	return fmt.Sprintf("%d base units", units)
}

// Read reads a mint's account and metadata. The decimals must match the client's other nodes, the table of
// well-known mints ([haggle.Client.GetMint]) and the pin from an earlier use ([Mint.Pin]); otherwise it
// returns a [*token.DecimalsError].
func Read(ctx context.Context, client *haggle.Client, address solana.PublicKey) (Mint, error) {
	read, err := client.GetMint(ctx, address)
	switch {
	case errors.Is(err, protocol.ErrAccountNotFound):
		return Mint{}, exitcode.WithHint(fmt.Errorf("mint %s: %w", address, protocol.ErrAccountNotFound),
			"check the mint's address and --url: mints differ between clusters")
	case errors.Is(err, protocol.ErrWrongOwner), errors.As(err, new(*protocol.DecodeError)):
		return Mint{}, exitcode.Usagef("%s is not a mint", address)
	case err != nil:
		return Mint{}, fmt.Errorf("mint %s: %w", address, err)
	}
	metadata, err := token.MetadataAddress(address)
	if err != nil {
		return Mint{}, fmt.Errorf("mint %s: %w", address, err)
	}
	found, err := client.RPC().GetMultipleAccountsWithOpts(ctx, []solana.PublicKey{address, metadata},
		&rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentConfirmed})
	if err == nil && len(found.Value) != 2 {
		err = rpc.ErrNotFound
	}
	if err != nil {
		return Mint{}, fmt.Errorf("mint %s: %w", address, err)
	}
	symbol := cmp.Or(token.Symbol(address, found.Value[0], found.Value[1]), format.Short(address))
	known := Mint{address, read.Decimals, symbol}
	return known, known.checkPin()
}
