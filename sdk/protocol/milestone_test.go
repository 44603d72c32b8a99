package protocol

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// agreed returns a negotiation whose price is paid in three tranches.
func agreed() *Negotiation {
	return &Negotiation{
		Status: NegotiationStatusAccepted, SettledAmount: 1_000_001, MilestoneBps: [8]uint16{3_333, 3_333, 3_334},
		MilestoneDeadline: 100_000, ReviewHours: 1, BondRequired: 7, BondState: BondStateHeld,
	}
}

func TestTranchesAreDifferencesOfFlooredPrices(t *testing.T) {
	n := agreed()
	tranche := func(index uint8) uint64 {
		amount, err := n.Tranche(index)
		require.NoError(t, err)
		return amount
	}
	assert.EqualValues(t, 333_300, tranche(0))
	assert.EqualValues(t, 333_300, tranche(1))
	assert.EqualValues(t, 333_401, tranche(2))
	n.MilestonesDecided = 0b101
	assert.EqualValues(t, 333_300, tranche(1), "the order of decisions changes no amount")
}

func TestTranchesAddUpToThePrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := agreed()
		n.SettledAmount = rapid.Uint64().Draw(t, "price")
		count := rapid.Uint8Range(1, 8).Draw(t, "milestones")
		n.MilestoneBps = [8]uint16{}
		left := uint16(10_000)
		for i := range count - 1 {
			n.MilestoneBps[i] = rapid.Uint16Range(1, left-uint16(count-1-i)).Draw(t, "share")
			left -= n.MilestoneBps[i]
		}
		n.MilestoneBps[count-1] = left
		assert.Equal(t, count, n.MilestoneCount())
		var indexes []uint8
		for i := range count {
			indexes = append(indexes, i)
		}
		sum := uint64(0)
		for _, index := range rapid.Permutation(indexes).Draw(t, "order") {
			amount, err := n.Tranche(index)
			require.NoError(t, err)
			sum += amount
			n.MilestonesDecided |= 1 << index
			assert.Equal(t, n.SettledAmount-sum, n.Undecided())
		}
		assert.Equal(t, n.SettledAmount, sum)
	})
}

func TestTrancheErrors(t *testing.T) {
	n := agreed()
	for _, index := range []uint8{3, 7, 8, 9, 255} {
		_, err := n.Tranche(index)
		require.ErrorIs(t, err, ErrInvalidParams, index)
		assert.Equal(t, MilestoneStateDecided, n.MilestoneState(index))
	}
	n.MilestonesDecided = 0b010
	_, err := n.Tranche(1)
	require.ErrorIs(t, err, ErrInvalidState)
	n.Status = NegotiationStatusProposed
	_, err = n.Tranche(0)
	require.ErrorIs(t, err, ErrInvalidState)
	assert.Zero(t, n.Undecided())
	// Shares that the program never writes must neither index beyond the eighth nor overflow.
	n = agreed()
	n.MilestoneBps = [8]uint16{65_535, 65_535, 65_535, 65_535, 65_535, 65_535, 65_535, 65_535}
	_, err = n.Tranche(8)
	require.ErrorIs(t, err, ErrInvalidParams)
	last, err := n.Tranche(7)
	require.NoError(t, err)
	assert.Zero(t, last)
}

func TestEachMilestoneHasOneState(t *testing.T) {
	n := agreed()
	n.MilestoneBps = [8]uint16{2_500, 2_500, 2_500, 2_500}
	n.MilestonesClaimed, n.MilestonesDisputed, n.MilestonesDecided = 0b0111, 0b0011, 0b0001
	for index, want := range []MilestoneState{MilestoneStateDecided, MilestoneStateDisputed, MilestoneStateUnderReview, MilestoneStateUnclaimed} {
		assert.Equal(t, want, n.MilestoneState(uint8(index)))
	}
	under, ok := n.UnderReview()
	assert.True(t, ok)
	assert.EqualValues(t, 2, under)
	assert.Equal(t, []uint8{1}, n.OpenDisputes())
	n.MilestonesDecided = 0b0111
	_, ok = n.UnderReview()
	assert.False(t, ok)
	assert.Empty(t, n.OpenDisputes())
	assert.Equal(t, []string{"unclaimed", "under review", "disputed", "decided"}, []string{
		MilestoneStateUnclaimed.String(), MilestoneStateUnderReview.String(), MilestoneStateDisputed.String(), MilestoneStateDecided.String(),
	})
}

func TestSettleDueAt(t *testing.T) {
	n := agreed()
	assert.EqualValues(t, 3_600, n.ReviewWindow())
	assert.EqualValues(t, 100_000, n.SettleDueAt())
	assert.EqualValues(t, 186_400, n.ArbitrationDeadline(), "the arbiter has at least a day")
	n.MilestonesClaimed, n.MilestonesDisputed = 1, 1
	assert.EqualValues(t, 186_400, n.SettleDueAt())
	n.MilestonesDecided = 1
	assert.EqualValues(t, 100_000, n.SettleDueAt())
	n.ReviewHours = 25
	assert.EqualValues(t, 90_000, n.ReviewWindow())
	assert.EqualValues(t, 190_000, n.ArbitrationDeadline())

	none := &Negotiation{ResponseWindow: 60}
	assert.Zero(t, none.SettleDueAt())
	assert.Zero(t, none.ArbitrationDeadline())
	assert.False(t, none.IsAgreed())
	assert.True(t, n.IsAgreed())
}

func TestHeldBond(t *testing.T) {
	for state := BondStateNone; state.Valid(); state++ {
		n := agreed()
		n.BondState = state
		want := uint64(0)
		if state == BondStateHeld {
			want = 7
		}
		assert.Equal(t, want, n.HeldBond(), state)
	}
}

// A seller that starts in time can claim all open milestones even if the buyer lets every review expire.
func TestLatestClaimLeavesTimeForEveryReview(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		open := rapid.Uint8Range(1, MaxMilestones).Draw(t, "open")
		hours := rapid.Uint8Range(MinReviewHours, MaxReviewHours).Draw(t, "review hours")
		delivered := rapid.Int64Range(0, 1<<40).Draw(t, "delivered")
		v := &Negotiation{ReviewHours: hours, MilestoneDeadline: EarliestMilestoneDeadline(delivered, open, hours)}
		assert.Equal(t, delivered, v.LatestClaim(open))
		lastClaim := func(first int64) int64 { return first + int64(open-1)*(v.ReviewWindow()+MilestoneSlack) }
		assert.LessOrEqual(t, lastClaim(delivered)+v.ReviewWindow(), v.MilestoneDeadline)
		assert.Greater(t, lastClaim(delivered+MilestoneSlack+1)+v.ReviewWindow(), v.MilestoneDeadline)
		assert.Equal(t, v.MilestoneDeadline, v.LatestClaim(0))
	})
}
