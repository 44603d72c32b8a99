// Package mint reads what amounts of a mint mean.
package mint

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
)

// A mint of either token program begins with the 82 bytes of SPL Token's; byte 44 is the number of decimals, byte 45 says
// whether the mint has been initialized. In Token-2022 byte 165 tells mints with extensions from token accounts.
const (
	length        = 82
	decimalsByte  = 44
	initialByte   = 45
	accountLength = 165
	kindMint      = 1
)

// Decimals says how many base units make a token of a mint: ten to the power of it.
func Decimals(ctx context.Context, client *rpc.Client, address solana.PublicKey) (uint8, error) {
	account, err := client.GetAccountInfoWithOpts(ctx, address, &rpc.GetAccountInfoOpts{Commitment: rpc.CommitmentConfirmed})
	if errors.Is(err, rpc.ErrNotFound) {
		return 0, exitcode.WithHint(fmt.Errorf("mint %s: %w", address, err), "check the mint's address, and --url: mints differ between clusters")
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
	return exitcode.Usagef("%s is not a token's mint", address)
}
