package haggle

// MilestoneState is how far a milestone is.
type MilestoneState uint8

// The states, in the order in which a milestone can go through them.
const (
	// MilestoneStateUnclaimed: the seller has not claimed it.
	MilestoneStateUnclaimed MilestoneState = iota
	// MilestoneStateUnderReview: the seller has claimed it, and the buyer can release or dispute it.
	MilestoneStateUnderReview
	// MilestoneStateDisputed: it waits for the arbiter.
	MilestoneStateDisputed
	// MilestoneStateDecided: it has been paid, divided or refunded.
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

// MilestoneState is how far a milestone is; they are numbered from 0. For one that the negotiation does not have, it is
// MilestoneStateDecided.
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

// ReviewWindow is how long the buyer may look at a claimed milestone, in seconds: the response window, and at least an hour.
func (v *Negotiation) ReviewWindow() int64 { return max(v.ResponseWindow, MinReviewWindow) }

// UnderReview is the milestone that the seller has claimed and that the buyer can release or dispute until TurnDeadline, after
// which anyone can release it; false if there is none. There is never more than one.
func (v *Negotiation) UnderReview() (index uint8, ok bool) {
	for index := range v.milestones() {
		if v.MilestoneState(index) == MilestoneStateUnderReview {
			return index, true
		}
	}
	return 0, false
}

// OpenDisputes are the milestones that wait for the arbiter, in ascending order.
func (v *Negotiation) OpenDisputes() []uint8 {
	var open []uint8
	for index := range v.milestones() {
		if v.MilestoneState(index) == MilestoneStateDisputed {
			open = append(open, index)
		}
	}
	return open
}

// ArbitrationDeadline is the time until which the arbiter can decide, in Unix seconds: a review window after the milestones'
// deadline. It is zero without milestones.
func (v *Negotiation) ArbitrationDeadline() int64 {
	if v.MilestoneCount == 0 {
		return 0
	}
	return v.MilestoneDeadline + v.ReviewWindow()
}

// SettleDueAt is the time from which anyone can settle what is undecided with [Client.SettleDeadline], in Unix seconds: the
// milestones' deadline, or with an open dispute the arbiter's. It is zero without milestones.
func (v *Negotiation) SettleDueAt() int64 {
	if len(v.OpenDisputes()) > 0 {
		return v.ArbitrationDeadline()
	}
	return v.MilestoneDeadline
}

// Tranche is what deciding a milestone now divides, in base units of the mint, fee included: its share of the price, rounded down;
// if it is the last one that is undecided, all that is left of the price.
//
// It fails with [ErrInvalidParams] for a milestone that the negotiation does not have, and with [ErrInvalidState] before a price is
// agreed on and for one that has been decided.
func (v *Negotiation) Tranche(index uint8) (uint64, error) {
	if !v.hasMilestone(index) {
		return 0, refuse("tranche", ErrInvalidParams, "there is no milestone %d among %d", index, v.MilestoneCount)
	}
	if !v.IsAgreed() || v.MilestoneState(index) == MilestoneStateDecided {
		return 0, refuse("tranche", ErrInvalidState, "milestone %d, status %s", index, v.Status)
	}
	rest := v.SettledAmount
	isLast := true
	for other := range v.milestones() {
		if v.MilestoneState(other) == MilestoneStateDecided {
			rest -= v.shareOfMilestone(other)
		} else if other != index {
			isLast = false
		}
	}
	if isLast {
		return rest, nil
	}
	return v.shareOfMilestone(index), nil
}

func (v *Negotiation) shareOfMilestone(index uint8) uint64 {
	return shareOf(v.SettledAmount, v.MilestoneBps[index], 0)
}

// milestones is how many milestones there are, to count to.
func (v *Negotiation) milestones() uint8 { return min(v.MilestoneCount, MaxMilestones) }

func (v *Negotiation) hasMilestone(index uint8) bool { return index < v.milestones() }

// bitOf is a milestone's bit in the masks; none beyond the eighth.
func bitOf(index uint8) uint8 { return 1 << index }
