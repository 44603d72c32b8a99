package agent

import (
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// duty is what the state of a negotiation asks of an agent.
type duty int

const (
	// idle: nothing until something changes.
	idle duty = iota
	// admit: find out whether to engage at all.
	admit
	// join: accept the invitation.
	join
	// seal: take the agent's step of the comparison of reservation prices.
	seal
	// decide: ask Decide.
	decide
	// deliver: ask Deliver.
	deliver
	// release: have a milestone paid that the buyer has been silent on.
	release
	// settle: have the milestones decided whose time is over.
	settle
	// expire: end the negotiation, whose time is over.
	expire
	// finish: claim what is kept for the agent, and clear the negotiation away if it is the buyer's.
	finish
	// done: nothing is left to do.
	done
)

func (d duty) String() string {
	return [...]string{"idle", "admit", "join", "seal", "decide", "deliver", "release", "settle", "expire", "finish", "done"}[d]
}

// outlook is a duty, and when to look again although nothing has changed.
type outlook struct {
	duty duty
	// last says that the agent is asked for the last time before the deadline.
	last bool
	// at is in Unix seconds of the chain's clock; zero is never.
	at int64
}

// stance is an agent's attitude to a negotiation.
type stance uint8

const (
	// undecided: nobody has asked yet.
	undecided stance = iota
	// engaged: the agent takes part.
	engaged
	// aloof: the agent leaves it alone, except that a buyer gets its money back.
	aloof
)

// answer is what an agent has said at a position, and stays valid while that lasts.
type answer struct {
	position uint64
	// until is when to ask again; zero is at the last call.
	until int64
	// last says that it was the last call.
	last bool
}

// courtesy is how many seconds a seller leaves to the buyer to clear up what both can, and what is the buyer's money.
const courtesy = 30

// view is a negotiation as an agent looks at it.
type view struct {
	*haggle.NegotiationAccount
	side   protocol.OfferSide
	now    int64
	margin time.Duration
	stance stance
	// answer is zero unless it is about this position.
	answer answer
	// unpayable says that what is kept for the agent could not be claimed a moment ago.
	unpayable bool
}

// lastCallAt is when the agent is asked for the last time.
func (v *view) lastCallAt() int64 { return v.TurnDeadline - v.marginSeconds() }

func (v *view) marginSeconds() int64 {
	return min(int64((v.margin+time.Second-1)/time.Second), v.ResponseWindow/2)
}

// isLast says whether it is time for the last call.
func (v *view) isLast() bool { return v.now >= v.lastCallAt() }

// canMove says whether there is something to decide.
func (v *view) canMove() bool {
	return v.IsBargaining() && v.ZopaStep() == protocol.ZopaStepNone && (v.Turn() == v.side || v.CanAccept(v.side))
}

func (v *view) isBuyer() bool { return v.side == protocol.OfferSideBuyer }

// plan is what the state asks of the agent.
func (v *view) plan() outlook {
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

func (v *view) planEnd() outlook {
	if v.isBuyer() || v.ClaimableSeller > 0 {
		return outlook{duty: finish}
	}
	return outlook{duty: done}
}

// planExpiry has the buyer get its money back at once. The seller only sees to it that a negotiation ends in which it takes part.
func (v *view) planExpiry() outlook {
	switch {
	case v.isBuyer():
		return outlook{duty: expire}
	case v.Status == protocol.NegotiationStatusCreated || v.stance == aloof:
		return outlook{duty: done}
	}
	return v.afterCourtesy(expire, v.TurnDeadline)
}

// afterCourtesy is for what either side can do.
func (v *view) afterCourtesy(do duty, due int64) outlook {
	if !v.isBuyer() {
		due += courtesy
	}
	if v.now >= due {
		return outlook{duty: do}
	}
	return outlook{at: due}
}

func (v *view) planInvitation() outlook {
	if v.isBuyer() || v.stance == aloof || v.isLast() {
		return outlook{at: v.TurnDeadline}
	}
	if v.stance == undecided {
		return outlook{duty: admit, at: v.lastCallAt()}
	}
	return outlook{duty: join}
}

func (v *view) planBargaining() outlook {
	patience := outlook{at: v.TurnDeadline}
	if v.stance == aloof {
		return patience
	}
	step, comparing := v.ZopaStep().Side()
	ours := v.canMove() || comparing && step == v.side
	switch {
	case !ours:
		return patience
	case v.stance == undecided:
		return outlook{duty: admit, at: v.lastCallAt()}
	case comparing:
		return outlook{duty: seal, at: v.TurnDeadline}
	}
	return v.planAsking(decide)
}

// planAsking has the agent asked, unless it has answered.
func (v *view) planAsking(ask duty) outlook {
	switch {
	case v.answer.last:
		return outlook{at: v.TurnDeadline}
	case v.isLast():
		return outlook{duty: ask, last: true, at: v.TurnDeadline}
	case v.answer.position != 0 && (v.answer.until == 0 || v.now < v.answer.until):
		return outlook{at: earliest(v.answer.until, v.lastCallAt())}
	}
	return outlook{duty: ask, at: v.lastCallAt()}
}

func (v *view) planMilestones() outlook {
	_, reviewed := v.UnderReview()
	silent := reviewed && v.IsOverdue(v.now)
	due := v.SettleDueAt()
	switch {
	case v.ClaimableOf(v.Party(v.side)) > 0 && !v.unpayable:
		return outlook{duty: finish}
	case v.now >= due:
		return v.afterCourtesy(settle, due)
	case silent && !v.isBuyer():
		return outlook{duty: release}
	case v.stance != engaged:
		return outlook{at: due}
	case v.canDeliver(reviewed, silent):
		return v.planDelivery(reviewed)
	case reviewed && !v.isBuyer():
		return outlook{at: min(v.TurnDeadline, due)}
	}
	return outlook{at: due}
}

// canDeliver says whether there is something to decide about milestones.
func (v *view) canDeliver(reviewed, silent bool) bool {
	if v.isBuyer() {
		return reviewed && !silent
	}
	if reviewed || v.now+v.ReviewWindow() > v.MilestoneDeadline {
		return false
	}
	for index := range v.MilestoneCount() {
		if v.MilestoneState(index) == protocol.MilestoneStateUnclaimed {
			return true
		}
	}
	return false
}

// planDelivery asks about milestones. A buyer has until the review window is over; a seller as long as a claim leaves time for the
// review.
func (v *view) planDelivery(reviewed bool) outlook {
	if reviewed {
		asked := v.planAsking(deliver)
		asked.at = earliest(asked.at, v.SettleDueAt())
		return asked
	}
	latest := v.MilestoneDeadline - v.ReviewWindow() + 1
	if v.answer.position != 0 && (v.answer.until == 0 || v.now < v.answer.until) {
		return outlook{at: earliest(v.answer.until, latest)}
	}
	return outlook{duty: deliver, at: latest}
}

// earliest is the earlier of two times, of which zero is never.
func earliest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
