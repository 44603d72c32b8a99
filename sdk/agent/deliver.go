package agent

import (
	"context"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// deliver calls OnMilestone about milestones. A seller's is called only after the verification of the escrow.
func (l *loop) deliver(f *tracked, v *view, last bool) {
	if l.config.OnMilestone == nil || !l.isEscrowed(f, v, last) || l.carryOut(f, v) {
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
		func(ctx context.Context) (MilestoneMove, error) { return l.config.OnMilestone(ctx, turn) },
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

// isEscrowed reports whether a seller's agreed price is verified to be in escrow. If it is not, the
// verification begins unless it is running. Failed verifications are repeated later; on the last call of a
// deadline at once.
func (l *loop) isEscrowed(f *tracked, v *view, last bool) bool {
	escrow := l.escrowOf(v)
	if v.isBuyer() || f.escrowed == escrow {
		return true
	}
	pause := time.Until(f.verifyAt)
	if last {
		pause = 0
	}
	result := *resultOf(v.Snapshot, f.side)
	result.Price, result.Fee = v.SettledAmount, v.FeeOn(v.SettledAmount)
	l.verify(f, escrow, pause, func(err error) { l.escrowVerified(f, escrow, result, err) })
	return false
}

// escrowOf returns the agreed price to verify before delivery.
func (l *loop) escrowOf(v *view) haggle.Settlement {
	limits := l.config.Mints[v.TokenMint]
	return haggle.Settlement{
		Negotiation: v.Address, CreatedAt: v.CreatedAt, Seller: l.self, Mint: v.TokenMint, Price: v.SettledAmount,
		Agreed: true, FinalizedAbove: limits.FinalizedAbove, SingleSourceUpTo: limits.SingleSourceUpTo,
	}
}

// escrowVerified processes the outcome of an escrow's verification.
func (l *loop) escrowVerified(f *tracked, escrow haggle.Settlement, result Result, err error) {
	if l.stopping || l.tracked[f.address] != f {
		return
	}
	if err == nil {
		f.escrowed = escrow
		l.refresh(f)
		return
	}
	unverified := &UnverifiedError{Result: result, Err: err}
	l.config.Logger.Error("escrow not verified: not delivering", f.attributes("error", err)...)
	l.refuted(f, escrow, unverified) // the refresh of verify follows
}

// withdrawEscrow ends an escrow verification that no delivery waits for: a node showed an agreement unknown
// to another node.
func (l *loop) withdrawEscrow(f *tracked) {
	deal := dealID{f.address, f.created}
	if running := l.verifying[deal]; running != nil && running.settlement.Agreed {
		running.cancel()
		delete(l.verifying, deal)
	}
}
