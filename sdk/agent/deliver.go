package agent

import "context"

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
		f.answer = answer{last: true}
	}
	l.retryLater(f)
	f.wakeAt = l.viewNow(f, v).plan().at
}
