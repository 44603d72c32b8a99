package protocol

// MilestoneState is the state of a milestone.
type MilestoneState uint8

// The states in the order of their occurrence.
const (
	// MilestoneStateUnclaimed: the seller has not claimed it.
	MilestoneStateUnclaimed MilestoneState = iota
	// MilestoneStateUnderReview: the seller has claimed it, and the buyer can release or dispute it.
	MilestoneStateUnderReview
	// MilestoneStateDisputed: the arbiter has to decide.
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

// MilestoneState returns the state of a milestone; they are numbered from 0. For a milestone that does not
// exist it returns MilestoneStateDecided.
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

// MilestoneCount returns the number of milestones with these shares, 0 to 8: the shares before the first
// zero.
func MilestoneCount(shares [8]uint16) uint8 {
	var count uint8
	for count < MaxMilestones && shares[count] != 0 {
		count++
	}
	return count
}

// MilestoneCount returns the number of milestones, 0 to 8; 0 if the price is paid at once.
func (v *Negotiation) MilestoneCount() uint8 { return MilestoneCount(v.MilestoneBps) }

// ReviewWindow returns the time in which the buyer can release or dispute a claimed milestone, in seconds:
// review_hours.
func (v *Negotiation) ReviewWindow() int64 { return reviewWindow(v.ReviewHours) }

const secondsPerHour = 3_600

func reviewWindow(hours uint8) int64 { return int64(hours) * secondsPerHour }

// EarliestMilestoneDeadline returns the earliest milestone_deadline that the program accepts with a global
// deadline, in Unix seconds: it leaves each milestone its review window and MilestoneSlack.
func EarliestMilestoneDeadline(globalDeadline int64, count, reviewHours uint8) int64 {
	return globalDeadline + int64(count)*(reviewWindow(reviewHours)+MilestoneSlack)
}

// LatestClaim returns the latest time, in Unix seconds, to claim the first of so many open milestones if all
// of them are to be claimed one after the other before MilestoneDeadline and each review lasts to its end:
// each takes its review window and MilestoneSlack. It is the inverse of EarliestMilestoneDeadline. The
// program accepts a single claim until a review window before MilestoneDeadline.
func (v *Negotiation) LatestClaim(open uint8) int64 {
	return v.MilestoneDeadline - EarliestMilestoneDeadline(0, open, v.ReviewHours)
}

// UnderReview returns the milestone that the seller has claimed and that the buyer can release or dispute
// until TurnDeadline, after which anyone can release it; false if there is none. There is at most one.
func (v *Negotiation) UnderReview() (index uint8, ok bool) {
	for index := range v.MilestoneCount() {
		if v.MilestoneState(index) == MilestoneStateUnderReview {
			return index, true
		}
	}
	return 0, false
}

// OpenDisputes returns the milestones that the arbiter has to decide, in ascending order.
func (v *Negotiation) OpenDisputes() []uint8 {
	var open []uint8
	for index := range v.MilestoneCount() {
		if v.MilestoneState(index) == MilestoneStateDisputed {
			open = append(open, index)
		}
	}
	return open
}

// ArbitrationDeadline returns the time until which the arbiter can decide, in Unix seconds: a review window,
// but at least MinArbitrationWindow, after the milestones' deadline. It is zero without milestones.
func (v *Negotiation) ArbitrationDeadline() int64 {
	if v.MilestoneCount() == 0 {
		return 0
	}
	return v.MilestoneDeadline + max(v.ReviewWindow(), MinArbitrationWindow)
}

// SettleDueAt returns the time from which anyone can settle the undecided milestones with settle_deadline, in
// Unix seconds: the milestones' deadline, or with an open dispute the arbiter's. It is zero without
// milestones.
func (v *Negotiation) SettleDueAt() int64 {
	if len(v.OpenDisputes()) > 0 {
		return v.ArbitrationDeadline()
	}
	return v.MilestoneDeadline
}

// Tranche returns a milestone's part of the price, in base units of the mint, fee included: the floored price
// of the shares up to and including this milestone, less that of the shares before it. The order of decisions
// does not change it.
//
// It returns [ErrInvalidParams] for a milestone that does not exist, and [ErrInvalidState] before an
// agreement and for a decided milestone.
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

// Undecided returns the part of the price that no decision has divided yet, in base units of the mint, fee
// included. It is zero before a price is agreed on.
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
