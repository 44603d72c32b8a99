package agent

import (
	"hash/maphash"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// view is a snapshot with the agent's side of it.
type view struct {
	*haggle.Snapshot
	side protocol.OfferSide
	// now is the chain's time when the view was made, and made the machine's.
	now           int64
	made          time.Time
	margin        time.Duration
	participation participation
	answer        answer
	// unpayable reports whether claiming the agent's payout just failed.
	unpayable bool
}

// clock returns the chain's time, in Unix seconds: the view's time, and the time since then.
func (v *view) clock() int64 {
	if v.made.IsZero() {
		return v.now
	}
	return v.now + int64(time.Since(v.made)/time.Second)
}

// lastCallAt returns when the agent's function is last called.
func (v *view) lastCallAt() int64 { return v.TurnDeadline - v.marginSeconds() }

// answerBy returns the latest time for an answer: half of the margin before the deadline, or half of the time
// that is left.
func (v *view) answerBy() int64 {
	now := v.clock()
	left := v.TurnDeadline - now
	return now + max(left-(v.marginSeconds()+1)/2, (left+1)/2)
}

func (v *view) marginSeconds() int64 {
	return min(int64((v.margin+time.Second-1)/time.Second), v.ResponseWindow/2)
}

// isLast reports whether the last call is due.
func (v *view) isLast() bool { return v.clock() >= v.lastCallAt() }

// canMove reports whether there is something to decide.
func (v *view) canMove() bool {
	return v.IsBargaining() && v.ZopaStep() == protocol.ZopaStepNone &&
		(v.Turn() == v.side || v.CanAccept(v.side))
}

func (v *view) isBuyer() bool { return v.side == protocol.OfferSideBuyer }

// fingerprint hashes a negotiation's state; it is not zero.
func (l *loop) fingerprint(n *haggle.Snapshot) uint64 {
	return maphash.Bytes(l.seed, n.Data) | 1
}

// positionOf hashes all facts that decisions depend on; it is not zero. That is the whole account without the
// payouts: parties can claim these at any time.
func (l *loop) positionOf(n *haggle.Snapshot) uint64 {
	position := n.Negotiation
	position.ClaimableBuyer, position.ClaimableSeller = 0, 0
	return maphash.Bytes(l.seed, position.AppendTo(nil)) | 1
}

// viewOf returns a snapshot's view, now being the chain's time at this moment.
func (l *loop) viewOf(f *tracked, n *haggle.Snapshot, now int64) *view {
	return &view{
		Snapshot: n, side: f.side, now: now, made: time.Now(), margin: l.config.Margin,
		participation: f.participation, answer: f.answer,
		unpayable: f.unpayable && time.Now().Before(f.retryAt),
	}
}

// viewNow returns a view of the same snapshot at the present time, with the latest result.
func (l *loop) viewNow(f *tracked, v *view) *view {
	return l.viewOf(f, v.Snapshot, v.clock())
}

// openMilestones returns the number of milestones that are not claimed yet.
func (v *view) openMilestones() (open uint8) {
	for index := range v.MilestoneCount() {
		if v.MilestoneState(index) == protocol.MilestoneStateUnclaimed {
			open++
		}
	}
	return open
}

// claimDeadline returns the latest time for the next claim such that as many open milestones as possible can
// still be claimed.
func (v *view) claimDeadline() int64 {
	for open := v.openMilestones(); open > 0; open-- {
		if latest := v.LatestClaim(open); v.now < latest {
			return latest
		}
	}
	return v.MilestoneDeadline - v.ReviewWindow()
}
