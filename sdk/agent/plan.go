package agent

import "github.com/haggle-protocol/haggle/sdk/protocol"

// nextAction is the agent's next action in a negotiation, which follows from the state.
type nextAction int

const (
	// idle: nothing until something changes.
	idle nextAction = iota
	// admit: determine whether to engage at all.
	admit
	// acceptInvitation: accept the invitation.
	acceptInvitation
	// seal: take the agent's step of the comparison of reservation prices.
	seal
	// decide: call Decide.
	decide
	// fallBack: carry out the fallback.
	fallBack
	// deliver: call OnMilestone.
	deliver
	// release: release a milestone whose review window is over.
	release
	// settle: settle the milestones after their deadline.
	settle
	// expire: end the negotiation once the deadline has passed.
	expire
	// finish: claim the agent's payout, and close the negotiation as the buyer.
	finish
	// done: nothing is left to do.
	done
)

// step is the next action, and when to refresh although nothing changed.
type step struct {
	action nextAction
	// last reports whether this is the last call in time.
	last bool
	// at is in Unix seconds of the chain's clock; zero is never.
	at int64
}

// participation is whether an agent takes part in a negotiation.
type participation uint8

const (
	// undecided: it is not determined yet.
	undecided participation = iota
	// engaged: the agent takes part.
	engaged
	// declined: the agent takes no part, except that a buyer recovers the escrow.
	declined
)

// answer holds the agent function's result for a position; zero until it first returned.
type answer struct {
	// waits reports whether it returned Wait.
	waits bool
	// until is the next call's time, in Unix seconds; zero means the last call.
	until int64
	// last reports whether it was the last call.
	last bool
	// at is the time of the call, in Unix seconds of the chain's clock.
	at int64
	// invalid counts the invalid decisions, and reason is the latest one's.
	invalid int
	reason  error
}

// maxInvalid is the number of invalid decisions per position until the function is no longer called.
const maxInvalid = 2

func (a answer) isExhausted() bool { return a.invalid >= maxInvalid }

// sellerGrace is how many seconds a seller waits for the buyer to do what either side can do.
const sellerGrace = 30

// claimMargin is the time from the last OnMilestone call to the latest time for a claim, in seconds.
const claimMargin = 60

// plan returns the next step.
func (v *view) plan() step {
	switch {
	case v.IsOver():
		return v.planEnd()
	case v.IsAgreed():
		return v.planMilestones()
	case v.IsOverdue(v.now):
		return v.planExpiry()
	case v.Status == protocol.NegotiationStatusCreated:
		return v.planInvitation()
	}
	return v.planBargaining()
}

func (v *view) planEnd() step {
	if v.isBuyer() || v.ClaimableSeller > 0 {
		return step{action: finish}
	}
	return step{action: done}
}

// planExpiry expires a negotiation: at once as the buyer, who recovers the escrow, and with a grace period as
// a seller that takes part.
func (v *view) planExpiry() step {
	switch {
	case v.isBuyer():
		return step{action: expire}
	case v.Status == protocol.NegotiationStatusCreated || v.participation == declined:
		return step{action: done}
	}
	return v.afterSellerGrace(expire, v.TurnDeadline)
}

// afterSellerGrace delays for the seller an action that either side can do.
func (v *view) afterSellerGrace(do nextAction, due int64) step {
	if !v.isBuyer() {
		due += sellerGrace
	}
	if v.now >= due {
		return step{action: do}
	}
	return step{at: due}
}

func (v *view) planInvitation() step {
	if v.isBuyer() || v.participation == declined || v.isLast() {
		return step{at: v.TurnDeadline}
	}
	if v.participation == undecided {
		return step{action: admit, at: v.lastCallAt()}
	}
	return step{action: acceptInvitation}
}

func (v *view) planBargaining() step {
	waiting := step{at: v.TurnDeadline}
	if v.participation == declined {
		return waiting
	}
	mover, comparing := v.ZopaStep().Side()
	ours := v.canMove() || comparing && mover == v.side
	switch {
	case !ours:
		return waiting
	case v.participation == undecided:
		return step{action: admit, at: v.lastCallAt()}
	case comparing:
		return step{action: seal, at: v.TurnDeadline}
	}
	return v.planCall(decide)
}

// planCall calls the agent's function, unless it already answered.
func (v *view) planCall(call nextAction) step {
	switch {
	case v.answer.last:
		return step{at: v.TurnDeadline}
	case v.answer.isExhausted() && call != decide:
		return step{at: v.TurnDeadline}
	case v.answer.isExhausted() && v.isLast():
		return step{action: fallBack, last: true, at: v.TurnDeadline}
	case v.answer.isExhausted():
		return step{at: v.lastCallAt()}
	case v.isLast():
		return step{action: call, last: true, at: v.TurnDeadline}
	case v.isAnswered():
		return step{at: earliest(v.answer.until, v.lastCallAt())}
	}
	return step{action: call, at: v.lastCallAt()}
}

// isAnswered reports whether the agent's function returned Wait, and the time to call it again is still to
// come.
func (v *view) isAnswered() bool {
	return v.answer.waits && (v.answer.until == 0 || v.now < v.answer.until)
}

func (v *view) planMilestones() step {
	_, reviewed := v.UnderReview()
	reviewOver := reviewed && v.IsOverdue(v.now)
	due := v.SettleDueAt()
	switch {
	case v.ClaimableOf(v.Party(v.side)) > 0 && !v.unpayable:
		return step{action: finish}
	case v.now >= due:
		return v.afterSellerGrace(settle, due)
	case reviewOver && !v.isBuyer():
		return step{action: release}
	case v.participation != engaged:
		return step{at: due}
	case v.canDeliver(reviewed, reviewOver):
		return v.planDelivery(reviewed)
	case reviewed && !v.isBuyer():
		return step{at: min(v.TurnDeadline, due)}
	}
	return step{at: due}
}

// canDeliver reports whether there is something to decide about milestones.
func (v *view) canDeliver(reviewed, reviewOver bool) bool {
	if v.isBuyer() {
		return reviewed && !reviewOver
	}
	return !reviewed && v.now+v.ReviewWindow() <= v.MilestoneDeadline && v.openMilestones() > 0
}

// planDelivery calls OnMilestone. A buyer may wait until the review window ends. A seller is called once a
// milestone can be claimed, and finally shortly before each time at which fewer milestones could be claimed.
func (v *view) planDelivery(reviewed bool) step {
	if reviewed {
		next := v.planCall(deliver)
		next.at = earliest(next.at, v.SettleDueAt())
		return next
	}
	due := v.nextClaimCall()
	switch {
	case due != 0 && v.now >= due:
		return step{action: deliver, last: true, at: v.SettleDueAt()}
	case v.answer.isExhausted(), v.isAnswered():
		return step{at: earliest(v.answer.until, earliest(due, v.SettleDueAt()))}
	}
	return step{action: deliver, at: earliest(due, v.SettleDueAt())}
}

// nextClaimCall returns when OnMilestone must be called although it already answered; zero if never. Each
// latest time for a claim causes one such call.
func (v *view) nextClaimCall() int64 {
	for open := v.openMilestones(); open > 0; open-- {
		latest := v.LatestClaim(open)
		if call := latest - claimMargin; v.now < latest && v.answer.at < call {
			return call
		}
	}
	return 0
}

// earliest returns the earlier of two times; zero is never.
func earliest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
