package amount_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/amount"
)

var (
	errLimit = errors.New("beyond the limit")
	mint     = solana.PublicKey{1}
)

func inTokens(address solana.PublicKey, units uint64) string {
	if address.IsZero() {
		return amount.SOL(units).String()
	}
	return amount.Tokens{Units: units, Decimals: 6, Symbol: "TEST"}.String()
}

func TestErrorsHaveBaseUnits(t *testing.T) {
	err := amount.Errorf(mint, "%w: %v, at most %v in round %d", errLimit, amount.Units(5_500_000),
		amount.Units(3_500_000), 2)
	require.EqualError(t, err, "beyond the limit: 5500000 base units, at most 3500000 base units in round 2")
	require.ErrorIs(t, err, errLimit)
	lamports := amount.Errorf(solana.PublicKey{}, "too much: %v", amount.Units(5))
	require.EqualError(t, lamports, "too much: 5 lamports")
	require.NoError(t, errors.Unwrap(amount.Errorf(mint, "%v", amount.Units(5))))
}

func TestAmountsAreWrittenInTheTextsOfOtherErrors(t *testing.T) {
	limit := amount.Errorf(mint, "%w: %v", errLimit, amount.Units(5_500_000))
	fee := amount.Errorf(solana.PublicKey{}, "fee %v: %w", amount.Units(5_000), limit)
	for err, want := range map[error]string{
		limit:                          "beyond the limit: 5.50 TEST",
		fee:                            "fee 0.000005 SOL: beyond the limit: 5.50 TEST",
		fmt.Errorf("offer: %w", limit): "offer: beyond the limit: 5.50 TEST",
		errors.Join(errLimit, limit, fee): "beyond the limit\nbeyond the limit: 5.50 TEST\nfee 0.000005 SOL: " +
			"beyond the limit: 5.50 TEST",
		errLimit: "beyond the limit",
	} {
		require.Equal(t, want, amount.InText(err.Error(), err, inTokens))
	}
	require.Equal(t, "nothing was sent: beyond the limit: 5.50 TEST",
		amount.InText("nothing was sent: "+limit.Error(), fmt.Errorf("x: %w", limit), inTokens))
}

// Two errors with the same text and amounts of different mints remain base units.
func TestAmountsOfDifferentMintsAreNotConfused(t *testing.T) {
	err := errors.Join(amount.Errorf(mint, "bad: %v", amount.Units(500)),
		amount.Errorf(solana.PublicKey{2}, "bad: %v", amount.Units(500)))
	written := amount.InText(err.Error(), err, func(address solana.PublicKey, units uint64) string {
		return fmt.Sprint(address[0], " ", units)
	})
	require.Equal(t, "bad: 500 base units\nbad: 500 base units", written)
}
