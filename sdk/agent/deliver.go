package agent

import (
	"context"
	"errors"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// deliver calls Deliver about milestones.
func (l *loop) deliver(f *tracked, v *view, last bool) {
	if l.config.Deliver == nil || l.carryOut(f, v) {
		return
	}
	turn := l.turn(f, v, last)
	if f.overdueCalls > 0 {
		l.config.Logger.Warn("waiting for an earlier call of the agent's function to return", f.attributes()...)
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
	if invalid := new(InvalidDecision); errors.As(err, &invalid) {
		l.invalid(f, v, turn, invalid)
		return
	}
	if err != nil {
		l.failed(f, err)
		if turn.LastCall && v.isBuyer() {
			f.answer = answer{position: f.position, last: true}
		}
		l.retryLater(f)
		l.agenda.wake(f, l.viewNow(f, v).plan().at)
		return
	}
	if wait, waits := move.(Wait); waits {
		l.waited(f, v, turn, wait)
		return
	}
	f.decided = &decided{
		position: f.position, turn: turn, decision: move, carryOut: func(v *view) { l.doMove(f, v, turn, move) },
	}
	l.doMove(f, v, turn, move)
}

// doMove acts on the snapshot that Deliver was called with.
func (l *loop) doMove(f *tracked, v *view, turn Turn, move MilestoneMove) {
	seen := turn.Negotiation
	switch move := move.(type) {
	case ClaimMilestone:
		l.act(f, v, "claim_milestone", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.ClaimMilestone(ctx, haggle.ClaimMilestoneRequest{Seller: l.self, Seen: seen, Index: move.Index, Evidence: move.Evidence})
		})
	case ReleaseMilestone:
		l.act(f, v, "release_milestone", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.ReleaseMilestone(ctx, haggle.ReleaseMilestoneRequest{Releaser: l.self, Seen: seen, Index: move.Index})
		})
	case DisputeMilestone:
		l.act(f, v, "dispute_milestone", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.DisputeMilestone(ctx, haggle.DisputeMilestoneRequest{Buyer: l.self, Seen: seen, Index: move.Index, Evidence: move.Evidence})
		})
	}
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
