package haggle

import (
	"math"
	"testing"

	"github.com/gagliardetto/solana-go"
	computebudget "github.com/gagliardetto/solana-go/programs/compute-budget"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestComputeBudgetInstructionsAreTheProgramsOwn(t *testing.T) {
	ours := computeBudget{unitLimit: 12_345, unitPrice: 678}.instructions()
	theirs := []solana.Instruction{
		computebudget.NewSetComputeUnitLimitInstruction(12_345).Build(),
		computebudget.NewSetComputeUnitPriceInstruction(678).Build(),
	}
	require.Len(t, ours, len(theirs))
	for i := range ours {
		got, err := ours[i].Data()
		require.NoError(t, err)
		want, err := theirs[i].Data()
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, theirs[i].ProgramID(), ours[i].ProgramID())
		assert.Empty(t, ours[i].Accounts())
	}
	assert.Len(t, computeBudget{unitLimit: 1}.instructions(), 1, "no price, no instruction")
}

func TestUnitLimitHasAMarginAndAnEnd(t *testing.T) {
	assert.EqualValues(t, 3_000, unitLimitFor(0, defaultComputeMargin))
	assert.EqualValues(t, 14_000, unitLimitFor(10_000, defaultComputeMargin))
	assert.EqualValues(t, 1_400_000, unitLimitFor(1_399_999, defaultComputeMargin))
	assert.EqualValues(t, 1_400_000, unitLimitFor(math.MaxUint64, defaultComputeMargin))
	assert.EqualValues(t, 1_400_000, unitLimitFor(16_769_767_339_735_956_014, defaultComputeMargin), "times 1.1 is 2^64 - 1")
}

func TestPriorityFeeStaysBelowItsCap(t *testing.T) {
	assert.EqualValues(t, 50, cappedUnitPrice(50, 20_000, 1))
	assert.EqualValues(t, 50, cappedUnitPrice(1_000_000, 20_000, 1))
	assert.Zero(t, cappedUnitPrice(1_000_000, 20_000, 0))
	assert.EqualValues(t, uint64(math.MaxUint64), cappedUnitPrice(math.MaxUint64, 1, math.MaxUint64))
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.Uint64().Draw(t, "price")
		limit := rapid.Uint32Range(1, maxUnitLimit).Draw(t, "limit")
		lamports := rapid.Uint64Range(0, 1_000_000_000).Draw(t, "cap")
		capped := cappedUnitPrice(price, limit, lamports)
		assert.LessOrEqual(t, capped, price)
		// The chain rounds up.
		assert.LessOrEqual(t, (capped*uint64(limit)+microLamports-1)/microLamports, lamports)
	})
}
