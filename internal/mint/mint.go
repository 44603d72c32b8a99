// Package mint reads the decimals of a mint.
package mint

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
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

// Decimals returns the number of decimals of a mint: a token is ten to this power of base units.
func Decimals(ctx context.Context, client *rpc.Client, address solana.PublicKey) (uint8, error) {
	account, err := client.GetAccountInfoWithOpts(ctx, address, &rpc.GetAccountInfoOpts{Commitment: rpc.CommitmentConfirmed})
	if errors.Is(err, rpc.ErrNotFound) {
		return 0, exitcode.WithHint(fmt.Errorf("mint %s: %w", address, err), "check the mint's address and --url: mints differ between clusters")
	}
	if err != nil {
		return 0, fmt.Errorf("mint %s: %w", address, err)
	}
	if owner := account.Value.Owner; owner != solana.TokenProgramID && owner != solana.Token2022ProgramID {
		return 0, notMint(address)
	}
	return decode(address, account.GetBinary())
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
