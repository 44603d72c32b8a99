package keeper

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// The protocol's fee in wrapped SOL arrives in the account whose rent the closer pays; it does not belong to
// the closer.
func TestAnActionCostsItsFeeAndTheRentThatItPays(t *testing.T) {
	account := func(mint solana.PublicKey, before, after, tokens uint64) transaction.BalanceChange {
		return transaction.BalanceChange{LamportsBefore: before, LamportsAfter: after, Tokens: &transaction.TokenChange{Mint: mint, After: tokens}}
	}
	for _, sample := range []struct {
		what   string
		change transaction.BalanceChange
		rent   uint64
	}{
		{"an account of another mint", account(solana.PublicKey{1}, 0, 2_039_280, 450_958), 2_039_280},
		{"an account of wrapped SOL", account(solana.WrappedSol, 0, 2_539_280, 500_000), 2_039_280},
		{"an account of Token-2022", account(token.WrappedSOL2022, 0, 2_574_720, 500_000), 2_074_720},
		{"an existing account", account(solana.WrappedSol, 2_039_280, 2_539_280, 500_000), 0},
		{"no token account", transaction.BalanceChange{LamportsAfter: 890_880}, 890_880},
	} {
		require.Equal(t, 5_000+sample.rent, highestCost(&haggle.DryRun{Fee: 5_000, Changes: []transaction.BalanceChange{sample.change}}), sample.what)
	}
}
