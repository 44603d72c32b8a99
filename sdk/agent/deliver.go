package agent

import (
	"context"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// deliver calls Deliver about milestones.
func (l *loop) deliver(f *tracked, v *view, last bool) {
	if l.config.Deliver == nil || l.carryOut(f, v) {
		return
	}
	turn := l.turn(f, v, last)
	if l.awaitsCall(f) {
		return
	}
	until := v.answerBy()
	if !v.isBuyer() {
		until = v.MilestoneDeadline - v.ReviewWindow()
	}
	start(l, f, v, until,
		func(ctx context.Context) (MilestoneMove, error) { return l.config.Deliver(ctx, turn) },
		func(move MilestoneMove, err error) { l.delivered(f, v, turn, move, err) })
}

func (l *loop) delivered(f *tracked, v *view, turn Turn, move MilestoneMove, err error) {
	if err == nil {
		err = validateMilestone(turn, move)
	}
	if l.answered(f, v, turn, move, err) {
		return
	}
	l.failed(f, err)
	if turn.LastCall && v.isBuyer() {
		f.answer = answer{position: f.position, last: true}
	}
	l.retryLater(f)
	l.agenda.wake(f, l.viewNow(f, v).plan().at)
}

// openMilestones returns the number of milestones that are not claimed yet.
func openMilestones(n *protocol.Negotiation) (open uint8) {
	for index := range n.MilestoneCount() {
		if n.MilestoneState(index) == protocol.MilestoneStateUnclaimed {
			open++
		}
	}
	return open
}

// claimDeadline returns the latest time of the next claim with which as many open milestones as possible can
// still be claimed.
func (v *view) claimDeadline() int64 {
	for open := openMilestones(&v.Negotiation); open > 0; open-- {
		if latest := v.LatestClaim(open); v.now < latest {
			return latest
		}
	}
	return v.MilestoneDeadline - v.ReviewWindow()
}
