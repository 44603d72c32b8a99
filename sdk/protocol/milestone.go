package protocol

// MilestoneState is a milestone's state.
type MilestoneState uint8

// States, ordered by occurrence.
const (
	// MilestoneStateUnclaimed: the seller did not claim it yet.
	MilestoneStateUnclaimed MilestoneState = iota
	// MilestoneStateUnderReview: the seller has claimed it, and the buyer can release or dispute it.
	MilestoneStateUnderReview
	// MilestoneStateDisputed: the arbiter must decide.
	MilestoneStateDisputed
	// MilestoneStateDecided: it is paid, divided or refunded.
	MilestoneStateDecided
)

func (s MilestoneState) String() string {
	switch s {
	case MilestoneStateUnclaimed:
		return "unclaimed"
	case MilestoneStateUnderReview:
		return "under review"
	case MilestoneStateDisputed:
		return "disputed"
	}
	return "decided"
}

// MilestoneState returns a milestone's state; milestones are numbered from 0. For nonexistent milestones it
// returns MilestoneStateDecided.
func (v *Negotiation) MilestoneState(index uint8) MilestoneState {
	bit := bitOf(index)
	switch {
	case !v.hasMilestone(index) || v.MilestonesDecided&bit != 0:
		return MilestoneStateDecided
	case v.MilestonesDisputed&bit != 0:
		return MilestoneStateDisputed
	case v.MilestonesClaimed&bit != 0:
		return MilestoneStateUnderReview
	}
	return MilestoneStateUnclaimed
}

// MilestoneCount returns the number of milestones, 0 to 8: the shares preceding the first zero.
func MilestoneCount(shares [8]uint16) uint8 {
	var count uint8
	for count < MaxMilestones && shares[count] != 0 {
		count++
	}
	return count
}

// MilestoneCount returns the number of milestones, 0 to 8; 0 if the price is paid at once.
func (v *Negotiation) MilestoneCount() uint8 { return MilestoneCount(v.MilestoneBps) }

// ReviewWindow returns how long the buyer can release or dispute a claimed milestone, in seconds:
// review_hours.
func (v *Negotiation) ReviewWindow() int64 { return reviewWindow(v.ReviewHours) }

const secondsPerHour = 3_600

func reviewWindow(hours uint8) int64 { return int64(hours) * secondsPerHour }

// EarliestMilestoneDeadline returns the earliest milestone_deadline that the program accepts with a global
// deadline, in Unix seconds: it leaves a review window and MilestoneSlack per milestone.
func EarliestMilestoneDeadline(globalDeadline int64, count, reviewHours uint8) int64 {
	return globalDeadline + int64(count)*(reviewWindow(reviewHours)+MilestoneSlack)
}

// LatestClaim returns the latest time, in Unix seconds, to begin claiming the given number of open milestones
// if all are to be claimed sequentially before MilestoneDeadline and every review takes the full window: each
// milestone takes a review window and MilestoneSlack. It is the inverse of EarliestMilestoneDeadline. The
// program accepts a single claim until a review window before MilestoneDeadline.
func (v *Negotiation) LatestClaim(open uint8) int64 {
	return v.MilestoneDeadline - EarliestMilestoneDeadline(0, open, v.ReviewHours)
}

// UnderReview returns the milestone that the seller has claimed and that the buyer can release or dispute
// until TurnDeadline; later anyone can release it. The second result is false if there is none. At most one
// milestone is under review.
func (v *Negotiation) UnderReview() (index uint8, ok bool) {
	for index := range v.MilestoneCount() {
		if v.MilestoneState(index) == MilestoneStateUnderReview {
			return index, true
		}
	}
	return 0, false
}

// OpenDisputes returns the milestones awaiting the arbiter's decision, in ascending order.
func (v *Negotiation) OpenDisputes() []uint8 {
	var open []uint8
	for index := range v.MilestoneCount() {
		if v.MilestoneState(index) == MilestoneStateDisputed {
			open = append(open, index)
		}
	}
	return open
}

// ArbitrationDeadline returns the arbiter's deadline, in Unix seconds: a review window, but at least
// MinArbitrationWindow, after the milestones' deadline. If there are no milestones, it returns 0.
func (v *Negotiation) ArbitrationDeadline() int64 {
	if v.MilestoneCount() == 0 {
		return 0
	}
	return v.MilestoneDeadline + max(v.ReviewWindow(), MinArbitrationWindow)
}

// SettleDueAt returns the earliest time when anyone can settle the undecided milestones with settle_deadline,
// in Unix seconds: the milestones' deadline, or the arbiter's if a dispute is open. If there are no
// milestones, it returns 0.
func (v *Negotiation) SettleDueAt() int64 {
	if len(v.OpenDisputes()) > 0 {
		return v.ArbitrationDeadline()
	}
	return v.MilestoneDeadline
}

// Tranche returns a milestone's part of the price, in the mint's base units, including the fee: the floored
// price for the shares up to and including this milestone, less the floored price for the preceding shares.
// It does not depend on decision order.
//
// It returns [ErrInvalidParams] for nonexistent milestones, and [ErrInvalidState] if no agreement exists or
// the milestone is decided.
func (v *Negotiation) Tranche(index uint8) (uint64, error) {
	if !v.hasMilestone(index) {
		return 0, Refuse("tranche", ErrInvalidParams, "there is no milestone %d among %d", index, v.MilestoneCount())
	}
	if !v.IsAgreed() || v.MilestoneState(index) == MilestoneStateDecided {
		return 0, Refuse("tranche", ErrInvalidState, "milestone %d, status %s", index, v.Status)
	}
	return v.tranche(index), nil
}

func (v *Negotiation) tranche(index uint8) uint64 {
	return v.priceOfFirst(index+1) - v.priceOfFirst(index)
}

// priceOfFirst returns the floored price of the first milestones.
func (v *Negotiation) priceOfFirst(count uint8) uint64 {
	var sum uint64
	for _, share := range v.MilestoneBps[:count] {
		sum += uint64(share)
	}
	return ShareOf(v.SettledAmount, uint16(min(sum, BpsDenominator)), 0)
}

// Undecided returns the part of the price not yet divided by a decision, in the mint's base units, including
// the fee. It returns 0 until a price is agreed on.
func (v *Negotiation) Undecided() uint64 {
	if !v.IsAgreed() {
		return 0
	}
	rest := v.SettledAmount
	for index := range v.MilestoneCount() {
		if v.MilestoneState(index) == MilestoneStateDecided {
			rest -= v.tranche(index)
		}
	}
	return rest
}

func (v *Negotiation) hasMilestone(index uint8) bool { return index < v.MilestoneCount() }

// bitOf returns a milestone's bit in the masks; zero beyond the eighth.
func bitOf(index uint8) uint8 { return 1 << index }
